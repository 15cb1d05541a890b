// Signs, badges and symbols: every meaning has a letter or a shape beside its colour.

import type { Kind, Mark, Severity } from "#generated/models";
import { KINDS, MARKS } from "#generated/theme";
import { type Child, el, svg } from "./dom";

export const MARK_SIGN: Readonly<Record<Mark | Severity, string>> = MARKS;
export const KIND_NAME: Readonly<Record<Kind, string>> = {
  tensor: "tensor",
  tensor0: "rank-0 tensor",
  prim: "prim value",
  shape: "shape",
  tuple: "tuple",
  closure: "closure",
  adt: "data value",
  string: "string",
  dtype: "dtype",
  object: "object",
  void: "void",
  unwritten: "not yet written",
};

interface KindLook {
  readonly letter: string;
  readonly color: string;
}

/** Letter and colour of a kind; none of a register that was not written. */
export const KIND_LOOK: Readonly<Partial<Record<Kind, KindLook>>> = {
  ...KINDS,
  dtype: { letter: "d", color: "synType" },
  object: { letter: "O", color: "catNone" },
};

const SHEET = "M1.5 1.5h9.5l3.5 3.5v9.5h-13z";
const KIND_SHAPE: Readonly<Partial<Record<Kind, () => Child>>> = {
  tensor: () => svg("rect", { x: 1, y: 1, width: 14, height: 14, rx: 2.5 }),
  tensor0: () => [
    svg("rect", { x: 1, y: 1, width: 14, height: 14, rx: 2.5 }),
    svg("rect", { x: 3, y: 3, width: 10, height: 10, rx: 1, fill: "none", "stroke-width": 0.9 }),
  ],
  prim: () => svg("circle", { cx: 8, cy: 8, r: 7 }),
  shape: () => svg("path", { d: "M4.6 1.2h6.8L15 8l-3.6 6.8H4.6L1 8z" }),
  tuple: () => svg("rect", { x: 0.8, y: 2.4, width: 14.4, height: 11.2, rx: 5.6 }),
  closure: () => svg("path", { d: "M8 .6 15.4 8 8 15.4.6 8z" }),
  adt: () => svg("path", { d: "M1 2.5h9.5L15.2 8l-4.7 5.5H1z" }),
  string: () => svg("path", { d: SHEET }),
  dtype: () => svg("path", { d: SHEET }),
  object: () => svg("rect", { x: 1, y: 1, width: 14, height: 14, rx: 7 }),
  void: () => svg("circle", { cx: 8, cy: 8, r: 6.8, fill: "none", "stroke-dasharray": "2.2 1.8" }),
};

/** The badge of a kind of value: a letter in a shape. */
export function badge(kind: Kind, size = 16): SVGSVGElement {
  const label = KIND_NAME[kind] ?? kind;
  const frame = { class: "bd", width: size, height: size, viewBox: "0 0 16 16", role: "img", "aria-label": label };
  const look = KIND_LOOK[kind];
  if (!look) {
    const dashes = { fill: "none", stroke: "var(--line2)", "stroke-dasharray": "2 2" };
    return svg("svg", frame, svg("rect", { x: 1.5, y: 1.5, width: 13, height: 13, rx: 2.5, ...dashes }));
  }
  const fill = look.color.startsWith("cat") ? `var(--${look.color}Bg)` : "var(--raised)";
  const shape = svg("g", { fill, stroke: `var(--${look.color})`, "stroke-width": 1.2 }, KIND_SHAPE[kind]?.());
  return svg("svg", frame, shape, letterOf(look));
}

function letterOf(look: KindLook): SVGElement {
  const isWide = look.letter.length > 1;
  const place = { x: 8, y: isWide ? 10.4 : 11.1, "text-anchor": "middle" };
  const font = { "font-size": isWide ? 7 : 8.6, "font-weight": 700, "font-family": "var(--mono)" };
  return svg("text", { ...place, ...font, fill: `var(--${look.color})`, "aria-hidden": "true" }, look.letter);
}

/** The categories of devices and targets, in the order in which they are given away. */
export const CATEGORIES = ["cat0", "cat1", "cat2", "cat3", "cat4", "cat5"] as const;

const UNKNOWN = { fill: "none", stroke: "var(--catNone)", "stroke-dasharray": "2 1.6" };
const CATEGORY_SHAPE: Readonly<Record<string, () => SVGElement>> = {
  cat0: () => svg("circle", { cx: 6, cy: 6, r: 4.6 }),
  cat1: () => svg("path", { d: "M6 1 11 10.6H1z" }),
  cat2: () => svg("path", { d: "M6 .8 11.2 6 6 11.2.8 6z" }),
  cat3: () => svg("rect", { x: 1.6, y: 1.6, width: 8.8, height: 8.8 }),
  cat4: () => svg("path", { d: "m6 .8 1.5 3.4 3.7.4-2.8 2.5.8 3.6L6 8.9l-3.2 1.8.8-3.6L.8 4.6l3.7-.4z" }),
  cat5: () => svg("path", { d: "M3.4 1.5h5.2L11.2 6 8.6 10.5H3.4L.8 6z" }),
  catNone: () => svg("circle", { cx: 6, cy: 6, r: 4.6, ...UNKNOWN }),
};

/** The category of the entry at a place of a list; `catNone` for a place below 0. */
export function categoryAt(place: number): string {
  return CATEGORIES[place % CATEGORIES.length] ?? "catNone";
}

/** The symbol of a category, null if it has none; with a label it is read out. */
export function symbol(category: string, label = ""): SVGSVGElement | null {
  const shape = CATEGORY_SHAPE[category];
  if (!shape) return null;
  const name = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  const frame = { class: "sym", width: 12, height: 12, viewBox: "0 0 12 12" };
  return svg("svg", { ...frame, fill: `var(--${category})`, ...name }, shape());
}

export function severitySign(severity: Severity): HTMLElement {
  return el("span", { class: `${severity}-text`, role: "img", "aria-label": severity }, MARK_SIGN[severity]);
}

export function chip(text: Child, tone = "", ...rest: Child[]): HTMLElement {
  return el("span", { class: `chip ${tone}` }, text, rest);
}
