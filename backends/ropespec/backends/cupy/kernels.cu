// One kernel per dtype, layout and access, over a grid-stride loop; compiled behind rope.cuh.

#ifdef __CUDACC_RTC__
#define ROPE_BOUNDS __launch_bounds__(128)  // threads in a block
#else
#define ROPE_BOUNDS
#endif

#define ROPE_KERNEL(NAME, TYPE, INTERLEAVED, VECTOR)                                               \
  extern "C" __global__ void ROPE_BOUNDS NAME(                                                     \
      const char* x, char* out, const char* positions, const rope::u64* turns, const char* cos,    \
      const char* sin, long long kind, long long inverse, long long rows, long long heads,         \
      long long pairs, long long tail, long long groups, long long x_batch, long long x_row,       \
      long long x_head, long long x_component, long long o_batch, long long o_row,                 \
      long long o_head, long long o_component, long long a_batch, long long a_row,                 \
      long long batches) {                                                                         \
    const rope::Call call = {x,     out,   positions, turns,                                       \
                             cos,   sin,   kind,      inverse,                                     \
                             rows,  heads, pairs,     tail,                                        \
                             groups, {x_batch, x_row, x_head, x_component},                        \
                             {o_batch, o_row, o_head, o_component}, {a_batch, a_row, 0, 0}};       \
    const long long count =                                                                        \
        batches * rows * groups * rope::units<TYPE, INTERLEAVED, VECTOR>(call);                    \
    const long long step = (long long)gridDim.x * blockDim.x;                                      \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)     \
      rope::item<TYPE, INTERLEAVED, VECTOR>(call, i);                                              \
  }

#define ROPE_KERNELS(DTYPE, TYPE)                                   \
  ROPE_KERNEL(rope_interleaved_##DTYPE##_scalar, TYPE, true, false) \
  ROPE_KERNEL(rope_interleaved_##DTYPE##_vector, TYPE, true, true)  \
  ROPE_KERNEL(rope_half_##DTYPE##_scalar, TYPE, false, false)       \
  ROPE_KERNEL(rope_half_##DTYPE##_vector, TYPE, false, true)

ROPE_KERNELS(float16, rope::Half)
ROPE_KERNELS(bfloat16, rope::BFloat16)
ROPE_KERNELS(float32, float)
ROPE_KERNELS(float64, double)
