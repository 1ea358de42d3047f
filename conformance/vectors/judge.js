// node judge.js FILE.safetensors [CLASS]: rotates x, and counts what is outside the interval of a
// precision class. Put your own function in the place of `rotate`.
const { readFileSync } = require("node:fs");
const [path, name = "float64-angles"] = process.argv.slice(2);
const file = readFileSync(path);
const length = Number(file.readBigUInt64LE(0));
const header = JSON.parse(file.subarray(8, 8 + length));

const bits = new DataView(new ArrayBuffer(4));
const fromBits = (word) => (bits.setUint32(0, word), bits.getFloat32(0));
function half(h) {
  const exponent = (h >> 10) & 31, part = h & 1023, sign = h >> 15 ? -1 : 1;
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + part) : 2 ** -24 * part);
}
const READ = {
  F64: [8, (at) => file.readDoubleLE(at)],
  I64: [8, (at) => Number(file.readBigInt64LE(at))],
  F32: [4, (at) => file.readFloatLE(at)],
  BF16: [2, (at) => fromBits(file.readUInt16LE(at) * 65536)],
  F16: [2, (at) => half(file.readUInt16LE(at))],
};
function tensor(key) {
  const { dtype, data_offsets: [start, stop] } = header[key];
  const [size, read] = READ[dtype];
  return Array.from({ length: (stop - start) / size }, (_, i) => read(8 + length + start + i * size));
}
// To nearest, ties to even, for numbers of usual size and smaller: p bits, and no unit below least.
const FORMS = { F32: [24, -149], BF16: [8, -133], F16: [11, -24] };
function rounded(y) {
  const [p, least] = FORMS[header.x.dtype];
  const unit = 2 ** Math.max(Math.floor(Math.log2(Math.abs(y) || 1)) + 1 - p, least);
  const whole = Math.floor(y / unit), rest = y / unit - whole;
  return unit * (rest > 0.5 || (rest === 0.5 && whole % 2) ? whole + 1 : whole);
}
function rotate(y, m, first, second, theta, gain) {
  const a = y[first], b = y[second], c = gain * Math.cos(m * theta), s = gain * Math.sin(m * theta);
  y[first] = a * c - b * s;
  y[second] = a * s + b * c;
}

const [x, low, high] = [tensor("x"), tensor(`low.${name}`), tensor(`high.${name}`)];
const [positions, first, second, axis, theta, [gain]] =
  ["positions", "first", "second", "axis", "theta", "gain"].map(tensor);
const [, seq, heads, size] = header.x.shape;
let outside = 0;
for (let row = 0; row < seq * heads; row++) {
  const y = x.slice(row * size, (row + 1) * size);
  const own = positions.slice(Math.floor(row / heads) * (positions.length / seq));
  first.forEach((_, i) => rotate(y, own[axis[i]], first[i], second[i], theta[i], gain));
  y.map(rounded).forEach((got, i) => {
    outside += !(got >= low[row * size + i] && got <= high[row * size + i]);
  });
}
console.log(`${outside} of ${x.length} outside`);
process.exit(outside ? 1 : 0);
