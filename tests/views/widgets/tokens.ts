// Cuts the texts of a JSON file, pairs of text and language, into tokens, and prints them: read by test_grammar.py.

import { readFileSync } from "node:fs";
import { tokenize } from "../../../views/widgets/shared/grammar";

type Named = readonly [text: string, language: Parameters<typeof tokenize>[1]];

const texts = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as readonly Named[];
console.log(JSON.stringify(texts.map(([text, language]) => tokenize(text, language))));
