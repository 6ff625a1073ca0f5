// Writes golden_counts.json to standard output: seeded texts with the counts of npm tiktoken 1.0.22. See README.md.
import { createRequire } from "node:module";

const require = createRequire(process.env.NODE_PATH + "/");
const { get_encoding } = require("tiktoken");
const o200k = get_encoding("o200k_base");
const cl100k = get_encoding("cl100k_base");

// A small seeded generator (a 32-bit xorshift), so that the file can be reproduced.
let state = 20261130;
function below(n) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
}
const pick = (list) => list[below(list.length)];

const cases = [];
function add(text, times = 1) {
  const whole = text.repeat(times);
  const entry = { text, o200k: o200k.encode_ordinary(whole).length, cl100k: cl100k.encode_ordinary(whole).length };
  if (times > 1) entry.times = times;
  cases.push(entry);
}

// Prose, code and data in several scripts.
const samples = [
  "The harbour master wrote down every boat that came in before the storm, and didn't sleep until dawn.",
  "I'VE can't WE'LL she'd they're it's I'M O'Brien 'tis rock'n'roll 's 'ſ 'S 'RE",
  "func main() {\n\tfmt.Println(\"hello, world\")\n\tfor i := 0; i < 10; i++ {\n\t\tdefer wg.Done()\n\t}\n}\n",
  "SELECT id, name FROM harbour WHERE tide > 3.25 AND pier IN (1, 22, 333, 4444);",
  '{"id":"a1b2c3","values":[1,22,333,4444,55555,3.14159,-2.5e10],"ok":true,"none":null}',
  "https://example.org/a/b/c?x=1&y=%20z#frag/ment//end\n/\n//\r\n/x",
  "camelCaseWord HTTPServer XMLHttpRequest snake_case_word SCREAMING_SNAKE kebab-case-word v1.2.3-rc4",
  "潮汐表显示，今天的高水位是三点二米。请在下午五点之前离开码头！",
  "漢字仮名交じり文とカタカナ、ひらがなの混ざった文章です。",
  "조수 간만의 차가 오늘은 매우 큽니다.",
  "Прилив сегодня выше обычного на тридцать сантиметров.",
  "المد اليوم أعلى من المعتاد بثلاثين سنتيمترا",
  "Thủy triều hôm nay cao hơn bình thường ba mươi xăng-ti-mét.",
  "L'été, à Orléans, où les élèves fêtent Noël: ça coûte 1 234,56 €.",
  "ज्वार आज सामान्य से ऊँचा है। ๒๓๔ น้ำขึ้นสูง",
  "👩‍👩‍👧‍👦 🚢🌊 ⚓️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 1️⃣2️⃣",
  "<|endoftext|> <|im_start|>user<|im_end|> <|fim_prefix|>",
  "e\u0301a\u0300 \u0301abc \u0301ABC (\u0301 ((\u0301 A\u0301B\u0301C\u0301",
  "ǅUNGLA ǅungla ʰʰABC ªº ABC漢DEF 漢ABC漢abc",
  "\u0085x\u00a0y\u2003z\u3000\u200b\ufeff\u180e\u2028w\u2029",
  "①②③ ½¼ ٣٤٥٦ 1234567890 Ⅷ 12a34",
  "line\n \nline\n\n\n  indented\r\n\t\ttabs   \n   ",
  "AAAAaaaa aAaAaA ZZZz zzzZ",
  "0x7f \u007f\u0001\u0000\u001b[31m",
  "$$$___...,,,;;;!!!???///\\\\\\|||",
];
for (const s of samples) {
  add(s);
  for (let i = 1; i < s.length; i += 7) add([...s].slice(i).join(""));
}

// Random strings over small alphabets that sit at the joints of the split patterns.
const alphabets = [
  [" ", "\n", "\t", "\r", "a"],
  ["'", "s", "S", "ſ", "/", "1", "é", "漢", "\u0301", " "],
  ["A", "b", "ǅ", "ʰ", "ª", "漢", "\u0301", "'", "l", "L"],
  [" ", "\u0085", "\u00a0", "\u3000", "\ufeff", "\u200b", "\n", "x", "."],
  ["0", "9", "½", "٣", "Ⅷ", "a", " "],
  ["!", "/", "\n", "\r", " ", "_", "#", "x"],
  ["д", "Д", "é", "É", "ا", "ก", "한", "a", "A", " "],
  [..."abcdefghijklmnopqrstuvwxyz"],
  [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="],
  [..."的一是不了人我在有他这中大来上国个到说们"],
];
for (let i = 0; i < 1500; i++) {
  const alphabet = pick(alphabets);
  let s = "";
  for (let n = 1 + below(40); n > 0; n--) s += pick(alphabet);
  add(s);
}

// Any character at all, surrogates excepted.
for (let i = 0; i < 300; i++) {
  let s = "";
  for (let n = 1 + below(12); n > 0; n--) {
    let c = below(4) === 0 ? below(0x110000) : below(0x3000);
    if (c >= 0xd800 && c < 0xe000) c = 0x20;
    s += String.fromCodePoint(c);
  }
  add(s);
}

// Long runs: one piece each.
for (const s of ["a", " ", "\n", "\t", "漢", "^", "_", "0", "ab", "é", "=", "(", "A", "\r\n", " \n", "                                        \n", "🚢", "的一是"]) {
  for (const times of [63, 64, 65, 129, 1000, 3001]) add(s, times);
}

process.stdout.write("[\n" + cases.map((c) => JSON.stringify(c)).join(",\n") + "\n]\n");
