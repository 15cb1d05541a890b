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

/** The tokens of a part of a line. */
export function tokensBetween(tokens: readonly Piece[], from: number, to: number): readonly Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const [text, syntax, highlight = false] of tokens) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece) out.push([piece, syntax, highlight]);
    at += text.length;
  }
  return out;
}

/** How wide a text is in a font of one width, in which characters of East Asia and emoji take two columns. */
export function widthOf(text: string): number {
  return text.length + (text.match(/[\u1100-\u{10ffff}]/gu)?.length ?? 0);
}

// Of a longer line the parts that are out of sight are neither laid out nor painted.
const PART_LENGTH = 250;

/** A line from one column to another, with the marks in it, counted from its start. */
export type Part = readonly [from: number, to: number, marks: readonly Span[]];

/** The parts of a line: all of it, or pieces of about one length of a long one. */
export function partsOf(text: string, marks: readonly Span[]): readonly Part[] {
  if (text.length <= 2 * PART_LENGTH) return [[0, text.length, marks]];
  const parts: Part[] = [];
  for (let from = 0; from < text.length; ) {
    const to = borderBehind(text, from + PART_LENGTH);
    const inside = marks.filter(([first, last]) => first < to && last > from);
    const own = inside.map(([first, last, look]): Span => {
      return [Math.max(from, first) - from, Math.min(to, last) - from, look];
    });
    parts.push([from, to, own]);
    from = to;
  }
  return parts;
}

/** The next place that lies before an ASCII character, where no accent, emoji or ligature is taken apart. */
function borderBehind(text: string, place: number): number {
  let found = place;
  while (found < text.length && text.charCodeAt(found) > 127) found += 1;
  return Math.min(found, text.length);
}

/** The spans of a line that does not wrap; a long one, such as a signature of hundreds of weights, comes in parts. */
export function lineSpans(tokens: readonly Piece[], marks: readonly Span[]): Child[] {
  const text = textOf(tokens);
  const parts = partsOf(text, marks);
  if (parts.length === 1) return markedSpans(tokens, marks);
  return parts.map(([from, to, own]) => {
    const style = { containIntrinsicWidth: `${widthOf(text.slice(from, to))}ch` };
    return el("span", { class: "part", style }, markedSpans(tokensBetween(tokens, from, to), own));
  });
}
