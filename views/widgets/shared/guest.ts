// Components as guests in the page of another program, such as a notebook, which may show several of one kind.

import { treeOf } from "./dom";

const GUEST = "data-relaxscope";
// By this attribute JupyterLab and Notebook 7 leave the keys to an element.
const KEYS = "data-lm-suppress-shortcuts";

/** Lets components stand in a box: what is selected in one of them concerns those in the box, and keys are theirs. */
export function openTo(box: HTMLElement): void {
  box.setAttribute(GUEST, "");
  box.setAttribute(KEYS, "true");
}

/** What holds the components that a component belongs together with: the box of guests, or the page of the app. */
export function houseOf(root: Element): Element | Document {
  let at: Element | null = root;
  while (at) {
    const found: Element | null = at.closest(`[${GUEST}]`);
    if (found) return found;
    const tree: Document | ShadowRoot = treeOf(at);
    at = tree instanceof ShadowRoot ? tree.host : null;
  }
  return document;
}
