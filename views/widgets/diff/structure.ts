// What became of the parts of a module, a row for each, of one kind or of all.

import type { Structure, StructureRow } from "#generated/models";
import { pickable, segments } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { chip, MARK_SIGN } from "#shared/marks";
import { arranged } from "#shared/tables";

export type Kind = StructureRow["kind"] | "all";

// A renamed part is as it was: its sign is that of what is unchanged.
const SIGN: Readonly<Record<StructureRow["kind"], string>> = {
  added: MARK_SIGN.added,
  removed: MARK_SIGN.removed,
  changed: MARK_SIGN.changed,
  moved: MARK_SIGN.moved,
  renamed: MARK_SIGN.unchanged,
};

/** The rows of a kind. */
export function rowsOf(found: Structure, kind: Kind): readonly StructureRow[] {
  return kind === "all" ? found.rows : found.rows.filter((row) => row.kind === kind);
}

/** The kinds to choose from, with how many rows each has; none where there is but one kind. */
export function kindsOf(found: Structure): readonly (readonly [id: Kind, label: string])[] {
  if (found.counts.length < 2) return [];
  const all = found.counts.reduce((sum, [, count]) => sum + count, 0);
  const kinds = found.counts.map(
    ([kind, count]) => [kind as Kind, `${SIGN[kind as StructureRow["kind"]]} ${kind} ${count}`] as const,
  );
  return [["all", `All ${all}`], ...kinds];
}

export function structureTable(
  found: Structure,
  kind: Kind,
  pickKind: (kind: Kind) => void,
  go: (node: string, line: number) => void,
): Child {
  const title = found.conclusion.charAt(0).toUpperCase() + found.conclusion.slice(1);
  if (!found.rows.length) {
    const words = [el("b", {}, title), "The modules are the same, part by part."];
    return el("div", { class: "items body" }, el("div", { class: "state" }, words));
  }
  const kinds = kindsOf(found);
  const left = found.counts.reduce((sum, [, count]) => sum + count, 0) - found.rows.length;
  const names = ["Change", "Part", "Name", "What of it", "Function", "Line"].map((name) =>
    el("th", { class: name === "Line" ? "r" : "" }, name),
  );
  const rows = rowsOf(found, kind).map((row) => rowOf(row, go));
  const [tools, table] = arranged(
    el("table", { class: "structure", "aria-label": "Structure" }, el("tr", {}, names), rows),
  );
  const head = el(
    "div",
    { class: "structure-head" },
    kinds.length ? segments("Kinds", kinds, kind, pickKind) : el("span", { class: "muted" }, title),
    found.is_same && kinds.length ? el("span", { class: "muted" }, title) : "",
    left ? el("span", { class: "muted" }, `the first ${found.rows.length} are listed`) : "",
    tools,
  );
  return [
    head,
    el("div", { class: "items", role: "region", "aria-label": "Structure of this stage", tabindex: "0" }, table),
  ];
}

function rowOf(row: StructureRow, go: (node: string, line: number) => void): HTMLElement {
  const tone = row.kind === "renamed" ? "" : row.kind;
  const unsure = row.confidence === "sure" ? "" : el("span", { class: "muted" }, ` ${row.confidence}`);
  const details = row.details.map((text) => el("div", {}, detailOf(text)));
  const made = el(
    "tr",
    {},
    el("td", { class: "nw" }, chip(`${SIGN[row.kind]} ${row.kind}`, tone), unsure),
    el("td", { class: "nw" }, row.part),
    el("td", { class: "m" }, row.name),
    el("td", { class: "m what" }, details),
    el("td", { class: "m muted" }, row.function && `@${row.function}`),
    el("td", { class: "muted r" }, row.line || row.before_line || ""),
  );
  const node = row.node || row.before_node;
  return node ? pickable(made, () => go(node, row.line || row.before_line)) : made;
}

// "operator: a → b": what is compared is told from what it was and is.
function detailOf(text: string): Child {
  const [, aspect, rest] = /^([\w ]+): (.*)$/s.exec(text) ?? [];
  if (aspect === undefined || rest === undefined) return text;
  return [el("span", { class: "muted" }, `${aspect}: `), rest];
}
