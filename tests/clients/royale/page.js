// In the head of the compiled application's page: keeps what Calls.as reports where ../run.mjs finds it, values as
// ../test_ruffle.py describes them.
var gateway = "/amf";
var give = new URLSearchParams(location.search).get("give")?.split(",");
var reports = {};
var running = 1;

function report(name, outcome, value) {
  reports[name] = { [outcome]: describe(value, []) };
}

function done() {
  running = 0;
}

function describe(value, seen) {
  if (value === undefined || typeof value === "function") return { undefined: true };
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0)))
    return { Number: Object.is(value, -0) ? "-0" : String(value) };
  if (value === null || typeof value !== "object") return value;
  if (seen.includes(value)) return { seen: seen.indexOf(value) };
  seen.push(value);
  if (value instanceof Date) return { Date: value.getTime() };
  const info = value.ROYALE_CLASS_INFO;
  const type = info ? info.names[0].qName : "";
  if (type === "XML") return { XML: value.toXMLString() };
  if (type.endsWith("BinaryData")) {
    value.position = 0;
    return { ByteArray: Array.from({ length: value.length }, () => hex(value.readUnsignedByte())).join("") };
  }
  if (Array.isArray(value)) {
    const keys = Object.keys(value);
    if (keys.length === value.length && keys.every((key, index) => key === String(index)))
      return Array.from(value, (item) => describe(item, seen));
    return { Array: members(value, seen), length: value.length };
  }
  if (type.startsWith("mx.collections.Array")) return { [info.names[0].name]: describe(value.source, seen) };
  return type ? { class: type, ...declared(value, seen) } : members(value, seen);
}

// What the class declares: an object that can be bound has members of its own that are nobody's business.
function declared(value, seen) {
  const { variables, accessors } = value.ROYALE_REFLECTION_INFO();
  const names = Object.keys({ ...variables?.(), ...accessors?.() });
  return Object.fromEntries(names.map((key) => [key, describe(value[key], seen)]));
}

function members(value, seen) {
  return Object.fromEntries(Object.keys(value).map((key) => [key, describe(value[key], seen)]));
}

function hex(byte) {
  return byte.toString(16).padStart(2, "0");
}
