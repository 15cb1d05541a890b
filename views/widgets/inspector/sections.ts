// The sections of the inspector: each layout draws rows of pieces, and a piece may be a link.

import type { InspectorRow, Part, Section } from "#generated/models";
import { type Child, el } from "#shared/dom";
import { MARK_SIGN, symbol } from "#shared/marks";

type Follow = (piece: Part) => void;
type Layout = (rows: readonly InspectorRow[], follow: Follow) => Child;

const LAYOUTS: Readonly<Record<Section["layout"], Layout>> = {
  pairs: (rows, follow) =>
    el(
      "dl",
      {},
      rows.map((row) => pairOf(row, follow)),
    ),
  table: (rows, follow) =>
    el(
      "table",
      {},
      rows.map((row) => tableRow(row, follow)),
    ),
  life: (rows, follow) =>
    el(
      "div",
      { class: "life" },
      rows.map((row) => stepOfLife(row, follow)),
    ),
  text: (rows, follow) => rows.map((row) => el("p", { class: "text" }, valuesOf(row, follow))),
  code: (rows, follow) =>
    el(
      "div",
      { class: "code block" },
      rows.map((row) => el("div", {}, valuesOf(row, follow))),
    ),
};

export function sectionOf(section: Section, follow: Follow): Child {
  const title = section.title ? el("div", { class: "h", role: "heading", "aria-level": "3" }, section.title) : "";
  return [title, LAYOUTS[section.layout](section.rows, follow)];
}

/** Whether a value is code and nothing else. */
export function isCode(parts: readonly Part[]): boolean {
  return parts.length > 0 && parts.every((piece) => piece.style === "code");
}

function pairOf(row: InspectorRow, follow: Follow): Child {
  const look = isCode(row.value) ? "dd-code" : "";
  return [el("dt", {}, row.label), el("dd", { class: look }, valuesOf(row, follow))];
}

function tableRow(row: InspectorRow, follow: Follow): Child {
  const label = row.label ? el("td", { class: "m muted" }, row.label) : "";
  return el("tr", {}, label, el("td", {}, valuesOf(row, follow)), el("td", { class: "r muted" }, row.detail));
}

function stepOfLife(row: InspectorRow, follow: Follow): Child {
  const sign = row.mark ? MARK_SIGN[row.mark] : "•";
  return [
    el(
      "span",
      { class: row.mark ?? "" },
      el("span", { class: "sign", role: "img", "aria-label": row.mark ?? "step" }, sign),
    ),
    el("span", {}, valuesOf(row, follow), " ", el("span", { class: "muted" }, row.detail)),
  ];
}

function valuesOf(row: InspectorRow, follow: Follow): Child {
  return row.value.map((piece) => partOf(piece, follow));
}

function partOf(piece: Part, follow: Follow): Child {
  const inner = [piece.category ? [symbol(piece.category), " "] : "", piece.text];
  const look = [piece.style === "code" ? "m" : piece.style, piece.syntax].filter(Boolean).join(" ");
  if (!piece.node && !piece.line && !piece.go) return el("span", { class: look }, inner);
  return el("button", { type: "button", class: `link ${look}`, click: () => follow(piece) }, inner);
}
