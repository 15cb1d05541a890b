// The table that partitioning works with, to be edited in place: patterns with what they match, operators of targets.

import type { PatternMatch, PatternRow } from "#generated/models";
import { button, pickable } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { severitySign } from "#shared/marks";
import { count, headOf } from "#shared/tables";
import { none, problemList, type Scene, tableOf } from "./scene";

type Draft = readonly [name: string, text: string];

const NEW_PATTERN = 'is_op("nn.relu")(wildcard())';
const LONGEST_LINE = 74;
const NO_MATCHES: Pick<PatternRow, "match_count" | "places"> = { match_count: 0, places: [] };

/** How many lines a pattern takes in its field, in which long lines are wrapped. */
export function linesOf(text: string): number {
  const lines = text.split("\n").map((line) => Math.max(1, Math.ceil(line.length / LONGEST_LINE)));
  return Math.min(
    9,
    Math.max(
      3,
      lines.reduce((sum, count) => sum + count, 0),
    ),
  );
}

/** The pattern that is chosen, and what was typed into the fields of each. */
export class Patterns {
  private chosen = 0;
  private drafts = new Map<number, Draft>();
  private scene: Scene | undefined;

  constructor(private readonly redraw: () => void) {}

  /** Takes what is drawn. A pattern that was added is the chosen one; drafts are of the table as it was. */
  take(next: Scene): void {
    const known = this.scene?.props.patterns ?? [];
    const { patterns } = next.props;
    if (JSON.stringify(known) !== JSON.stringify(patterns)) this.drafts = new Map();
    if (known.length && patterns.length === known.length + 1) this.chosen = known.length;
    this.scene = next;
    this.chosen = Math.max(0, Math.min(this.chosen, patterns.length - 1));
  }

  /** The parts; a text that is no table has neither patterns nor targets. */
  parts(scene: Scene): Child {
    const { problems, patterns } = scene.props;
    return problems.length && !patterns.length ? "" : [this.patternPart(scene), supportPart(scene)];
  }

  private patternPart(scene: Scene): Child {
    const { props, model, tell } = scene;
    const focus = { "aria-label": "New pattern", data: { focus: "new" } };
    const add = button("New", "t", "", () => tell({ kind: "add", text: NEW_PATTERN }), focus);
    const own = props.patterns[this.chosen];
    const gap = el("span", { class: "sp" });
    if (!own)
      return [headOf("Pattern", "0", gap, add), none("The table has no pattern: its targets take single operators.")];
    const found = model.patterns.find((item) => item.name === own[0]) ?? NO_MATCHES;
    const choice = props.patterns.length > 1 ? this.choice(props.patterns) : "";
    const head = headOf("Pattern", "", choice, gap, add, stateOf(props.problems.length, found.match_count));
    return [head, this.editor(scene, own), places(scene, found.places)];
  }

  private choice(patterns: readonly Draft[]): HTMLElement {
    const options = patterns.map(([name], index) =>
      el("option", { value: index, selected: index === this.chosen }, name),
    );
    const change = () => {
      this.chosen = box.selectedIndex;
      this.redraw();
    };
    const box = el("select", { "aria-label": "Pattern", data: { focus: "choose" }, change }, options);
    return box;
  }

  private editor(scene: Scene, own: Draft): HTMLElement {
    const [name, text] = this.drafts.get(this.chosen) ?? own;
    const plain = { spellcheck: "false", input: () => changed(), keydown: (event: KeyboardEvent) => keys(event) };
    const title = { type: "text", "aria-label": "Name of the pattern", value: name, data: { focus: "name" } };
    const field = el("input", { ...title, ...plain });
    const area = el("textarea", { "aria-label": `Pattern ${own[0]}`, data: { focus: "pattern" }, ...plain });
    area.value = text;
    area.rows = linesOf(text);
    const bar = el("div", { class: "row" });
    const send = () =>
      scene.tell({ kind: "pattern", index: this.chosen, command: field.value.trim(), text: area.value });
    const tools = () =>
      bar.replaceChildren(...this.tools(scene, own, field.value !== own[0] || area.value !== own[1], send));
    const changed = () => {
      this.drafts.set(this.chosen, [field.value, area.value]);
      tools();
    };
    const keys = (event: KeyboardEvent) => {
      event.stopPropagation();
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey || event.target === field)) return;
      event.preventDefault();
      send();
    };
    tools();
    const label = el("label", { class: "row" }, el("span", { class: "muted" }, "Name"), field);
    return el("div", { class: "editor" }, label, area, bar, problemList(scene.props.problems), notesOf(scene, own[1]));
  }

  private tools(scene: Scene, own: Draft, isEdited: boolean, send: () => void): Node[] {
    const remove = () => scene.tell({ kind: "remove", index: this.chosen });
    const back = () => {
      this.drafts = new Map();
      scene.tell({ kind: "revert" });
    };
    const tools = [
      button("Try", isEdited ? "p" : "", "Ctrl+Enter", send, { data: { focus: "try" } }),
      button("Remove", "t", "", remove, { "aria-label": `Remove ${own[0]}`, data: { focus: "remove" } }),
    ];
    const revert = { data: { focus: "revert" } };
    if (scene.props.edited) tools.push(button("Back to the sample's table", "t", "", back, revert));
    return [...tools, el("span", { class: "sp" }), isEdited ? el("span", { class: "muted" }, "edited") : new Text()];
  }
}

