// Enough of AMF0 to be a client: packets with calls go out, packets with answers come back.
// Numbers are big-endian doubles, lengths are 16 or 32 bits, and every value starts with a byte that says its kind.

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8");

class Writer {
  bytes = [];

  u8(n) { this.bytes.push(n & 255); }
  u16(n) { this.u8(n >> 8); this.u8(n); }
  u32(n) { this.u16(n >>> 16); this.u16(n & 65535); }

  double(n) {
    const eight = new DataView(new ArrayBuffer(8));
    eight.setFloat64(0, n);
    for (let i = 0; i < 8; i++) this.u8(eight.getUint8(i));
  }

  shortText(value) {
    const encoded = utf8.encode(value);
    if (encoded.length > 65535) throw new RangeError("a name of more than 65535 bytes");
    this.u16(encoded.length);
    for (const byte of encoded) this.u8(byte);
  }

  longText(value) {
    const encoded = utf8.encode(value);
    this.u32(encoded.length);
    for (const byte of encoded) this.u8(byte);
  }

  members(object) {
    for (const [key, value] of Object.entries(object)) {
      this.shortText(key);
      this.value(value);
    }
    this.u16(0);
    this.u8(0x09);
  }

  value(value) {
    if (value === null) this.u8(0x05);
    else if (value === undefined) this.u8(0x06);
    else if (typeof value === "boolean") { this.u8(0x01); this.u8(value ? 1 : 0); }
    else if (typeof value === "number") { this.u8(0x00); this.double(value); }
    else if (typeof value === "string" && utf8.encode(value).length <= 65535) { this.u8(0x02); this.shortText(value); }
    else if (typeof value === "string") { this.u8(0x0c); this.longText(value); }
    else if (value instanceof Date) { this.u8(0x0b); this.double(value.getTime()); this.u16(0); }
    else if (Array.isArray(value)) { this.u8(0x0a); this.u32(value.length); value.forEach((item) => this.value(item)); }
    else if (typeof value === "object") { this.u8(0x03); this.members(value); }
    else throw new TypeError(`AMF0 has no form for a ${typeof value}`);
  }
}

class Reader {
  constructor(bytes) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.slots = []; // what a reference (07) can name: arrays and objects, in the order in which they began
  }

  u8() { return this.view.getUint8(this.at++); }
  u16() { this.at += 2; return this.view.getUint16(this.at - 2); }
  u32() { this.at += 4; return this.view.getUint32(this.at - 4); }
  double() { this.at += 8; return this.view.getFloat64(this.at - 8); }

  text(length) {
    this.at += length;
    return text.decode(new Uint8Array(this.view.buffer, this.view.byteOffset + this.at - length, length));
  }

  members(object) {
    this.slots.push(object);
    for (;;) {
      const key = this.text(this.u16());
      if (key === "" && this.view.getUint8(this.at) === 0x09) {
        this.at++;
        return object;
      }
      object[key] = this.value();
    }
  }

  list(length) {
    const items = [];
    this.slots.push(items);
    while (items.length < length) items.push(this.value());
    return items;
  }

  value() {
    const marker = this.u8();
    switch (marker) {
      case 0x00: return this.double();
      case 0x01: return this.u8() !== 0;
      case 0x02: return this.text(this.u16());
      case 0x03: return this.members({});
      case 0x05: return null;
      case 0x06: return undefined;
      case 0x07: return this.slots[this.u16()];
      case 0x08: this.u32(); return this.members({});
      case 0x0a: return this.list(this.u32());
      case 0x0b: { const when = new Date(this.double()); this.u16(); return when; }
      case 0x0c: case 0x0f: return this.text(this.u32());
      case 0x10: { const alias = this.text(this.u16()); return this.members({ "(class)": alias }); }
      default: throw new Error(`marker ${marker.toString(16)} at ${this.at - 1} is not read by this page`);
    }
  }
}

// One call in one packet.  `response` is where the answer is to go: the reply's target starts with it.
export function encodeCall(target, args, response = "/1") {
  const body = new Writer();
  body.value(args);
  const packet = new Writer();
  packet.u16(0); // version: AMF0
  packet.u16(0); // no headers
  packet.u16(1); // one body
  packet.shortText(target);
  packet.shortText(response);
  packet.u32(body.bytes.length);
  return new Uint8Array([...packet.bytes, ...body.bytes]);
}

export function decodePacket(bytes) {
  const reader = new Reader(bytes);
  const version = reader.u16();
  for (let headers = reader.u16(); headers > 0; headers--) {
    reader.text(reader.u16());
    reader.u8();
    reader.u32();
    reader.value();
  }
  const bodies = [];
  for (let count = reader.u16(); count > 0; count--) {
    const target = reader.text(reader.u16());
    const response = reader.text(reader.u16());
    reader.u32();
    reader.slots = []; // references count within one body
    bodies.push({ target, response, value: reader.value() });
  }
  return { version, bodies };
}

// Calls a service; gives what was sent, what came back, and what it means.
export async function call(url, target, args) {
  const request = encodeCall(target, args);
  const started = performance.now();
  const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/x-amf" }, body: request });
  const reply = new Uint8Array(await answer.arrayBuffer());
  const milliseconds = performance.now() - started;
  if (!answer.ok) throw new Error(`HTTP ${answer.status}: ${text.decode(reply)}`);
  return { request, reply, milliseconds, ...decodePacket(reply).bodies[0] };
}

// Sixteen bytes a line: offset, hexadecimal, and the characters that can be shown.
export function hexDump(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const shown = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${hex.padEnd(47)}  ${shown}`);
  }
  return lines.join("\n");
}
