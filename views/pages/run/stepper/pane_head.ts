// The head of a pane of the side.

import { type Child, el } from "#shared/dom";

export const paneHead = (title: string, note: string, ...rest: Child[]): HTMLElement =>
  el("div", { class: "ph top tight" }, el("b", {}, title), el("span", { class: "n" }, note), rest);
