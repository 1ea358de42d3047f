// The arithmetic of apply_rotary, in C++ that NVRTC compiles for a GPU and any C++17 compiler for
// the host: no headers, no fused multiply-add (compile with --fmad=false or -ffp-contract=off), so
// that both sides give the same bits.

#ifdef __CUDACC_RTC__
#define ROPE_HD __device__ __forceinline__
#else
#define ROPE_HD inline
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

// ---- Storage: load widens exactly, store rounds once, to nearest with ties to even ----

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
    const u32 bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return {u16(bits >> 16 | 0x40u)};  // NaN stays NaN
    return {u16((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
  }
};

template <> struct Storage<Half> {
  using Work = float;
  static ROPE_HD float load(Half value) {
    const u32 sign = u32(value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x0400u) return float_of(sign | ((magnitude << 13) + 0x38000000u));
    return float_of(bits_of(float(magnitude) * 0x1p-24f) | sign);  // subnormal: exact product
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
};

// ---- Phase: (m * T) mod 2^64 in units of 2^-64 turn, exact (FREQ-9) ----

// Widen the integer at `at`; `kind` is its size in bytes, negative if it is signed.
ROPE_HD i64 load_position(const char* at, i64 kind) {
  switch (kind) {
    case -1: return *reinterpret_cast<const signed char*>(at);
    case -2: return *reinterpret_cast<const short*>(at);
    case -4: return *reinterpret_cast<const int*>(at);
    case 1: return *reinterpret_cast<const unsigned char*>(at);
    case 2: return *reinterpret_cast<const u16*>(at);
    case 4: return *reinterpret_cast<const u32*>(at);
    default: return *reinterpret_cast<const i64*>(at);
  }
}

// A reduced angle a * 2^SPLIT + b units is COARSE * a + (FINE * a + UNIT * b) radians, where
// COARSE has so few bits that COARSE * a is exact: 2 pi = 2^(64 - SPLIT) * (COARSE + FINE).
template <class R> struct Angle;

template <> struct Angle<float> {
  static constexpr int SPLIT = 49;
  static constexpr float COARSE = 0x1.92p-13f, FINE = 0x1.fb5444p-25f, UNIT = 0x1.921fb6p-62f;
};

template <> struct Angle<double> {
  static constexpr int SPLIT = 35;
  static constexpr double COARSE = 0x1.921fb4p-27, FINE = 0x1.4442d18469899p-51;
  static constexpr double UNIT = 0x1.921fb54442d18p-62;
};

// The series of sine and cosine (CPLX-5) in z = s^2, for abs(s) <= pi/4; the first term left out
// is below a tenth of the last place.
ROPE_HD float sine(float s, float z) {
  const float p = ((z * (1.0f / 362880) - 1.0f / 5040) * z + 1.0f / 120) * z - 1.0f / 6;
  return s + s * z * p;
}

ROPE_HD float cosine(float z) {
  const float p = (((z * (-1.0f / 3628800) + 1.0f / 40320) * z - 1.0f / 720) * z + 1.0f / 24) * z;
  return 1.0f - z * (0.5f - p);
}

ROPE_HD double sine(double s, double z) {
  double p = z * (1.0 / 355687428096000) - 1.0 / 1307674368000;
  p = ((p * z + 1.0 / 6227020800) * z - 1.0 / 39916800) * z + 1.0 / 362880;
  p = ((p * z - 1.0 / 5040) * z + 1.0 / 120) * z - 1.0 / 6;
  return s + s * z * p;
}

ROPE_HD double cosine(double z) {
  double p = z * (1.0 / 20922789888000) - 1.0 / 87178291200;
  p = ((p * z + 1.0 / 479001600) * z - 1.0 / 3628800) * z + 1.0 / 40320;
  p = ((p * z - 1.0 / 720) * z + 1.0 / 24) * z;
  return 1.0 - z * (0.5 - p);
}

// cos and sin of a phase in units of 2^-64 turn.
template <class R> ROPE_HD void cos_sin(u64 phase, R& cos, R& sin) {
  const u64 quarter = (phase + (1ull << 61)) >> 62;    // the nearest multiple of a quarter turn
  const i64 rest = i64(phase - (quarter << 62));       // within an eighth of a turn
  const i64 a = (rest + (1ll << (Angle<R>::SPLIT - 1))) >> Angle<R>::SPLIT;
  const i64 b = rest - (a << Angle<R>::SPLIT);
  const R angle = Angle<R>::COARSE * R(a) + (Angle<R>::FINE * R(a) + Angle<R>::UNIT * R(b));
  const R z = angle * angle, s = sine(angle, z), c = cosine(z);
  cos = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
  sin = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
}

// ---- The operation ----

// x is (batch, rows, heads, dim) with strides in bytes, out the same, contiguous; positions are
// (batch, rows) with strides in bytes; turns holds T_i for i < pairs.
struct Call {
  const char* x;
  char* out;
  const char* positions;
  const u64* turns;
  i64 kind, rows, heads, dim, pairs;
  i64 x_batch, x_row, x_head, x_component, p_batch, p_row;
};

// Work item `index`: one pair of one head of one token, or one component of its tail.
template <class T, bool INTERLEAVED> ROPE_HD void item(const Call& call, i64 index) {
  using S = Storage<T>;
  using R = typename S::Work;
  const i64 items = call.dim - call.pairs;
  const i64 unit = index % items, vector = index / items;
  const i64 head = vector % call.heads, token = vector / call.heads;
  const i64 row = token % call.rows, batch = token / call.rows;
  const char* x = call.x + batch * call.x_batch + row * call.x_row + head * call.x_head;
  T* out = reinterpret_cast<T*>(call.out) + vector * call.dim;
  if (unit >= call.pairs) {  // the tail passes through bit for bit (ROT-14)
    const i64 i = unit + call.pairs;
    out[i] = *reinterpret_cast<const T*>(x + i * call.x_component);
    return;
  }
  const i64 first = INTERLEAVED ? 2 * unit : unit;
  const i64 second = INTERLEAVED ? first + 1 : unit + call.pairs;
  const i64 m = load_position(
      call.positions + batch * call.p_batch + row * call.p_row, call.kind);
  R cos, sin;
  cos_sin<R>(u64(m) * call.turns[unit], cos, sin);
  const R x1 = S::load(*reinterpret_cast<const T*>(x + first * call.x_component));
  const R x2 = S::load(*reinterpret_cast<const T*>(x + second * call.x_component));
  out[first] = S::store(x1 * cos - x2 * sin);
  out[second] = S::store(x2 * cos + x1 * sin);
}

}  // namespace rope
