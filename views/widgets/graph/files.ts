// The picture as a file: styles written out as attributes, colours as values.

import { LIGHT } from "#generated/theme";
import { el } from "#shared/dom";
import { download } from "#shared/download";
import type { ViewBox } from "./geometry";
import { WRITTEN_STYLES } from "./look";

// How much larger a PNG is than its SVG, and the pixels of its longer side at the most.
const PNG_SCALE = 2;
const PNG_SIDE = 8000;

/** The text of an SVG file that shows what the page shows; `box` is what the picture's coordinates cover. */
export function svgFile(picture: SVGSVGElement, box: ViewBox): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const [, , width, height] = box;
  const attributes = { viewBox: box.join(" "), xmlns: "http://www.w3.org/2000/svg", width, height };
  for (const [name, value] of Object.entries(attributes)) copy.setAttribute(name, String(value));
  copy.removeAttribute("style");
  writeStyles(copy);
  for (const group of copy.querySelectorAll(".view")) group.removeAttribute("transform");
  return `<?xml version="1.0" encoding="UTF-8"?>\n${concrete(new XMLSerializer().serializeToString(copy))}`;
}

/** A text with the values of colours in place of their names. */
export function concrete(text: string): string {
  const colours: Readonly<Record<string, string>> = LIGHT;
  return text.replace(/var\(--(\w+)\)/g, (whole, name: string) =>
    name === "mono" ? "monospace" : (colours[name] ?? whole),
  );
}

// A file has no style sheet.
function writeStyles(picture: SVGSVGElement): void {
  for (const [selector, attributes] of WRITTEN_STYLES) {
    for (const item of picture.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) item.setAttribute(name, value);
    }
  }
}

/** Draws an SVG twice as large, on the light background that its colours are made for. */
export async function downloadPng(name: string, text: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(PNG_SCALE, PNG_SIDE / Math.max(image.width, image.height));
  const size = { width: Math.round(image.width * scale), height: Math.round(image.height * scale) };
  const canvas = el("canvas", size);
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.fillStyle = LIGHT.bg;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && download(name, "image/png", blob));
}
