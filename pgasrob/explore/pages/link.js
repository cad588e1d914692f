// Links: a program and a run behind `#p=`, as JSON, deflated and in base64 for addresses (`link.py` does the same).
const MARK = "#p=";

const MOST_JSON = 512 * 1024; // as `link.py` has it

async function through(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const found = [];
  for (let { done, value } = await reader.read(), size = 0; !done; { done, value } = await reader.read()) {
    size += value.length;
    if (size > MOST_JSON) throw new Error("too long");
    found.push(value);
  }
  return new Uint8Array(await new Blob(found).arrayBuffer());
}

async function toFragment(held) {
  const value = { text: held.text, language: held.language, nodes: held.nodes, run: held.run.join(",") };
  const packed = await through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return MARK + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function fromFragment(hash) {
  if (hash.length < 2) return null;
  if (!hash.startsWith(MARK)) throw new Error("of another version");
  const letters = atob(hash.slice(MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const value = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"))));
  if (typeof value.text !== "string" || !["pgas", "c"].includes(value.language) || typeof value.run !== "string") throw new Error("no program and run");
  return { text: value.text, language: value.language, nodes: value.nodes ?? null, run: value.run.split(",").filter(Boolean) };
}
