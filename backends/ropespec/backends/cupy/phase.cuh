// cos and sin of an angle reduced exactly; compiled behind numbers.cuh.

namespace rope {

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

}  // namespace rope
