// The head of the graph's pane, its menu of files, and the legend.

import type { Graph, GraphProps, Side } from "#generated/models";
import { button, choice, type Entry, segments, tabs } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { scaleOf } from "#shared/heat";
import { consume, stepOf } from "#shared/keys";
import { MARK_SIGN, symbol } from "#shared/marks";
import { portSign } from "./look";

/** What the head asks of the component. */
export interface Asks {
  readonly pickTab: (id: string) => void;
  readonly pickStep: (id: string) => void;
  readonly pickSide: (side: Side) => void;
  readonly command: (id: string) => void;
  readonly search: () => void;
  readonly menu: () => void;
}

// More functions are a list to choose from: the one that is shown would be out of sight.
const TABS_SHOWN = 4;
const SIDES = [
  ["before", "Before"],
  ["both", "Both"],
  ["after", "After"],
] as const;
const MARK_COLOR: Readonly<Record<string, string>> = {
  added: "add",
  removed: "del",
  changed: "chg",
  moved: "mov",
  unchanged: "text3",
  error: "error",
};
const LINE_SIGN: Readonly<Record<string, string>> = { line: "──", dash: "╌╌", dot: "····" };

/** What is open, the outermost first: a click folds it again. */
export function wayOf(model: Graph, close: (group: string) => void): Child {
  const entry = ([group, title]: Graph["opened"][number]) => {
    const words = { "aria-label": `Fold ${title}`, title: `Fold ${title} (Backspace folds the last one)` };
    return button(`${title} ✕`, "chip", "", () => close(group), words);
  };
  return model.opened.length ? [el("span", { class: "muted" }, "Open"), model.opened.map(entry)] : "";
}

export function headOf(model: Graph, props: GraphProps, side: Side, asks: Asks): Child {
  const folded = `${model.node_count.toLocaleString("en")} nodes. Shown folded`;
  const note = model.is_folded ? folded : props.note;
  const search = button("Search", "t", "/", asks.search, { title: "Search the graph (/)" });
  return [
    namesOf(model, props, asks),
    note ? el("span", { class: "n" }, note) : "",
    el("span", { class: "sp" }),
    model.is_compare ? segments("Sides", SIDES, side, asks.pickSide) : "",
    props.actions.map(([id, label]) => button(label, "t", "", () => asks.command(id))),
    props.can_be_bare && model.small_count ? weights(model, asks) : "",
    model.svg ? search : "",
    model.svg ? button("Export", "t", "", asks.menu, { "aria-haspopup": "true" }) : "",
  ];
}

function weights(model: Graph, asks: Asks): HTMLElement {
  const count = model.small_count.toLocaleString("en");
  const title = `Leaves out ${count} weights, constants and nodes that compute shapes, and counts them at their users`;
  const state = { title, "aria-pressed": String(model.is_bare) };
  return button(model.is_bare ? `${count} hidden` : "Hide weights", "t", "", () => asks.command("weights"), state);
}

function namesOf(model: Graph, props: GraphProps, asks: Asks): Child {
  const functions = choice("Function", props.tabs, props.tab, asks.pickTab);
  if (props.steps.length)
    return [steps(props.steps, props.step, asks.pickStep), props.tabs.length > 1 ? functions : ""];
  if (props.tabs.length > TABS_SHOWN) return functions;
  const [first] = props.tabs;
  if (first) return tabs(props.tabs, props.tab || first[0], asks.pickTab);
  return el("b", {}, props.title || model.title || "Graph");
}

// One of the steps is chosen; the arrows lead to the others.
function steps(entries: readonly Entry[], current: string, onPick: (id: string) => void): HTMLElement {
  const ids = entries.map(([id]) => id);
  const keydown = (event: KeyboardEvent) => {
    const by = stepOf(event, { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 });
    const next = by ? ids[ids.indexOf(current) + by] : undefined;
    if (next === undefined) return;
    consume(event);
    onPick(next);
  };
  const step = ([id, text]: Entry) => {
    const isOn = id === current;
    const state = { "aria-checked": String(isOn), tabindex: isOn ? 0 : -1, data: { id } };
    return el("button", { type: "button", role: "radio", ...state, click: () => onPick(id) }, text);
  };
  return el("span", { class: "seg", role: "radiogroup", "aria-label": "Steps", keydown }, entries.map(step));
}

/** The entries of the menu of files, and what each does. */
export function menuOf(entries: readonly (readonly [label: string, act: () => void])[], menu: HTMLElement): Child {
  return entries.map(([label, act]) => {
    const click = () => {
      menu.hidden = true;
      act();
    };
    return el("button", { type: "button", click }, label);
  });
}

export function legendOf(model: Graph, props: Pick<GraphProps, "colour_names" | "path" | "heat">): Child {
  const names = props.colour_names.map(([sign, text]) => ({ sign, text }));
  const path = el("span", { class: "error-text" }, el("i", {}, "━"), "blocking path");
  const heat = props.heat && el("span", { title: props.heat.note }, scaleOf(props.heat), "; no figure: no colour");
  return [heat, [...names, ...model.legend].map(legendEntry), props.path.length ? path : ""];
}

function legendEntry({ sign, text }: { readonly sign: string; readonly text: string }): HTMLElement {
  const colour = MARK_COLOR[sign];
  const signs: Readonly<Record<string, string>> = MARK_SIGN;
  if (colour) return el("span", { style: { color: `var(--${colour})` } }, el("b", {}, signs[sign]), " ", text);
  return el("span", {}, el("i", {}, LINE_SIGN[sign] ?? symbol(sign) ?? portSign(sign) ?? sign), text);
}
