// node bytearray_node.cjs: reads one JSON array of ["read", encoding, hex] and ["write", encoding, name] from its input,
// does each with bytearray-node, and prints a JSON array of the outcomes: what was read, described as in
// ../clients/test_ruffle.py, the hex of what was written, or {"error": message}.
const ByteArray = require("bytearray-node");

const row = { n: 1 };
const ring = { n: 1 };
ring.self = ring;
const VALUES = {
  null: null,
  undefined: undefined,
  true: true,
  int: 5,
  negative: -1,
  beyond29: 268435456,
  double: 1.5,
  text: "grüße ✓ 🎈",
  "text twice": ["ab", "ab"],
  list: [1, "x", [2]],
  object: { z: 1, a: { b: 2 } },
  associative: Object.assign([1, 2], { k: "v" }),
  date: new Date(1e12),
  twice: [row, row],
  ring,
  uints: new Uint32Array([7, 4294967295]),
  doubles: new Float64Array([0.5]),
  ints: new Int32Array([-2]),
  map: new Map([["a", 1]]),
  "list with null": [1, null],
};

function describe(value, seen = []) {
  if (value === undefined) return { undefined: true };
  if (value === null || typeof value !== "object") return value;
  if (value instanceof Date) return { Date: value.getTime() };
  if (seen.includes(value)) return { seen: seen.indexOf(value) };
  seen.push(value);
  const inner = (items) => Array.from(items, (item) => describe(item, seen));
  if (ArrayBuffer.isView(value)) return { [value.constructor.name]: inner(value) };
  if (value instanceof Map) return { Map: inner([...value]) };
  if (value instanceof Set) return { Set: inner(value) };
  if (Array.isArray(value) && Object.keys(value).length === value.length) return inner(value);
  if (value.constructor.name === "Stream") return { ByteArray: Buffer.from(value.data).toString("hex") };
  const members = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, describe(item, seen)]));
  return Array.isArray(value) ? { Array: members, length: value.length } : members;
}

function attempt([action, encoding, what]) {
  const bytes = new ByteArray(action === "read" ? Buffer.from(what, "hex") : undefined);
  bytes.objectEncoding = encoding;
  try {
    if (action === "read") return describe(bytes.readObject());
    bytes.writeObject(VALUES[what]);
    return bytes.buffer.toString("hex");
  } catch (error) {
    return { error: error.message };
  }
}

const requests = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(requests.map(attempt)));
