// node smoke.mjs docvalues_wasm.wasm SEGMENT DOCUMENTS.jsonl
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [program, segment, documents] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(program), {});
const { memory, buffer, sum, below, greatest } = instance.exports;
const bytes = readFileSync(segment);
const at = buffer(bytes.length); // may replace memory.buffer
new Uint8Array(memory.buffer, at, bytes.length).set(bytes);

const lines = readFileSync(documents, "utf8").trim().split("\n").map((document) => BigInt(JSON.parse(document).line));
assert(lines.length > 100);
assert.equal(sum(), lines.reduce((a, b) => a + b));
assert.equal(below(100_000n), BigInt(lines.filter((line) => line < 100_000n).length));
assert.equal(greatest(100_000n), lines.filter((line) => line < 100_000n).reduce((a, b) => (a > b ? a : b)));
console.log(`${lines.length} documents were read in WebAssembly`);
