// Elements from data. User text reaches the page through text nodes only: `el` and `svg` make them of strings.

export type Child = Node | string | number | null | undefined | false | readonly Child[];
type Handlers = { readonly [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
type Attribute = string | number | boolean | null | undefined;

export interface Attributes extends Handlers {
  readonly style?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string | number>>;
  readonly [name: string]: Attribute | Readonly<Record<string, string | number>> | ((event: never) => void);
}

const SVG_SPACE = "http://www.w3.org/2000/svg";

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function fill<T extends HTMLElement | SVGElement>(node: T, attributes: Attributes, children: readonly Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value as (event: Event) => void);
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodes(children));
  return node;
}

/** What is to stand in an element, without the gaps: null, undefined and false are nothing. */
export function nodes(children: Child): (Node | string)[] {
  if (children === null || children === undefined || children === false) return [];
  if (typeof children === "object" && !(children instanceof Node)) return children.flatMap((child) => nodes(child));
  return [typeof children === "number" ? String(children) : (children as Node | string)];
}

/** The same without empty texts, for an element that is given its children anew. */
export function replace(node: Element, ...children: Child[]): void {
  node.replaceChildren(...nodes(children).filter((child) => child !== ""));
}

/** "a `b` c" with b as code. */
export function prose(text: string): Child[] {
  return text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

/** The element under an event, or null if it is none. */
export function targetOf(event: Event): Element | null {
  return event.target instanceof Element ? event.target : null;
}

/** The element that has the focus in the tree of a component, if it is inside `box`. */
export function focusedIn(root: Element, box: Element): HTMLElement | null {
  const focused = treeOf(root).activeElement;
  return focused instanceof HTMLElement && box.contains(focused) ? focused : null;
}

/** The shadow tree that a component stands in, or the document. */
export function treeOf(root: Element): Document | ShadowRoot {
  const tree = root.getRootNode();
  return tree instanceof ShadowRoot ? tree : document;
}

/** The first element that a selector finds, as an element that can have the focus. */
export function find(box: ParentNode, selector: string): HTMLElement | null {
  return box.querySelector<HTMLElement>(selector);
}

/** Draws anew, and gives the focus back to the element that has the same `data-focus`. */
export function keepFocus(root: Element, box: Element, draw: () => void): void {
  const name = focusedIn(root, box)?.dataset.focus;
  draw();
  if (name) find(box, `[data-focus="${name}"]`)?.focus({ preventScroll: true });
}
