// Lines of code: tokens to spans.

import { type Child, el } from "./dom";

/** Text, class of its colour, and whether it is highlighted. */
export type Piece = readonly [text: string, syntax: string, highlight?: boolean];
/** From and to in UTF-16 units, and a class. */
export type Span = readonly [from: number, to: number, look: string];

export function tokenSpan([text, syntax, highlight]: Piece): Node {
  const span = syntax ? el("span", { class: syntax }, text) : document.createTextNode(text);
  return highlight ? el("u", {}, span) : span;
}

/** The text of a line's tokens. */
export function textOf(tokens: readonly Piece[]): string {
  return tokens.map(([text]) => text).join("");
}

/** Cuts tokens at the borders of marks, which may lie inside a token; gives each piece with its mark's class. */
export function cut(tokens: readonly Piece[], marks: readonly Span[]): readonly (readonly [Piece, string])[] {
  if (!marks.length) return tokens.map((token) => [token, ""] as const);
  const cuts = [...new Set(marks.flatMap((mark) => [mark[0], mark[1]]))].sort((a, b) => a - b);
  const out: (readonly [Piece, string])[] = [];
  let start = 0;
  for (const [text, syntax, highlight = false] of tokens) {
    const inner = cuts.map((place) => place - start).filter((place) => place > 0 && place < text.length);
    let from = 0;
    for (const to of [...inner, text.length]) {
      const [first, last] = [start + from, start + to];
      const mark = to > from ? marks.find(([begin, end]) => first >= begin && last <= end) : undefined;
      out.push([[text.slice(from, to), syntax, highlight], mark ? mark[2] : ""]);
      from = to;
    }
    start += text.length;
  }
  return out;
}

/** The spans of tokens, those under a mark inside a span of its class. */
export function markedSpans(tokens: readonly Piece[], marks: readonly Span[]): Child[] {
  return cut(tokens, marks).map(([piece, look]) =>
    look ? el("span", { class: look }, tokenSpan(piece)) : tokenSpan(piece),
  );
}
