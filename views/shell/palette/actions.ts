// What can be done on the page: its buttons, links and fields, wherever they stand, by the names that they show.

import { treeOf } from "#shared/dom";

/** Something to do: its name, where it stands, and doing it. */
export interface Choice {
  readonly label: string;
  readonly where: string;
  readonly run: () => void;
}

const DOES = "button,a[href],summary,[role=button],[role=tab],[role=menuitem],[role=switch],[role=radio]";
const TAKES = "input:not([type=hidden]),select,textarea,[role=combobox],[role=textbox]";
const PARTS = `${DOES},${TAKES}`;
// The navigation is left to the pages by their names.
const BODIES = "[data-testid=stMain],[data-testid=stPopoverBody]";
const LONGEST = 80;
// Streamlit writes icons as words in a font of its own.
const UNSPOKEN = "[aria-hidden=true],[data-testid=stIconMaterial],svg,style";

/** The choices that are in sight, in the order of the page, but for those in `without`. */
export function choicesOf(without: Element): readonly Choice[] {
  const found = new Map<string, Choice>();
  const parts = [...document.querySelectorAll(BODIES)].flatMap((body) => partsOf(body, without));
  for (const part of parts) {
    const label = nameOf(part);
    if (!label || !isAtHand(part)) continue;
    const where = placeOf(part, label);
    // Of what is called alike in one place, the first is meant.
    const name = `${label}\n${where}`;
    if (!found.has(name)) found.set(name, { label, where, run: () => use(part) });
  }
  return [...found.values()];
}

function partsOf(page: ParentNode, without: Element): readonly HTMLElement[] {
  return [...page.querySelectorAll("*")].flatMap((item) => {
    if (item === without) return [];
    const own = item instanceof HTMLElement && item.matches(PARTS) ? [item] : [];
    return item.shadowRoot ? [...own, ...partsOf(item.shadowRoot, without)] : own;
  });
}

function isAtHand(part: HTMLElement): boolean {
  const isOff = part.matches(":disabled,[aria-disabled=true],[tabindex='-1']:not([role=tab]):not([role=radio])");
  return !isOff && part.checkVisibility({ visibilityProperty: true }) && part.getClientRects().length > 0;
}

function nameOf(part: HTMLElement): string {
  const told = part.getAttribute("aria-label") ?? labelOf(part) ?? "";
  const name = told || spoken(part) || part.title || part.getAttribute("placeholder") || "";
  return name.replace(/\s+/g, " ").trim().slice(0, LONGEST);
}

function labelOf(part: HTMLElement): string | undefined {
  return part instanceof HTMLInputElement && part.labels?.[0] ? spoken(part.labels[0]) : undefined;
}

function spoken(item: Node): string {
  if (item instanceof Text) return item.data;
  if (!(item instanceof Element) || item.matches(UNSPOKEN)) return "";
  return [...item.childNodes].map(spoken).join(" ");
}

/** The name of the nearest part of the page that has one. */
function placeOf(part: Element, label: string): string {
  for (let at = parentOf(part); at; at = parentOf(at)) {
    const name = at.getAttribute("aria-label");
    // Behind a comma or a point it says more than a name.
    if (name && name !== label) return name.split(/[.,]/, 1)[0]?.slice(0, LONGEST) ?? "";
  }
  return "";
}

function parentOf(part: Element): Element | null {
  const tree = treeOf(part);
  return part.parentElement ?? (tree instanceof ShadowRoot ? tree.host : null);
}

function use(part: HTMLElement): void {
  part.focus();
  if (!part.matches(TAKES) || part.matches("[type=checkbox],[type=radio]")) part.click();
}
