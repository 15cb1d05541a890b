// SVG from text by allow-list: what is not named here does not reach the page.

import { LIGHT } from "#generated/theme";

const ELEMENTS = new Set(
  "svg g path polygon polyline ellipse circle rect line text tspan title defs marker".split(" "),
);
const ATTRIBUTES = new Set(
  (
    "id class d points x y x1 y1 x2 y2 cx cy r rx ry width height viewBox transform fill stroke stroke-width " +
    "stroke-dasharray stroke-linejoin stroke-linecap fill-opacity stroke-opacity opacity text-anchor font-size " +
    "font-weight font-family font-style dominant-baseline marker-end orient refX refY markerWidth markerHeight"
  ).split(" "),
);
const VALUE = /^[^<>&;{}\\@]*$/;
const ADDRESS = /url\s*\(|javascript:|data:|expression/i;
const HALO = /^stroke:var\(--(\w+)\);stroke-width:([\d.]+);stroke-linejoin:round;paint-order:stroke;?$/;
const VARIABLE_OF = new Map<string, string>(Object.entries(LIGHT).map(([name, value]) => [value, `var(--${name})`]));

/** The picture of a text, null if it is no SVG. */
export function importSvg(text: string): SVGSVGElement | null {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const source = parsed.documentElement;
  if (source.localName !== "svg" || parsed.querySelector("parsererror")) return null;
  const copy = copyElement(source);
  return copy instanceof SVGSVGElement ? copy : null;
}

function copyElement(source: Element): SVGElement {
  const target = document.createElementNS("http://www.w3.org/2000/svg", source.localName);
  for (const { name, value } of source.attributes) copyAttribute(target, name, value);
  for (const child of source.childNodes) {
    if (child instanceof Text) target.append(document.createTextNode(child.data));
    else if (child instanceof Element && ELEMENTS.has(child.localName)) target.append(copyElement(child));
  }
  return target;
}

// Ids and classes may hold any text: they are only compared, and set as attribute values.
function copyAttribute(target: SVGElement, name: string, value: string): void {
  if (name === "id") target.dataset.id = value;
  else if (name === "style") copyHalo(target, value);
  else if (!ATTRIBUTES.has(name)) return;
  else if (name === "class") target.setAttribute("class", value);
  else if (isPlain(value)) target.setAttribute(name, VARIABLE_OF.get(value.toLowerCase()) ?? value);
}

/** Whether the value of an attribute can do nothing but draw. */
export function isPlain(value: string): boolean {
  return VALUE.test(value) && !ADDRESS.test(value);
}

// The one style that presenters write: a halo behind a label.
function copyHalo(target: SVGElement, value: string): void {
  const [, colour, width] = HALO.exec(value) ?? [];
  if (colour === undefined || width === undefined) return;
  target.style.stroke = `var(--${colour})`;
  target.style.strokeWidth = width;
  target.style.paintOrder = "stroke";
}
