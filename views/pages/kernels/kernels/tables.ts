// The tables below the forms of a kernel: linked parts, what the compiler did, range checks.

import type { AccessRow, CompilerRemark, KernelPart, KernelView } from "#generated/models";
import { link, pickable } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { explains } from "#shared/explain";
import { chip } from "#shared/marks";
import { arranged } from "#shared/tables";

/** What the tables are drawn from, and what a row and a link to a line do. */
export interface Scene {
  readonly model: KernelView;
  readonly pick: (part: number) => void;
  readonly follow: (line: number) => void;
}

const ORIGINS_SHOWN = 4;
const STATES: Readonly<Record<AccessRow[2], readonly [tone: string, words: string]>> = {
  always: ["ok", "✓ always"],
  proven: ["ok", "✓ proven"],
  checked: ["warning", "▲ checked"],
};

/** The colour of a part; empty for part 0, which is none. */
export function colourOf(model: KernelView, number: number): string {
  return model.parts[number - 1]?.[3] ?? "";
}

export function kernelTables(scene: Scene): readonly HTMLElement[] {
  const { parts, remarks, accesses } = scene.model;
  return [
    tablePane(
      "Linked parts",
      "",
      parts.map((item) => partRow(scene, item)),
      ["Part", "What", "From", "In the listing"],
      "Nothing is linked.",
    ),
    tablePane(
      "What the compiler did",
      "",
      remarks.map((item) => remarkRow(scene, item)),
      ["What", "Why", "Part"],
      "No transformation applied.",
    ),
    tablePane(
      "Range checks",
      sizesOf(scene.model),
      accesses.map((item) => accessRow(scene, item)),
      ["Access", "In range if", "Here", "Part"],
      "This kernel touches no buffer.",
    ),
  ];
}

/** A link to a line of the user's text. */
export function lineLink(scene: Scene, number: number, text: string): HTMLElement {
  const follow = (event: Event) => {
    event.stopPropagation();
    scene.follow(number);
  };
  return link(number, follow, { title: text, "aria-label": `Line ${number} of the source: ${text}` });
}

/** Links to the first lines of some, and how many more there are. */
export function lineLinks(scene: Scene, lines: readonly (readonly [number: number, text: string])[]): Child {
  const shown = lines.slice(0, ORIGINS_SHOWN);
  const links = shown.map(([number, text], k) => [k ? ", " : "", lineLink(scene, number, text)]);
  return [links, lines.length > shown.length ? ` and ${lines.length - shown.length} more` : ""];
}

/** With which sizes the checks are shown. */
export function sizesOf({ sizes }: KernelView): string {
  if (!sizes.length) return "Sizes are constant";
  if (sizes.some(([, value]) => value < 0)) return "For any sizes";
  return `With ${sizes.map(([name, value]) => `${name} = ${value}`).join(", ")}`;
}

function row(scene: Scene, number: number, ...cells: Child[]): HTMLElement {
  const made = el("tr", { data: { part: number || "" } }, cells);
  return number ? pickable(made, () => scene.pick(number)) : made;
}

function partTag({ model }: Scene, number: number): HTMLElement {
  const tag = number ? el("b", { class: `tag-text ${colourOf(model, number)}` }, number) : "";
  return el("td", { class: "number" }, tag);
}

function partRow(scene: Scene, [number, words, line, , lines]: KernelPart): HTMLElement {
  const textOf = new Map(scene.model.origins);
  const from = lines.map((origin) => [origin, textOf.get(origin) ?? ""] as const);
  return row(
    scene,
    number,
    partTag(scene, number),
    el("td", {}, prose(words)),
    el("td", { class: "nw" }, from.length ? ["from ", lineLinks(scene, from)] : ""),
    el("td", { class: "r muted nw" }, `line ${line}`),
  );
}

function remarkRow(scene: Scene, [tone, word, words, number]: CompilerRemark): HTMLElement {
  const sign = tone === "ok" ? "✓" : "▲";
  const names = [`remark on a kernel/${word}`, `transformation of kernels/${words.split(":")[0]}`];
  const title = "Explain this remark";
  const name = el("td", { class: "nw" }, link(chip(`${sign} ${word}`, tone), explains(names, words), { title }));
  return row(scene, number, name, el("td", {}, prose(words)), partTag(scene, number));
}

function accessRow(scene: Scene, [access, condition, state, number]: AccessRow): HTMLElement {
  const [tone, words] = STATES[state];
  const needed = el("td", { class: condition ? "m" : "muted" }, condition || "always");
  const here = el("td", { class: "nw" }, chip(words, tone));
  return row(scene, number, el("td", { class: "m" }, access), needed, here, partTag(scene, number));
}

function tablePane(
  title: string,
  note: string,
  rows: readonly Child[],
  heads: readonly string[],
  none: string,
): HTMLElement {
  const head = heads.map((text) => el("th", {}, text));
  const table = el("table", { "aria-label": title }, el("tr", {}, head), rows);
  const [tools, content] = rows.length ? arranged(table) : ["", el("p", { class: "none" }, none)];
  const name = el("b", { role: "heading", "aria-level": "2" }, title);
  return el(
    "section",
    { class: "pane low" },
    el("div", { class: "ph" }, name, el("span", { class: "n" }, note), tools),
    el("div", { class: "body", tabindex: "0", role: "region", "aria-label": title }, content),
  );
}
