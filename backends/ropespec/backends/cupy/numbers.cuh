// Numbers and how they are stored. This and the files compiled behind it, phase.cuh and rope.cuh,
// are C++ that NVRTC compiles for a GPU and any C++17 compiler for the host: no headers, no fused
// multiply-add (compile with --fmad=false or -ffp-contract=off), so that both give the same bits.

#ifdef __CUDACC_RTC__
#define ROPE_HD __device__ __forceinline__
#define ROPE_UNROLL _Pragma("unroll")
#define ROPE_CONVERTS_BFLOAT16 (__CUDA_ARCH__ >= 800)
#else
#define ROPE_HD inline
#define ROPE_UNROLL
#define ROPE_CONVERTS_BFLOAT16 0
#endif

namespace rope {

using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned int;
using u16 = unsigned short;

static_assert(sizeof(i64) == 8 && sizeof(u32) == 4 && sizeof(u16) == 2, "widths");

ROPE_HD u32 bits_of(float value) {
#ifdef __CUDACC_RTC__
  return __float_as_uint(value);
#else
  u32 bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

ROPE_HD float float_of(u32 bits) {
#ifdef __CUDACC_RTC__
  return __uint_as_float(bits);
#else
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

ROPE_HD u64 bits_of(double value) {
#ifdef __CUDACC_RTC__
  return u64(__double_as_longlong(value));
#else
  u64 bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

ROPE_HD double double_of(u64 bits) {
#ifdef __CUDACC_RTC__
  return __longlong_as_double(i64(bits));
#else
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

// ---- Storage: load widens exactly, store rounds once, to nearest with ties to even ----
//
// A GPU has instructions for it, which give the bits of the host for all but the payload of a NaN;
// in integers the same takes several times as long as the rotation itself.

struct Half { u16 bits; };
struct BFloat16 { u16 bits; };

template <class T> struct Storage {  // float and double: computed in themselves
  using Work = T;
  static ROPE_HD T load(T value) { return value; }
  static ROPE_HD T store(T value) { return value; }
};

template <> struct Storage<BFloat16> {
  using Work = float;
  static ROPE_HD float load(BFloat16 value) { return float_of(u32(value.bits) << 16); }
  static ROPE_HD BFloat16 store(float value) {
#if ROPE_CONVERTS_BFLOAT16
    u16 rounded;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
    return {rounded};
#else
    const u32 bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {u16(bits >> 16 | 0x40u)};  // NaN stays NaN
    return {u16((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
#endif
  }
};

template <> struct Storage<Half> {
  using Work = float;
#ifdef __CUDACC_RTC__
  static ROPE_HD float load(Half value) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
  }
  static ROPE_HD Half store(float value) {
    u16 rounded;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(value));
    return {rounded};
  }
#else
  static ROPE_HD float load(Half value) {
    const u32 sign = u32(value.bits & 0x8000u) << 16, magnitude = (value.bits & 0x7fffu) << 13;
    // The exponents differ by 112; the product is exact, for subnormals too.
    const u32 finite = bits_of(float_of(magnitude) * 0x1p112f);
    return float_of(sign | (magnitude < 0x0f800000u ? finite : magnitude | 0x7f800000u));
  }
  static ROPE_HD Half store(float value) {
    const u32 bits = bits_of(value), magnitude = bits & 0x7fffffffu;
    const u16 sign = u16(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return {u16(sign | 0x7e00u)};
    if (magnitude >= 0x477ff000u) return {u16(sign | 0x7c00u)};  // 65520 and above: infinity
    if (magnitude < 0x38800000u) {
      // Below 2^-14 the spacing is 2^-24, that of float in [0.5, 1): the sum rounds to it.
      return {u16(sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u))};
    }
    return {u16(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13)};
  }
#endif
};

}  // namespace rope
