// What is said of the node under the pointer.

import type { GraphNode } from "#generated/models";
import { el, replace } from "#shared/dom";
import { MARK_SIGN } from "#shared/marks";

export class Tip {
  readonly element = el("div", { class: "tip", role: "tooltip", hidden: true });

  constructor(private readonly root: HTMLElement) {}

  hide(): void {
    this.element.hidden = true;
  }

  show(info: GraphNode, event: PointerEvent, heat = ""): void {
    const place = [info.function && `@${info.function}`, info.line && `line ${info.line}`].filter(Boolean).join(", ");
    this.element.hidden = false;
    replace(
      this.element,
      el("b", { class: "m" }, info.title),
      info.subtitle && el("div", { class: "m sub" }, info.subtitle),
      heat && el("div", {}, heat),
      place && el("div", { class: "muted" }, place),
      info.fault && el("div", { class: "fault" }, `${MARK_SIGN.error} ${info.fault}`),
    );
    const home = this.root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height, style } = this.element;
    style.left = `${Math.max(8, Math.min(event.clientX - home.left + 14, home.width - width - 8))}px`;
    style.top = `${Math.min(event.clientY - home.top + 16, home.height - height - 8)}px`;
  }
}
