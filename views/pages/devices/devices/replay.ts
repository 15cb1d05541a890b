// The steps of the analysis: a slider over all of them, and a table of those around the one that is shown.

import type { DevicesView } from "#generated/models";
import { button, pickable } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { chip } from "#shared/marks";
import { count, headOf } from "#shared/tables";
import { firstShown, hasVisits, type Step, shownSteps, stepsOf } from "./steps";

export function replay(model: DevicesView, place: number, go: (place: number) => void): Child {
  const all = stepsOf(model);
  const isVisits = hasVisits(model);
  const title = isVisits ? "Visits" : "Analysis";
  if (!all.length) return headOf(title, "none");
  const total = model.step_count && !isVisits ? model.step_count : all.length;
  const hits = all.filter((item) => item.kind === "memo hit").length;
  const badge = hits ? el("span", { class: "chip error nw" }, count(hits, "memo hit")) : "";
  const head = headOf(title, `step ${(place + 1).toLocaleString("en")} of ${total.toLocaleString("en")}`, badge);
  return [head, tools(title, all.length, place, go), table(model, title, place, go)];
}

function tools(title: string, total: number, place: number, go: (place: number) => void): HTMLElement {
  const range = { type: "range", min: 0, max: total - 1, value: place, data: { focus: "slider" } };
  const slider = el("input", { ...range, "aria-label": `${title}, step`, change: () => go(Number(slider.value)) });
  const back = { "aria-label": "Previous step", data: { focus: "back" } };
  const next = { "aria-label": "Next step", data: { focus: "next" } };
  return el(
    "div",
    { class: "tools" },
    button("‹", "i", "k", () => go(place - 1), back),
    slider,
    button("›", "i", "j", () => go(place + 1), next),
  );
}

function table(model: DevicesView, title: string, place: number, go: (place: number) => void): HTMLElement {
  const all = stepsOf(model);
  const isVisits = hasVisits(model);
  const first = firstShown(place, all.length);
  const row = (item: Step, index: number) => {
    const number = first + index;
    const look = number === place ? "on" : number > place ? "later" : "";
    const made = el(
      "tr",
      { class: look, data: { focus: `step${number}`, step: number, kind: item.kind } },
      el("td", { class: "r muted" }, item.number),
      isVisits ? el("td", { class: "nw" }, kindOf(item)) : "",
      el("td", { style: { paddingLeft: `${8 + 12 * item.depth}px` } }, prose(item.words)),
      el("td", { class: "r muted" }, item.line || ""),
    );
    return pickable(made, () => go(number));
  };
  const head = el(
    "tr",
    {},
    el("th", { class: "r" }, "#"),
    isVisits ? el("th", {}, "Visit") : "",
    el("th", {}, "What"),
    el("th", { class: "r" }, "Line"),
  );
  const rows = el("table", { "aria-label": title }, head, shownSteps(all, place).map(row));
  return el("div", { class: "steps", tabindex: 0, role: "region", "aria-label": `${title}, step by step` }, rows);
}

function kindOf({ kind }: Step): Child {
  if (kind === "memo hit") return chip(kind, "error nw");
  if (kind === "recursion") return chip(kind, "warning nw");
  return kind ? el("span", { class: "muted nw" }, kind) : "";
}
