// Counts texts with the npm package tiktoken. Arguments: the directory that holds node_modules, and the encoding.
//
// Standard input: texts, each as its length in bytes (4 bytes, big-endian) and its UTF-8. Standard output: a first line
// with the versions, then for each text one line: its tokens and the CPU time of counting it in microseconds.
import { readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";

const [directory, encoding] = process.argv.slice(2);
const require = createRequire(directory + "/");
const { get_encoding } = require("tiktoken");
const { version } = JSON.parse(readFileSync(directory + "/node_modules/tiktoken/package.json", "utf8"));
const tokens = get_encoding(encoding);

// read fills the buffer from standard input; false at its end.
function read(buffer) {
  for (let at = 0; at < buffer.length; ) {
    const n = readSync(0, buffer, at, buffer.length - at, null);
    if (n === 0) {
      if (at > 0) throw new Error("the input ends inside a text");
      return false;
    }
    at += n;
  }
  return true;
}

process.stdout.write(`npm tiktoken ${version}, Node ${process.versions.node}\n`);
const length = Buffer.alloc(4);
while (read(length)) {
  const bytes = Buffer.alloc(length.readUInt32BE());
  if (bytes.length > 0 && !read(bytes)) throw new Error("the input ends inside a text");
  const text = bytes.toString("utf8"); // keeps a byte order mark
  const before = process.cpuUsage();
  const count = tokens.encode_ordinary(text).length;
  const used = process.cpuUsage(before);
  process.stdout.write(`${count} ${used.user + used.system}\n`);
}
