// Components on the page mark a selection without waiting for the server.

import { houseOf } from "./guest";

export function shareSelection(node: string, from: HTMLElement): void {
  window.dispatchEvent(new CustomEvent("relaxscope:select", { detail: { node, from } }));
}

/** Calls `handle` with what another component beside it selects, while `root` is on the page. */
export function onSharedSelection(root: HTMLElement, handle: (node: string) => void): void {
  const listener = (event: WindowEventMap["relaxscope:select"]) => {
    const { node, from } = event.detail;
    if (!root.isConnected) window.removeEventListener("relaxscope:select", listener);
    else if (from !== root && houseOf(from) === houseOf(root)) handle(node);
  };
  window.addEventListener("relaxscope:select", listener);
}
