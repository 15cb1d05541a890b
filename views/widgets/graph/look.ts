// How a graph of compiler regions and devices looks: ports in the legend, colours of categories, the blocking path.

import { svg } from "#shared/dom";
import { LEVEL_CLASSES } from "#shared/heat";

export const CATEGORY_SYMBOL: Readonly<Record<string, string>> = {
  cat0: "●",
  cat1: "▲",
  cat2: "◆",
  cat3: "■",
  cat4: "★",
  cat5: "⬢",
  catNone: "?",
};

type Style = readonly [selector: string, attributes: Readonly<Record<string, string>>];

const SHAPES = ["rect", "polygon", "path", "ellipse"];
/** What classes say in the style sheet, as attributes. */
export const WRITTEN_STYLES: readonly Style[] = [
  [".edge.blocking>path", { stroke: "var(--error)", "stroke-width": "2.6" }],
  [".edge.blocking>polygon", { stroke: "var(--error)", fill: "var(--error)" }],
  [shapesOf(".node.blocked"), { stroke: "var(--error)", "stroke-width": "2", fill: "var(--errorBg)" }],
  ...Object.keys(CATEGORY_SYMBOL).flatMap(stylesOf),
  ...LEVEL_CLASSES.map((look, place) => [shapesOf(`.node.${look}`), heatStyle(look, place)] as const),
  [".node>.figure", { "font-size": "8.5", "font-family": "var(--mono)", fill: "var(--text)" }],
];

// A file holds how strong each level is as a number: not every reader of SVG mixes colours.
function heatStyle(look: string, place: number): Style[1] {
  if (look === "level-odd") return { fill: "var(--errorBg)", stroke: "var(--error)" };
  return { fill: "var(--cat1)", stroke: "var(--cat1)", "fill-opacity": String([0.05, 0.12, 0.2, 0.28, 0.38][place]) };
}

function stylesOf(name: string): readonly Style[] {
  const colour = `var(--${name})`;
  return [
    [shapesOf(`.node.on-${name}`), { fill: `var(--${name}Bg)`, stroke: colour }],
    [`.node .mark.on-${name}`, { fill: colour, "font-size": "9", "font-family": "var(--mono)" }],
    [`.edge.to-${name}>path`, { stroke: colour, "stroke-width": "1.8" }],
    [`.edge.to-${name}>polygon`, { stroke: colour, fill: colour }],
  ];
}

function shapesOf(selector: string): string {
  return SHAPES.map((name) => `${selector}>${name}`).join();
}

/** The sign of a port in the legend; null for any other sign. */
export function portSign(sign: string): SVGElement | null {
  if (sign !== "port" && sign !== "open") return null;
  const error = { stroke: "var(--error)", "stroke-width": 1.4 };
  const look = sign === "port" ? { fill: "currentColor" } : { fill: "none", ...error };
  const line = { ...error, stroke: sign === "port" ? "currentColor" : "var(--error)" };
  return svg(
    "svg",
    { width: 16, height: 11, viewBox: "0 0 16 11", "aria-hidden": "true" },
    svg("path", { d: "M0 3H16", ...line }),
    svg("path", { d: "M3.5 3a4.5 4.5 0 0 0 9 0z", ...look }),
  );
}
