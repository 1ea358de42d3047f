// One kernel per dtype and layout, over a grid-stride loop; compiled behind rope.cuh.

#define ROPE_KERNEL(NAME, TYPE, INTERLEAVED)                                                      \
  extern "C" __global__ void NAME(                                                                \
      const char* x, char* out, const char* positions, const rope::u64* turns, long long kind,    \
      long long rows, long long heads, long long dim, long long pairs, long long x_batch,         \
      long long x_row, long long x_head, long long x_component, long long p_batch,                \
      long long p_row, long long count) {                                                         \
    const rope::Call call = {x,     out,     positions, turns,  kind,        rows,    heads, dim, \
                             pairs, x_batch, x_row,     x_head, x_component, p_batch, p_row};     \
    const long long step = (long long)gridDim.x * blockDim.x;                                     \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)    \
      rope::item<TYPE, INTERLEAVED>(call, i);                                                     \
  }

ROPE_KERNEL(rope_interleaved_float16, rope::Half, true)
ROPE_KERNEL(rope_interleaved_bfloat16, rope::BFloat16, true)
ROPE_KERNEL(rope_interleaved_float32, float, true)
ROPE_KERNEL(rope_interleaved_float64, double, true)
ROPE_KERNEL(rope_half_float16, rope::Half, false)
ROPE_KERNEL(rope_half_bfloat16, rope::BFloat16, false)
ROPE_KERNEL(rope_half_float32, float, false)
ROPE_KERNEL(rope_half_float64, double, false)
