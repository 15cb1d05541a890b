// The tables of the report: pairs that stayed apart, regions, coverage, what is not offloaded, the ways to treat lets.

import type { Flow, LetsWay, OperatorCall, PairRow, RegionRow, Unsupported } from "#generated/models";
import { link, pickable } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { chip, symbol } from "#shared/marks";
import { count, headOf, sentence } from "#shared/tables";
import { categoryOf, lineLink, none, ROWS_SHOWN, type Scene, tableOf, targetName } from "./scene";
import { flowsText, shortName, shortPath, sizeOf, titleOf } from "./words";

const TONE_SIGN: Readonly<Partial<Record<LetsWay["tone"], string>>> = { ok: "✓", warning: "▲", error: "✕" };
const UNSUPPORTED = "no target supports it";

export function pairs(scene: Scene): Child {
  const { regions, pairs } = scene.model.report;
  const badge = pairs.length ? el("span", { class: "chip error nw" }, count(pairs.length, "pair")) : "";
  const head = headOf("Not merged", "", badge);
  if (!pairs.length) {
    const several = "No two neighbouring regions of one target stayed apart.";
    return [head, none(regions.length > 1 ? several : "There are no two regions of one target beside each other.")];
  }
  const columns = [["Pair"], ["Reason"], ["Blocking path"], [""]] as const;
  return [head, tableOf(scene, "Not merged", columns, pairs, (pair, index) => pairRows(scene, pair, index))];
}

function pairRows(scene: Scene, pair: PairRow, index: number): Child {
  const isShown = index === scene.props.shown;
  const pick = () => scene.tell({ kind: "show", index: isShown ? -1 : index, function: pair.function });
  const names = ` ${shortName(pair.producer, pair.target)} and ${shortName(pair.user, pair.target)}`;
  const label = `Show ${pair.producer} and ${pair.user}`;
  const line = el(
    "tr",
    { class: isShown ? "on" : "", "aria-label": label, data: { focus: `pair${index}`, pair: index } },
    el("td", { class: "nw" }, symbol(categoryOf(scene, pair.target), pair.target), names),
    el("td", { class: "nw" }, chip(pair.kind, "error nw")),
    el("td", {}, pathOf(scene, pair)),
    el("td", { class: "r nw" }, el("span", { class: "link" }, isShown ? "Shown" : "Show")),
  );
  const words = [prose(sentence(pair.message, pair.target)), " ", counterfactual(scene, pair, index)];
  return [pickable(line, pick), isShown ? el("tr", {}, el("td", { colspan: 4, class: "sub" }, words)) : ""];
}

// What would make the two one: the page tries it.
function counterfactual({ model, tell }: Scene, pair: PairRow, index: number): Child {
  const focus = { data: { focus: "through" } };
  if (pair.kind === "let") return link("Try through the let", () => tell({ kind: "through", index }), focus);
  const left = new Set(model.report.unsupported.map((item) => item.operator));
  const operators = [...new Set(pair.path.slice(1, -1).filter((name) => left.has(name)))];
  if (!operators.length || !["unsupported operator", "blocking path"].includes(pair.kind)) return "";
  const support = () => tell({ kind: "support", command: pair.target, text: operators.join(",") });
  return link(`Try with ${operators.join(", ")} in ${pair.target}`, support, focus);
}

function pathOf(scene: Scene, pair: PairRow): HTMLElement {
  const ends = [pair.producer, pair.user];
  const part = (name: string, k: number) => {
    const look = ends.includes(name) ? categoryOf(scene, pair.target) : "error";
    const arrow = k ? el("span", { class: "muted", "aria-label": "to" }, "→") : "";
    return [arrow, el("span", { class: `chip code ${look}` }, name)];
  };
  return el("span", { class: "path" }, shortPath(pair.path).map(part));
}

export function regionTable(scene: Scene): Child {
  const { model, props } = scene;
  const found = model.report.regions;
  if (!found.length) {
    const words = "No operator of this module is in the table. Choose another table, or edit this one.";
    return [headOf("Regions", "0"), none(model.problems.length ? "" : words)];
  }
  const rows = (item: RegionRow, index: number) => [
    regionRow(scene, item, index),
    item.nodes.includes(props.selected) ? inside(scene, item) : "",
  ];
  const columns = [["Region"], ["Target"], ["Ops", "r"], ["In", "r"], ["Out", "r"], ["Function"]] as const;
  return [headOf("Regions", found.length), tableOf(scene, "Regions", columns, found, rows)];
}

