// A rough tokenizer for lines that Python has not seen yet.

import type { Code, Syntax } from "../generated/models";
import type { Piece } from "../shared/code";

interface Rules {
  readonly words: ReadonlySet<string>;
  /** Groups: comment, string, name with a sign, number, word. */
  readonly pattern: RegExp;
  readonly types: RegExp;
}

const PYTHON_WORDS =
  "and as assert break class continue def del elif else except finally for from global if import in is lambda not or " +
  "pass raise return try while with yield True False None";
const RELAY_WORDS = "def fn let if else match match? type free_var extern ref ref_read ref_write True False _";
const RULES: Readonly<Partial<Record<Code["language"], Rules>>> = {
  tvmscript: {
    words: new Set(PYTHON_WORDS.split(" ")),
    pattern:
      /(#.*$)|("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(@[\w.]+)|(\b\d[\w.]*(?:e[+-]?\d+)?)|([A-Za-z_]\w*)|(\s+|[^\w\s])/g,
    types: /^(?:R|T|I|relax|tir|tvm|Tensor|Tuple|Object|Shape|Prim|Callable)$/,
  },
  relay: {
    words: new Set(RELAY_WORDS.split(" ")),
    pattern:
      /(\/\*[\s\S]*?(?:\*\/|$)|\/\/.*$|#(?!\[).*$)|("(?:[^"\\]|\\.)*"?)|(@[\w.?]+|%[\w.?]+|#\[[^\]]*\]?|meta\[[\w.]+\]\[\d+\])|(\b\d[\w.]*(?:e[+-]?\d+)?)|(match\?|[A-Za-z_][\w?]*(?:\.[A-Za-z_][\w?]*)*)|(\s+|[^\w\s])/g,
    types: /^(?:Tensor|(?:bfloat|float|uint|int)\d+(?:x\d+)?|bool|[A-Z]\w*)$/,
  },
};

/** Cuts one line; strings and comments that go over several lines are coloured only where they start. */
export function tokenize(line: string, language: Code["language"]): readonly Piece[] {
  const rules = RULES[language];
  if (!rules) return [[line, ""]];
  const out: Piece[] = [];
  let previous = "";
  for (const match of line.matchAll(rules.pattern)) {
    const [text, , , , , word] = match;
    out.push([text, syntaxOf(match, previous, language, rules)]);
    if (word) previous = word;
    else if (text.trim()) previous = "";
  }
  return out;
}

function syntaxOf(match: RegExpExecArray, previous: string, language: Code["language"], rules: Rules): Syntax {
  const [, comment, string, sign, number, word] = match;
  if (comment) return "synComment";
  if (string) return "synString";
  if (sign) return signSyntax(sign, language);
  if (number) return "synNumber";
  return word ? wordSyntax(word, previous, rules) : "";
}

// Globals of Relay have a colour, and locals have none; what else begins with a sign is `#[version]` or `meta[...]`.
function signSyntax(sign: string, language: Code["language"]): Syntax {
  if (language !== "relay") return "synDecor";
  if (sign.startsWith("%")) return "";
  return sign.startsWith("@") ? "synName" : "synDecor";
}

function wordSyntax(word: string, previous: string, rules: Rules): Syntax {
  if (previous === "def" || previous === "class") return "synName";
  if (rules.words.has(word)) return "synKeyword";
  return rules.types.test(word) ? "synType" : "";
}
