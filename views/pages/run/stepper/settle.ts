// Elements that stay in the page while others around them come and go.

/** Lets a box hold `wanted` in this order; what is there already stays, so that it is not laid out again. */
export function settle(box: Element, wanted: readonly (Node | string)[]): void {
  const stays = new Set(wanted);
  for (const child of [...box.childNodes]) if (!stays.has(child)) child.remove();
  let at = box.firstChild;
  for (const child of wanted) {
    if (child === at) at = at.nextSibling;
    else box.insertBefore(typeof child === "string" ? document.createTextNode(child) : child, at);
  }
}
