// What the parts of the Partition page are drawn from, and what they have in common.

import type { PartitionView, Problem, RegionsAction, RegionsProps } from "#generated/models";
import { button, link } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { codeLink } from "#shared/explain";
import { categoryAt, severitySign, symbol } from "#shared/marks";
import type { Tell } from "#shared/mount";
import { arranged, pieces } from "#shared/tables";

export interface Scene {
  readonly model: PartitionView;
  readonly props: RegionsProps;
  readonly tell: Tell<RegionsAction>;
  /** Names of the tables that are shown with all their rows. */
  readonly unfolded: ReadonlySet<string>;
  readonly unfold: (name: string) => void;
}

/** The head of a column, and the class of its cells. */
export type Column = readonly [text: string, look?: string];

export const ROWS_SHOWN = 40;

export const none = (words: string) => el("p", { class: "none" }, words);

/** A table of at most some rows, and a button for the others. */
export function tableOf<T>(
  scene: Scene,
  name: string,
  columns: readonly Column[],
  rows: readonly T[],
  toRow: (item: T, index: number) => Child,
): Child {
  const isWhole = scene.unfolded.has(name) || rows.length <= ROWS_SHOWN;
  const shown = isWhole ? rows : rows.slice(0, ROWS_SHOWN);
  const others = () => rows.slice(shown.length).map((item, index) => toRow(item, shown.length + index));
  const cell = ([text, look = ""]: Column) => (text ? el("th", { class: look }, pieces(text)) : el("td"));
  const table = el("table", { "aria-label": name }, el("tr", {}, columns.map(cell)), shown.map(toRow));
  const more = button(`Show all ${rows.length.toLocaleString("en")}`, "t", "", () => scene.unfold(name));
  return [arranged(table, others), isWhole ? "" : el("div", { class: "more" }, more)];
}

export function categoryOf(scene: Scene, target: string): string {
  return categoryAt(scene.model.targets.indexOf(target));
}

/** The name of a target with its symbol; a number tells apart those that share one. */
export function targetName(scene: Scene, target: string): HTMLElement {
  const turn = Math.floor(scene.model.targets.indexOf(target) / 6);
  const sign = symbol(categoryOf(scene, target));
  return el("span", { class: "target" }, sign, turn > 0 ? turn + 1 : "", el("span", {}, pieces(target)));
}

export function lineLink(scene: Scene, line: number): Child {
  if (!line) return "";
  const follow = (event: Event) => {
    event.stopPropagation();
    scene.tell({ kind: "line", index: line });
  };
  return link(`line ${line}`, follow, { title: "Show the line in the source" });
}

export function problemList(problems: readonly Problem[]): Child {
  const line = (item: Problem) =>
    el(
      "div",
      {},
      severitySign(item.severity),
      " ",
      item.line ? el("span", { class: "muted" }, `line ${item.line}, column ${item.column}: `) : "",
      codeLink(item),
      " ",
      prose(item.message),
      item.hint ? el("span", { class: "sub" }, ` ${item.hint}`) : "",
    );
  return problems.length ? el("div", { class: "problems" }, problems.map(line)) : "";
}
