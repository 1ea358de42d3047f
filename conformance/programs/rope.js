// Answers `ropespec check --command 'node rope.js' --half`, in one file. The rotation is `rotate`; put
// your own in its place. The protocol is in README.md.
const { readSync, writeSync } = require("node:fs");

function read(size) {
  const bytes = Buffer.alloc(size);
  for (let done = 0; done < size; ) {
    const got = readSync(0, bytes, done, size - done, null);
    if (!got) process.exit(0);
    done += got;
  }
  return bytes;
}
function write(bytes) {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}
function reply(words, like, y = Buffer.alloc(0)) {
  const header = { __metadata__: words };
  if (like) header.y = { dtype: like.dtype, shape: like.shape, data_offsets: [0, y.length] };
  const text = Buffer.from(JSON.stringify(header));
  const sizes = Buffer.alloc(16);
  sizes.writeBigUInt64LE(BigInt(8 + text.length + y.length), 0);
  sizes.writeBigUInt64LE(BigInt(text.length), 8);
  write(Buffer.concat([sizes, text, y]));
}

const scratch = new DataView(new ArrayBuffer(4));
const toBits = (value) => (scratch.setFloat32(0, value), scratch.getUint32(0));
const fromBits = (bits) => (scratch.setUint32(0, bits), scratch.getFloat32(0));
function half(bits) {
  const exponent = (bits >> 10) & 31, part = bits & 1023, sign = bits >> 15 ? -1 : 1;
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + part) : 2 ** -24 * part);
}
function toHalf(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0, size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  const unit = 2 ** Math.max(Math.floor(Math.log2(size || 1)) - 10, -24);
  const down = Math.floor(size / unit), rest = size / unit - down;
  const near = unit * (down + (rest > 0.5 || (rest === 0.5 && down % 2) ? 1 : 0));
  if (near < 2 ** -14) return sign | (near / 2 ** -24);
  const exponent = Math.floor(Math.log2(near));
  return sign | ((exponent + 15) << 10) | (near / 2 ** (exponent - 10) - 1024);
}
function toBfloat16(value) {
  const bits = toBits(value);
  return (Number.isNaN(value) ? bits | 0x400000 : bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
const FORMS = {
  F64: [8, (b, at) => b.readDoubleLE(at), (b, at, v) => b.writeDoubleLE(v, at)],
  F32: [4, (b, at) => b.readFloatLE(at), (b, at, v) => b.writeFloatLE(v, at)],
  F16: [2, (b, at) => half(b.readUInt16LE(at)), (b, at, v) => b.writeUInt16LE(toHalf(v), at)],
  BF16: [
    2,
    (b, at) => fromBits(b.readUInt16LE(at) * 65536),
    (b, at, v) => b.writeUInt16LE(toBfloat16(v) & 0xffff, at),
  ],
  I64: [8, (b, at) => Number(b.readBigInt64LE(at))],
  I32: [4, (b, at) => b.readInt32LE(at)],
};

function rotate(header, data, { interleaved, base, rotary_dim }) {
  const [, , heads, size] = header.x.shape;
  const [width, get, put] = FORMS[header.x.dtype];
  const [step, position] = FORMS[header.positions.dtype];
  const x = data.subarray(...header.x.data_offsets), y = Buffer.from(x);
  const dim = rotary_dim ? Number(rotary_dim) : size, pairs = interleaved === "true";
  for (let row = 0; row * size * width < x.length; row++) {
    const m = position(data, header.positions.data_offsets[0] + Math.floor(row / heads) * step);
    for (let i = 0; i < dim / 2; i++) {
      const first = (row * size + (pairs ? 2 * i : i)) * width;
      const second = first + (pairs ? 1 : dim / 2) * width;
      const angle = m * Number(base) ** ((-2 * i) / dim), c = Math.cos(angle), s = Math.sin(angle);
      const a = get(x, first), b = get(x, second);
      put(y, first, a * c - b * s);
      put(y, second, a * s + b * c);
    }
  }
  return y;
}

for (;;) {
  const content = read(Number(read(8).readBigUInt64LE(0)));
  const start = 8 + Number(content.readBigUInt64LE(0));
  const header = JSON.parse(content.subarray(8, start)), data = content.subarray(start);
  const { sequence, call, ...words } = header.__metadata__;
  if (call === "describe") {
    const profile = JSON.stringify({ interleaved: [true, false] });
    const keywords = "interleaved base rotary_dim";
    reply({ sequence, protocol: "1", name: "rope.js", keywords, profile });
  } else if (call === "echo") {
    reply({ sequence }, header.x, data.subarray(...header.x.data_offsets));
  } else if (call === "rotate") {
    reply({ sequence }, header.x, rotate(header, data, words));
  } else {
    reply({ sequence, error: `cannot ${call}` });
  }
}
