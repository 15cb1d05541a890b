// A file that the browser saves.

import { el } from "./dom";

const KEPT_MS = 1000;

export function download(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  el("a", { href: url, download: fileName(name) }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** A name that any file system takes. */
export function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, "_") || "graph";
}
