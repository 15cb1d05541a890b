// Lines of code: tokens to spans, and a rough tokenizer for text that Python has not seen yet.

const tokenSpan = ([text, syntax, highlight]) => {
  const span = syntax ? el("span", { class: syntax }, text) : document.createTextNode(text);
  return highlight ? el("u", {}, span) : span;
};

// Cuts tokens at the marks [from, to, class) in UTF-16 units, so that a mark may begin inside a token.
function markedSpans(tokens, marks) {
  if (!marks.length) return tokens.map(tokenSpan);
  const cuts = [...new Set(marks.flatMap(([from, to]) => [from, to]))].sort((a, b) => a - b);
  const out = [];
  let at = 0;
  for (const [text, syntax, highlight] of tokens) {
    let from = 0;
    const inner = cuts.map((cut) => cut - at).filter((cut) => cut > 0 && cut < text.length);
    for (const to of [...inner, text.length]) {
      const piece = tokenSpan([text.slice(from, to), syntax, highlight]);
      const under = marks.find(([start, end]) => at + from >= start && at + to <= end && to > from);
      out.push(under ? el("span", { class: under[2] }, piece) : piece);
      from = to;
    }
    at += text.length;
  }
  return out;
}

const PYTHON_WORDS = "and as assert break class continue def del elif else except finally for from global if import in is lambda not or pass raise return try while with yield True False None";
const RELAY_WORDS = "def fn let if else match match? type free_var extern ref ref_read ref_write True False _";
const RULES = {
  tvmscript: {
    words: new Set(PYTHON_WORDS.split(" ")),
    pattern: /(#.*$)|("""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(@[\w.]+)|(\b\d[\w.]*(?:e[+-]?\d+)?)|([A-Za-z_]\w*)|(\s+|[^\w\s])/g,
    types: /^(?:R|T|I|relax|tir|tvm|Tensor|Tuple|Object|Shape|Prim|Callable)$/,
  },
  relay: {
    words: new Set(RELAY_WORDS.split(" ")),
    pattern: /(\/\*[^]*?(?:\*\/|$)|\/\/.*$|#(?!\[).*$)|("(?:[^"\\]|\\.)*"?)|(@[\w.?]+|%[\w.?]+|#\[[^\]]*\]?|meta\[[\w.]+\]\[\d+\])|(\b\d[\w.]*(?:e[+-]?\d+)?)|(match\?|[A-Za-z_][\w?]*(?:\.[A-Za-z_][\w?]*)*)|(\s+|[^\w\s])/g,
    types: /^(?:Tensor|(?:bfloat|float|uint|int)\d+(?:x\d+)?|bool|[A-Z]\w*)$/,
  },
};

// Globals have a colour, and locals have none; what else begins with a sign is `#[version]` or `meta[...]`.
const RELAY_SIGNS = { "@": "synName", "%": "" };

// One line; strings and comments that go over several lines are coloured only where they start.
function tokenize(line, language) {
  const rules = RULES[language];
  if (!rules) return [[line, "", false]];
  const out = [];
  let previous = "";
  for (const match of line.matchAll(rules.pattern)) {
    const [text, comment, string, decorator, number, word] = match;
    let syntax = "";
    if (comment) syntax = "synComment";
    else if (string) syntax = "synString";
    else if (decorator) syntax = language !== "relay" ? "synDecor" : RELAY_SIGNS[text[0]] ?? "synDecor";
    else if (number) syntax = "synNumber";
    else if (word) syntax = wordSyntax(word, previous, rules);
    if (word) previous = word;
    else if (text.trim()) previous = "";
    out.push([text, syntax, false]);
  }
  return out;
}

function wordSyntax(word, previous, rules) {
  if (previous === "def" || previous === "class") return "synName";
  if (rules.words.has(word)) return "synKeyword";
  return rules.types.test(word) ? "synType" : "";
}