function regionRow(scene: Scene, item: RegionRow, index: number): HTMLElement {
  const { model, props, tell } = scene;
  const several = new Set(model.report.regions.map((region) => region.function)).size > 1;
  const literals = item.constants.length ? el("div", { class: "muted" }, count(item.constants.length, "literal")) : "";
  const row = el(
    "tr",
    {
      class: item.nodes.includes(props.selected) ? "on" : "",
      data: { focus: `region${index}`, region: index },
      title: item.operators.join("\n"),
    },
    el(
      "td",
      { class: "nw" },
      shortName(item.name, item.target),
      several ? el("span", { class: "muted" }, ` @${item.function}`) : "",
    ),
    el("td", { class: "word" }, targetName(scene, item.target)),
    el("td", { class: "r" }, item.operator_count),
    el("td", { class: "r nw", title: titleOf([...item.inputs, ...item.constants]) }, flowsText(item.inputs), literals),
    el("td", { class: "r nw", title: titleOf(item.outputs) }, sizeOf(item.outputs)),
    el("td", { class: "m" }, externalOf(scene, item)),
  );
  return pickable(row, () => tell({ kind: "select", node: item.nodes[0] ?? "", function: item.function }));
}

// What became of a region: the name of its function may break behind the part that all share, else at underscores.
function externalOf({ model }: Scene, item: RegionRow): Child {
  if (item.is_open) return chip("never ends", "error");
  if (item.external) {
    const stem = /^tvmgen_[^_]*_/.exec(item.external)?.[0] ?? "";
    if (stem) return [`@${stem}`, el("wbr"), item.external.slice(stem.length)];
    return ["@", item.external.split(/(?<=_)/).map((part) => [part, el("wbr")])];
  }
  const isCut = model.stages.some(
    (stage) => stage.name === "PartitionGraph" && !stage.problems.some((problem) => problem.severity === "error"),
  );
  return el("span", { class: "muted" }, isCut ? "no function: it stays in place" : "not partitioned");
}

// Which operators of the text a region holds, and what crosses its border.
function inside(scene: Scene, item: RegionRow): HTMLElement {
  const place = (held: OperatorCall) => {
    const select = () => scene.tell({ kind: "select", node: held.node, function: item.function });
    const name = el("button", { type: "button", class: "chip code", click: select }, held.operator);
    return el("span", { class: "place" }, name, lineLink(scene, held.line));
  };
  const flow = (value: Flow) => {
    const type = el("span", { class: "muted" }, ` ${value.type}, ${sizeOf([value])}`);
    return el("span", { class: "place" }, el("code", {}, value.source || value.name), type);
  };
  const part = (word: string, found: readonly Child[], rest: number) => {
    if (!found.length) return "";
    const more = rest > 0 ? el("span", { class: "muted" }, `and ${count(rest, "operator")} more`) : "";
    return [el("dt", {}, word), el("dd", {}, found, more)];
  };
  const parts = [
    part("Holds", item.places.slice(0, ROWS_SHOWN).map(place), item.places.length - ROWS_SHOWN),
    part("Takes", item.inputs.map(flow), 0),
    part("Gives", item.outputs.map(flow), 0),
  ];
  return el("tr", { data: { inside: item.name } }, el("td", { colspan: 6, class: "sub" }, el("dl", {}, parts)));
}

export function coverage(scene: Scene): Child {
  const { report, targets } = scene.model;
  if (!report.operator_count) return "";
  const nothing = ["Offloaded ", el("b", {}, `0 of ${count(report.operator_count, "operator")}`)];
  const rows = targets.map((target) => coverageOf(scene, target));
  return el("div", { class: "cover" }, rows, targets.length ? "" : el("div", { class: "row" }, nothing));
}

