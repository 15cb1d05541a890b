// Words and heads of the tables beside a graph.

import { type Child, el } from "./dom";

export function headOf(title: string, note: Child = "", ...rest: Child[]): HTMLElement {
  const words = note ? el("span", { class: "n" }, note) : "";
  return el("div", { class: "ph top" }, el("b", { role: "heading", "aria-level": "2" }, title), words, rest);
}

export function count(number: number, noun: string, many = `${noun}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : many}`;
}

/** A name of several words may break between them. */
export function pieces(name: string): Child[] {
  return name.split(/(?<=_)|(?<=[a-z])(?=[A-Z])/).map((word, k) => [k ? el("wbr") : "", word]);
}

/** Makes a sentence of a message; a name at its start stays as it is. */
export function sentence(text: string, name: string): string {
  const start = text.startsWith(name) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return (start + text.slice(1)).replaceAll("->", "→") + (/[.!?]$/.test(text) ? "" : ".");
}

/** A number of bytes in at most five characters and a unit. */
export function bytesText(number: number): string {
  if (number < 1000) return `${number} B`;
  if (number < 1e6) return `${(number / 1e3).toFixed(1)} kB`;
  return number < 1e9 ? `${(number / 1e6).toFixed(1)} MB` : `${(number / 1e9).toFixed(1)} GB`;
}
