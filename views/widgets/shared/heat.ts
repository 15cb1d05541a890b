// What lines and nodes take of a quantity: stripes with a tooltip, and what their colours mean.

import type { HeatMark, LineHeat } from "#generated/models";
import { MARK_SIGN } from "#shared/marks";
import { type Child, el, replace } from "./dom";

const LEVELS = [1, 2, 3, 4, 5] as const;
const NOT_FINITE = -1;
export const LEVEL_CLASSES = [...LEVELS.map((level) => `level-${level}`), "level-odd"] as const;

/** The class of a mark; empty if it has no colour. */
export function levelOf([level]: HeatMark): string {
  if (level === NOT_FINITE) return "level-odd";
  return level ? `level-${level}` : "";
}

/** The stripe beside a line. */
export function stripe(mark: HeatMark): HTMLElement {
  const [level, , words] = mark;
  const names = { title: words, role: "img", "aria-label": words };
  return el("span", { class: `stripe ${levelOf(mark)}`, ...names }, level === NOT_FINITE ? MARK_SIGN.error : "");
}

/** What the colours stand for: the quantity, its scale, and what is blank. */
export function scaleOf({ title, scale, lines }: LineHeat): Child {
  const swatch = (look: string) => el("span", { class: `swatch ${look}`, "aria-hidden": "true" });
  const isOdd = lines.some(([, [level]]) => level === NOT_FINITE);
  return [
    el("b", {}, title),
    scale && [
      " ",
      el(
        "span",
        { class: "swatches" },
        LEVELS.map((level) => swatch(`level-${level}`)),
      ),
      ` ${scale}`,
    ],
    isOdd && el("span", { class: "error-text" }, ` ${MARK_SIGN.error} NaN or infinity`),
  ];
}

/** The line below the head of a text that says what its stripes are. */
export class HeatLegend {
  readonly element = el("div", { class: "heat-legend", role: "note", hidden: true });

  show(heat: LineHeat | null): void {
    this.element.hidden = heat === null;
    replace(this.element, heat && [scaleOf(heat), ". ", heat.note]);
  }
}