function coverageOf(scene: Scene, target: string): Child {
  const { report } = scene.model;
  const share = (number: number) => (100 * number) / report.operator_count;
  const own = report.regions.filter((item) => item.target === target);
  const number = own.reduce((sum, item) => sum + item.operator_count, 0);
  const words = `${number.toLocaleString("en")} of ${count(report.operator_count, "operator")}`;
  const bytes = `${sizeOf(own.flatMap((item) => item.inputs))} in, ${sizeOf(own.flatMap((item) => item.outputs))} out`;
  const percent = `${share(number).toFixed(number && share(number) < 10 ? 1 : 0)} %`;
  const background = `var(--${categoryOf(scene, target)})`;
  const bars = own.map((item) => el("span", { style: { width: `${share(item.operator_count)}%`, background } }));
  return [
    el(
      "div",
      { class: "row" },
      el("span", {}, targetName(scene, target)),
      el("b", {}, words),
      el("span", { class: "muted" }, percent),
      el("span", { class: "sp" }),
      el("span", { class: "muted" }, bytes),
    ),
    el("div", { class: "bar", role: "img", "aria-label": `${target}: ${words}` }, bars),
  ];
}

export function unsupported(scene: Scene): Child {
  const found = scene.model.report.unsupported;
  if (!found.length) return "";
  const total = found.reduce((sum, item) => sum + item.count, 0);
  const columns = [["Operator"], ["Count", "r"], ["Where"], ["Why"], [""]] as const;
  const row = (item: Unsupported, index: number) => unsupportedRow(scene, item, index);
  return [headOf("Not offloaded", count(total, "operator")), tableOf(scene, "Not offloaded", columns, found, row)];
}

function unsupportedRow(scene: Scene, item: Unsupported, index: number): HTMLElement {
  const lines = [...new Set(item.places.map((place) => place.line).filter(Boolean))];
  const more = lines.length > 4 ? el("span", { class: "muted" }, `and ${lines.length - 4} more`) : "";
  const targets = item.reason === UNSUPPORTED ? scene.props.supported.slice(0, 3) : [];
  const row = el(
    "tr",
    {
      class: item.nodes.includes(scene.props.selected) ? "on" : "",
      data: { focus: `left${index}`, left: item.operator },
    },
    el("td", { class: "m" }, item.operator),
    el("td", { class: "r" }, item.count),
    el(
      "td",
      { class: "sub" },
      lines.slice(0, 4).map((line) => [lineLink(scene, line), " "]),
      more,
    ),
    el("td", { class: "sub" }, prose(item.reason)),
    el(
      "td",
      { class: "r" },
      targets.map(([target]) => [offer(scene, item.operator, target), " "]),
    ),
  );
  return pickable(row, () => scene.tell({ kind: "select", node: item.nodes[0] ?? "" }));
}

function offer({ tell }: Scene, operator: string, target: string): HTMLElement {
  const add = (event: Event) => {
    event.stopPropagation();
    tell({ kind: "support", command: target, text: operator });
  };
  return link(`Add to ${target}`, add, { "aria-label": `Add ${operator} to ${target}` });
}

export function ways(scene: Scene): Child {
  if (!scene.model.has_lets) {
    if (!scene.model.stages.some((stage) => stage.name === "PartitionGraph")) return "";
    return [headOf("Lets"), none("This program has no let: the five ways to treat lets are one.")];
  }
  const columns = [["Lets"], ["Regions", "r"], ["Open begins", "r"], ["Result"]] as const;
  const table = tableOf(scene, "Lets, five ways", columns, scene.model.ways, (way) => wayRow(scene, way));
  return [headOf("Lets, five ways", "same program, each option"), table];
}

function wayRow({ tell }: Scene, way: LetsWay): HTMLElement {
  const look = way.free_variables.length ? "m muted" : way.is_current ? "" : "muted";
  const result = el("span", { class: `chip nw ${way.tone}` }, `${TONE_SIGN[way.tone] ?? ""} ${way.result}`);
  const row = el(
    "tr",
    {
      class: way.is_current ? "on" : "",
      "aria-label": `Lets: ${way.lets}`,
      data: { focus: `way-${way.lets}`, lets: way.lets },
    },
    el("td", { class: "m nw" }, way.lets),
    el("td", { class: "r" }, way.region_count),
    el("td", { class: "r" }, way.open_begin_count),
    el("td", {}, result, " ", el("span", { class: look }, prose(way.detail))),
  );
  return pickable(row, () => tell({ kind: "lets", command: way.lets }));
}
