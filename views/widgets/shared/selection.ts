// Components on the page mark a selection without waiting for the server.

export function shareSelection(node: string, from: HTMLElement): void {
  window.dispatchEvent(new CustomEvent("relaxscope:select", { detail: { node, from } }));
}

/** Calls `handle` with what another component selects, while `root` is on the page. */
export function onSharedSelection(root: HTMLElement, handle: (node: string) => void): void {
  const listener = (event: WindowEventMap["relaxscope:select"]) => {
    if (!root.isConnected) window.removeEventListener("relaxscope:select", listener);
    else if (event.detail.from !== root) handle(event.detail.node);
  };
  window.addEventListener("relaxscope:select", listener);
}
