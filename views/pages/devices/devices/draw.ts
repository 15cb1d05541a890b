// The tables of the Devices page.

import type {
  CopyRow,
  DeviceConflict,
  DeviceReason,
  DeviceRow,
  DevicesProps,
  DevicesView,
  FunctionDevices,
} from "#generated/models";
import { pickable } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { categoryAt, chip, symbol } from "#shared/marks";
import { arranged, bytesText, count, headOf, pieces } from "#shared/tables";

/** What the tables are drawn from, and what a row does. */
export interface Scene {
  readonly model: DevicesView;
  readonly props: DevicesProps;
  readonly select: (node: string) => void;
  readonly show: (item: FunctionDevices) => void;
}

const none = (words: string) => el("p", { class: "none" }, words);
const heads = (...names: readonly string[]) => names.map((name) => el("th", {}, name));
const LINE = () => el("th", { class: "r" }, "Line");

export function deviceTables(scene: Scene): Child {
  return [why(scene), conflicts(scene), functions(scene), copies(scene)];
}

function deviceChip(scene: Scene, device: string): HTMLElement {
  const category = categoryAt(scene.model.report.devices.indexOf(device));
  return el("span", { class: `chip nw ${category}` }, symbol(category), device || "no device");
}

// A row that selects the node that it names, and is marked while that is selected.
function nodeRow(
  scene: Scene,
  node: string,
  data: Readonly<Record<string, string | number>>,
  ...cells: Child[]
): Child {
  const isOn = node !== "" && node === scene.props.selected;
  const row = el("tr", { class: isOn ? "on" : "", data }, cells);
  return pickable(row, () => node && scene.select(node));
}

function chain(scene: Scene, links: readonly DeviceReason[], name: string): HTMLElement {
  const row = (link: DeviceReason, index: number) =>
    nodeRow(
      scene,
      link.node,
      { focus: `${name}${index}`, link: index },
      el("td", {}, index + 1),
      el("td", {}, prose(link.words)),
      el("td", { class: "r" }, link.line || ""),
    );
  return el(
    "table",
    { class: "chain", "aria-label": name },
    el("tr", {}, heads("#", "Because"), LINE()),
    links.map(row),
  );
}

function why(scene: Scene): Child {
  const found = scene.props.why;
  if (!found) {
    const words =
      "Select a value in the graph or in a table: the chain of constraints leads to the annotation or default that decided.";
    return [headOf("Why this device"), none(words)];
  }
  const rest = found.why.length ? chain(scene, found.why, "why") : none("The analysis did not come here.");
  const device = deviceChip(scene, found.device);
  return [headOf("Why this device", "", el("code", {}, found.text), el("span", { class: "sp" }), device), rest];
}

function conflicts(scene: Scene): Child {
  const side = (device: string, links: readonly DeviceReason[], name: string) =>
    el("div", {}, el("div", { class: "tools" }, deviceChip(scene, device)), chain(scene, links, name));
  return scene.model.report.conflicts.map((item: DeviceConflict, index) => [
    headOf("Conflict", item.line ? `line ${item.line}` : ""),
    el("p", { class: "none" }, prose(item.message)),
    el(
      "div",
      { class: "conflict" },
      side(item.left, item.left_chain, `conflict ${index + 1} left`),
      side(item.right, item.right_chain, `conflict ${index + 1} right`),
    ),
  ]);
}

function functions(scene: Scene): Child {
  const all = scene.model.report.functions;
  const shown = all.find((item) => item.name === scene.props.function) ?? all[0];
  const table = el(
    "table",
    { "aria-label": "Functions" },
    el("tr", {}, heads("Function", "Result", "Values")),
    all.map((item) => functionRows(scene, item, item.name === shown?.name)),
  );
  return [
    headOf("Functions", count(all.length, "function")),
    arranged(table),
    shown?.rows.length ? values(scene, shown) : "",
  ];
}

function functionRows(scene: Scene, item: FunctionDevices, isShown: boolean): Child {
  const result = item.rows.find((entry) => entry.role === "result")?.device ?? "";
  const row = el(
    "tr",
    { class: isShown ? "on" : "", data: { focus: `fn-${item.name}`, function: item.name } },
    el("td", { class: "m" }, pieces(`@${item.name}`)),
    el("td", {}, deviceChip(scene, result)),
    el("td", {}, coverage(item)),
  );
  const reason = item.is_visited ? "" : el("tr", {}, el("td", { colspan: 3, class: "sub" }, prose(item.hidden_by)));
  return [pickable(row, () => scene.show(item)), reason];
}

function coverage(item: FunctionDevices): Child {
  if (!item.is_visited) return el("span", { class: "chip error nw" }, "✕ never visited");
  const without = item.rows.filter((entry) => !entry.device).length;
  if (without) return chip(`${count(without, "value")} without a device`, "warning nw");
  return el("span", { class: "muted" }, count(item.rows.length, "value"));
}

function values(scene: Scene, shown: FunctionDevices): Child {
  const row = (item: DeviceRow, index: number) =>
    nodeRow(
      scene,
      item.node,
      { focus: `value${index}`, value: item.name },
      el("td", { class: "m" }, item.name),
      el("td", { class: "muted nw" }, item.role),
      el("td", { class: "nw" }, deviceChip(scene, item.device)),
      el("td", { class: "sub" }, prose(item.why.at(-1)?.words ?? "")),
      el("td", { class: "r muted" }, item.line || ""),
    );
  const head = el("tr", {}, heads("Value", "What", "Device", "Decided by"), LINE());
  const table = el("table", { "aria-label": "Values" }, head, shown.rows.map(row));
  return [headOf("Values", `of @${shown.name}`), arranged(table)];
}

function copies(scene: Scene): Child {
  const found = scene.model.report.copies;
  if (!found.length) return [headOf("Copies", "none"), none("No value has to change its device.")];
  const known = found.reduce((sum, item) => sum + (item.size_bytes ?? 0), 0);
  const more = found.some((item) => item.size_bytes === null) ? "+" : "";
  const head = el("tr", {}, heads("Value", "From, to"), el("th", { class: "r" }, "Bytes"), heads("Why"), LINE());
  return [
    headOf("Copies", `${count(found.length, "copy", "copies")}, ${bytesText(known)}${more}`),
    arranged(
      el(
        "table",
        { "aria-label": "Copies" },
        head,
        found.map((item, index) => copyRow(scene, item, index)),
      ),
    ),
  ];
}

function copyRow(scene: Scene, item: CopyRow, index: number): Child {
  const size = item.size_bytes === null ? el("span", { class: "muted" }, "at run time") : bytesText(item.size_bytes);
  return nodeRow(
    scene,
    item.node,
    { focus: `copy${index}`, copy: index },
    el("td", { class: "m" }, item.value),
    el("td", { class: "nw" }, deviceChip(scene, item.source), " → ", deviceChip(scene, item.target)),
    el("td", { class: "r nw" }, size),
    el("td", { class: "sub" }, prose(item.words)),
    el("td", { class: "r muted" }, item.line || ""),
  );
}
