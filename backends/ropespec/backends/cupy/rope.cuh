// Access to x and the operation itself; compiled behind phase.cuh.

namespace rope {

// ---- Access: the pairs of a unit, in words of 16 bytes where all of x and out is aligned ----

struct alignas(16) Word {
  u32 part[4];
};

template <class T> struct Lanes {  // 2 to a part for the half formats
  static constexpr int COUNT = 8;
  static ROPE_HD T get(const Word& word, int i) {
    return {u16(word.part[i / 2] >> (i % 2 * 16))};
  }
  static ROPE_HD void put(Word& word, int i, T value) {
    const int shift = i % 2 * 16;
    word.part[i / 2] = (word.part[i / 2] & ~(0xffffu << shift)) | u32(value.bits) << shift;
  }
};

template <> struct Lanes<float> {
  static constexpr int COUNT = 4;
  static ROPE_HD float get(const Word& word, int i) { return float_of(word.part[i]); }
  static ROPE_HD void put(Word& word, int i, float value) { word.part[i] = bits_of(value); }
};

template <> struct Lanes<double> {
  static constexpr int COUNT = 2;
  static ROPE_HD double get(const Word& word, int i) {
    return double_of(u64(word.part[2 * i + 1]) << 32 | word.part[2 * i]);
  }
  static ROPE_HD void put(Word& word, int i, double value) {
    const u64 bits = bits_of(value);
    word.part[2 * i] = u32(bits);
    word.part[2 * i + 1] = u32(bits >> 32);
  }
};

ROPE_HD Word load_word(const char* at) { return *reinterpret_cast<const Word*>(at); }
ROPE_HD void store_word(char* at, const Word& word) { *reinterpret_cast<Word*>(at) = word; }

// What one thread holds of one head: PAIRS pairs, from pair `pair` on.
template <class T, bool INTERLEAVED, bool VECTOR> struct Unit;

template <class T> struct Unit<T, true, true> {
  static constexpr int PAIRS = Lanes<T>::COUNT / 2;
  Word word;
  ROPE_HD void load(const char* x, i64 pair, i64, i64) { word = load_word(x + 2 * pair * sizeof(T)); }
  ROPE_HD void store(char* out, i64 pair, i64, i64) const {
    store_word(out + 2 * pair * sizeof(T), word);
  }
  ROPE_HD T first(int k) const { return Lanes<T>::get(word, 2 * k); }
  ROPE_HD T second(int k) const { return Lanes<T>::get(word, 2 * k + 1); }
  ROPE_HD void set(int k, T first, T second) {
    Lanes<T>::put(word, 2 * k, first);
    Lanes<T>::put(word, 2 * k + 1, second);
  }
};

template <class T> struct Unit<T, false, true> {
  static constexpr int PAIRS = Lanes<T>::COUNT;
  Word low, high;
  ROPE_HD void load(const char* x, i64 pair, i64 pairs, i64) {
    low = load_word(x + pair * sizeof(T));
    high = load_word(x + (pair + pairs) * sizeof(T));
  }
  ROPE_HD void store(char* out, i64 pair, i64 pairs, i64) const {
    store_word(out + pair * sizeof(T), low);
    store_word(out + (pair + pairs) * sizeof(T), high);
  }
  ROPE_HD T first(int k) const { return Lanes<T>::get(low, k); }
  ROPE_HD T second(int k) const { return Lanes<T>::get(high, k); }
  ROPE_HD void set(int k, T first, T second) {
    Lanes<T>::put(low, k, first);
    Lanes<T>::put(high, k, second);
  }
};

template <class T, bool INTERLEAVED> struct Unit<T, INTERLEAVED, false> {
  static constexpr int PAIRS = 1;
  T one, other;
  static ROPE_HD i64 place(i64 pair) { return INTERLEAVED ? 2 * pair : pair; }
  static ROPE_HD i64 apart(i64 pairs) { return INTERLEAVED ? 1 : pairs; }
  ROPE_HD void load(const char* x, i64 pair, i64 pairs, i64 stride) {
    one = *reinterpret_cast<const T*>(x + place(pair) * stride);
    other = *reinterpret_cast<const T*>(x + (place(pair) + apart(pairs)) * stride);
  }
  ROPE_HD void store(char* out, i64 pair, i64 pairs, i64 stride) const {
    *reinterpret_cast<T*>(out + place(pair) * stride) = one;
    *reinterpret_cast<T*>(out + (place(pair) + apart(pairs)) * stride) = other;
  }
  ROPE_HD T first(int) const { return one; }
  ROPE_HD T second(int) const { return other; }
  ROPE_HD void set(int, T first, T second) { one = first, other = second; }
};

// ---- The operation ----

// Strides in bytes of an array (batch, rows, heads, dim).
struct Strides {
  i64 batch, row, head, component;
};

// `kind` is that of the positions, or 0 where cos and sin are given as tables of (batch, rows,
// pairs) in the type of the arithmetic; `angle` has their strides, or those of the positions.
// Of dim components 2 pairs turn and the last `tail` are copied; `groups` threads share the heads.
struct Call {
  const char* x;
  char* out;
  const char* positions;
  const u64* turns;
  const char* cos;
  const char* sin;
  i64 kind, inverse, rows, heads, pairs, tail, groups;
  Strides from, to, angle;
};

// Split off the remainder by n; 32-bit division is several times as fast on a GPU.
ROPE_HD i64 split(i64& index, i64 n) {
  i64 rest;
  if ((u64(index) | u64(n)) >> 32) {
    rest = index % n, index /= n;
  } else {
    rest = u32(index) % u32(n), index = u32(index) / u32(n);
  }
  return rest;
}

template <class T, bool INTERLEAVED, bool VECTOR> ROPE_HD i64 units(const Call& call) {
  return call.pairs / Unit<T, INTERLEAVED, VECTOR>::PAIRS +
         call.tail / (VECTOR ? Lanes<T>::COUNT : 1);
}

// The tail passes through bit for bit (ROT-14).
template <class T, bool VECTOR>
ROPE_HD void copy(const Call& call, const char* x, char* out, i64 group, i64 unit) {
  const i64 i = 2 * call.pairs + unit * (VECTOR ? Lanes<T>::COUNT : 1);
  x += i * call.from.component, out += i * call.to.component;
  for (i64 head = group; head < call.heads; head += call.groups) {
    const char* at = x + head * call.from.head;
    char* to = out + head * call.to.head;
    if (VECTOR) {
      store_word(to, load_word(at));
    } else {
      *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(at);
    }
  }
}

// Work item `index`: a unit of pairs of one token, or of its tail, in every `groups`-th head.
template <class T, bool INTERLEAVED, bool VECTOR> ROPE_HD void item(const Call& call, i64 index) {
  using S = Storage<T>;
  using R = typename S::Work;
  using U = Unit<T, INTERLEAVED, VECTOR>;
  constexpr int AT_ONCE = !VECTOR ? 1 : INTERLEAVED ? 4 : 2;  // heads: 4 loads before a store
  const i64 unit = split(index, units<T, INTERLEAVED, VECTOR>(call));
  const i64 group = split(index, call.groups), row = split(index, call.rows), batch = index;
  const char* x = call.x + batch * call.from.batch + row * call.from.row;
  char* out = call.out + batch * call.to.batch + row * call.to.row;
  const i64 pair = unit * U::PAIRS;
  if (pair >= call.pairs) {
    copy<T, VECTOR>(call, x, out, group, unit - call.pairs / U::PAIRS);
    return;
  }
  R cos[U::PAIRS], sin[U::PAIRS];
  const i64 angle = batch * call.angle.batch + row * call.angle.row;
  const u64 m = call.kind ? u64(load_position(call.positions + angle, call.kind)) : 0;
  ROPE_UNROLL
  for (int k = 0; k < U::PAIRS; k++) {
    if (call.kind) {
      cos_sin<R>(m * call.turns[pair + k], cos[k], sin[k]);
    } else {
      const i64 at = angle + (pair + k) * i64(sizeof(R));
      cos[k] = *reinterpret_cast<const R*>(call.cos + at);
      sin[k] = *reinterpret_cast<const R*>(call.sin + at);
    }
    if (call.inverse) sin[k] = -sin[k];  // the gradient turns back (ROT-20)
  }
  for (i64 head = group; head < call.heads; head += AT_ONCE * call.groups) {
    U held[AT_ONCE];
    ROPE_UNROLL
    for (int n = 0; n < AT_ONCE; n++) {
      const i64 h = head + n * call.groups;
      if (h < call.heads) {
        held[n].load(x + h * call.from.head, pair, call.pairs, call.from.component);
      }
    }
    ROPE_UNROLL
    for (int n = 0; n < AT_ONCE; n++) {
      const i64 h = head + n * call.groups;
      if (h >= call.heads) break;
      ROPE_UNROLL
      for (int k = 0; k < U::PAIRS; k++) {
        const R x1 = S::load(held[n].first(k)), x2 = S::load(held[n].second(k));
        held[n].set(k, S::store(x1 * cos[k] - x2 * sin[k]), S::store(x2 * cos[k] + x1 * sin[k]));
      }
      held[n].store(out + h * call.to.head, pair, call.pairs, call.to.component);
    }
  }
}

}  // namespace rope
