// The controls that components share: tabs, segments, lists to choose from, buttons, rows that act as buttons.

import { type Attributes, type Child, el } from "./dom";
import { consume } from "./keys";

/** Id and label. */
export type Entry<Id extends string = string> = readonly [id: Id, label: string];

export function tabs<Id extends string>(
  entries: readonly Entry<Id>[],
  current: string,
  onPick: (id: Id) => void,
): HTMLElement {
  const tab = ([id, label]: Entry<Id>) => {
    const isOn = String(id === current);
    return el(
      "button",
      { class: "tab", role: "tab", type: "button", "aria-selected": isOn, click: () => onPick(id) },
      label,
    );
  };
  return el("span", { class: "tabs", role: "tablist" }, entries.map(tab));
}

export function segments<Id extends string>(
  label: string,
  entries: readonly Entry<Id>[],
  current: string,
  onPick: (id: Id) => void,
): HTMLElement {
  const segment = ([id, text]: Entry<Id>) =>
    el(
      "button",
      { type: "button", data: { id }, "aria-pressed": String(id === current), click: () => onPick(id) },
      text,
    );
  return el("span", { class: "seg", role: "group", "aria-label": label }, entries.map(segment));
}

/** The same as a list to choose from, where there is no room. */
export function choice<Id extends string>(
  label: string,
  entries: readonly Entry<Id>[],
  current: string,
  onPick: (id: Id) => void,
): HTMLElement {
  const options = entries.map(([id, text]) => el("option", { value: id, selected: id === current }, text));
  const pick = el("select", { "aria-label": label, change: () => onPick(pick.value as Id) }, options);
  return pick;
}

/** A button; `key` is the key that does the same, shown on it. */
export function button(
  text: string,
  look: string,
  key: string,
  onClick: (event: MouseEvent) => void,
  more: Attributes = {},
): HTMLButtonElement {
  const sign = key && el("span", { class: "kbd", "aria-hidden": "true" }, key);
  return el("button", { type: "button", class: `btn ${look}`, click: onClick, ...more }, text, sign);
}

/** A button that looks like a link. */
export function link(text: Child, onClick: (event: MouseEvent) => void, more: Attributes = {}): HTMLButtonElement {
  return el("button", { type: "button", class: "link", click: onClick, ...more }, text);
}

/** Makes a table row act as a button. */
export function pickable<Row extends HTMLElement>(row: Row, onPick: (event: Event) => void): Row {
  row.tabIndex = 0;
  row.addEventListener("click", onPick);
  row.addEventListener("keydown", (event) => {
    if (event.target !== row || (event.key !== "Enter" && event.key !== " ")) return;
    consume(event);
    onPick(event);
  });
  return row;
}