function stateOf(problems: number, matches: number): HTMLElement {
  if (problems) return el("span", { class: "chip error nw" }, `✕ ${count(problems, "problem")}`);
  if (matches) return el("span", { class: "chip ok nw" }, `✓ ${count(matches, "match", "matches")}`);
  return el("span", { class: "chip nw" }, "no match");
}

// What is odd about the table and is of this pattern.
function notesOf({ model }: Scene, text: string): Child {
  const own = model.report.notes.filter((note) => text.includes(note.split("`")[1] ?? "undefined"));
  if (!own.length) return "";
  return el(
    "div",
    { class: "problems" },
    own.map((note) => el("div", {}, severitySign("warning"), " ", prose(note))),
  );
}

function places(scene: Scene, found: readonly PatternMatch[]): Child {
  const columns = [
    ["Place"],
    ["Line", "r"],
    ["Operator or callee"],
    ["Arguments, or why not"],
    ["Alternative", "nw"],
  ] as const;
  return found.length ? tableOf(scene, "Matches", columns, found, (item, index) => matchRow(scene, item, index)) : "";
}

function matchRow({ props, tell }: Scene, item: PatternMatch, index: number): HTMLElement {
  const look = item.is_match ? "chip ok nw" : "chip warning nw";
  const rest = item.is_match
    ? [el("td", { class: "m" }, item.arguments), el("td", { class: "nw muted" }, item.alternative)]
    : el("td", { colspan: 2, class: "sub" }, item.reason);
  const row = el(
    "tr",
    { class: item.nodes[0] === props.selected ? "on" : "", data: { focus: `match${index}`, match: index } },
    el("td", { class: "nw" }, el("span", { class: look }, item.is_match ? "✓ match" : "✕ miss")),
    el("td", { class: "r" }, item.line || ""),
    el("td", { class: "m" }, item.what),
    rest,
  );
  return pickable(row, () => tell({ kind: "match", node: item.nodes[0] ?? "" }));
}

// A field for one more operator, or several between commas, at the end of each target's row.
function supportPart(scene: Scene): Child {
  const { supported } = scene.props;
  if (!supported.length) return "";
  const total = supported.reduce((sum, [, names]) => sum + names.length, 0);
  const rows = supported.map(([target, names]) => supportRow(scene, target, names));
  return [headOf("Operators taken", `${count(total, "operator")} besides the patterns`), rows];
}

function supportRow({ tell }: Scene, target: string, names: readonly string[]): HTMLElement {
  const keydown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key !== "Enter") return;
    event.preventDefault();
    const text = field.value
      .split(/[\s,]+/)
      .filter(Boolean)
      .join(",");
    if (text) tell({ kind: "support", command: target, text });
  };
  const words = { placeholder: "add an operator", "aria-label": `Add an operator to ${target}`, spellcheck: "false" };
  const field = el("input", { type: "text", ...words, data: { focus: `support-${target}` }, keydown });
  const operator = (name: string) => {
    const take = () => tell({ kind: "unsupport", command: target, text: name });
    const x = { type: "button", class: "x", "aria-label": `Take ${name} from ${target}`, click: take };
    return el("span", { class: "chip code" }, name, el("button", x, "×"));
  };
  return el("div", { class: "support", data: { target } }, el("b", {}, target), names.map(operator), field);
}
