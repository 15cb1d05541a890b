// The tensor viewer: a window of two axes, the whole plane in small, statistics, histogram, and another value beside it.

import type { TensorAsked, TensorDifference, TensorShown, TensorView } from "#generated/models";
import { button, choice, link, segments } from "#shared/controls";
import { type Child, el, keepFocus, nodes, svg } from "#shared/dom";
import { arranged, bytesText, headOf } from "#shared/tables";

const MARKS: Readonly<Record<string, string>> = { n: "✕", i: "∞", d: "·" };
const KINDS: Readonly<Record<string, string>> = { n: "NaN", i: "infinity", d: "denormal", z: "zero" };
const MAP_COLOURS: Readonly<Record<string, string>> = { n: "--error", i: "--warn", d: "--text3", z: "--line" };
const MEASURES = [
  ["value", "Values"],
  ["absolute", "Absolute"],
  ["relative", "Relative"],
  ["ulp", "ULP"],
] as const;
const MAP_PIXELS = 128;
const TIME = /^\d+$/;

export interface Asks {
  readonly see: (asked: TensorAsked) => void;
  readonly go: (time: number) => void;
}

export class TensorPane {
  private model: TensorShown | null | undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly box: HTMLElement,
    private readonly asks: Asks,
  ) {}

  setModel(model: TensorShown | null): void {
    if (model === this.model) return;
    this.model = model;
    keepFocus(this.root, this.box, () => this.box.replaceChildren(...nodes(this.parts(model))));
  }

  private parts(model: TensorShown | null): Child {
    if (!model) return el("div", { class: "pad muted" }, "No tensor is chosen: `View` beside a value opens it here.");
    const { asked, view, fault } = model;
    if (!view) return el("div", { class: "pad" }, el("b", { class: "m" }, asked.expression), ` ${fault}`);
    return [
      this.head(view),
      this.planeBar(asked, view),
      this.searchBar(asked, view),
      view.rows * view.columns ? this.window(view) : el("div", { class: "pad muted" }, "No elements."),
      el(
        "div",
        { class: "tensor-foot" },
        this.map(view),
        statistics(view),
        histogram(view),
        this.compared(asked, view),
      ),
      view.sampling ? el("div", { class: "pad muted" }, view.sampling) : "",
    ];
  }

  private see(change: Partial<TensorAsked>): void {
    if (this.model) this.asks.see({ ...this.model.asked, search: "", ...change });
  }

  private head(view: TensorView): HTMLElement {
    const words = `(${view.shape.join(", ")}${view.shape.length === 1 ? "," : ""}) ${view.dtype}`;
    const count = view.shape.reduce((product, size) => product * size, 1).toLocaleString("en");
    const copy = button("Copy as NumPy", "t", "", () => void navigator.clipboard.writeText(view.numpy), {
      title: `The ${view.rows} × ${view.columns} elements that are shown`,
      data: { numpy: view.numpy },
    });
    const sizes = `${count} elements, ${bytesText(view.size_bytes)}, at time ${view.time}`;
    return el(
      "div",
      { class: "tensor-bar" },
      el("b", { class: "m" }, view.name),
      el("span", { class: "m" }, words),
      el("span", { class: "muted" }, sizes),
      copy,
    );
  }

  // Which axis is down, which is across, the index in each other one, and where the window stands.
  private planeBar(asked: TensorAsked, view: TensorView): HTMLElement {
    const [rows, columns] = view.axes;
    const entries = view.shape.map((size, axis) => [String(axis), `axis ${axis} (${size})`] as const);
    const pick = (down: number, across: number) =>
      this.see({ axes: [down, across], fixed: view.fixed, top: 0, left: 0 });
    const isPlane = rows !== undefined && columns !== undefined;
    // An axis that takes the role of the other one swaps the two.
    const roles: Child = isPlane
      ? [
          "rows",
          choice("Axis of the rows", entries, String(rows), (id) =>
            pick(Number(id), Number(id) === columns ? rows : columns),
          ),
          "columns",
          choice("Axis of the columns", entries, String(columns), (id) =>
            pick(Number(id) === rows ? columns : rows, Number(id)),
          ),
        ]
      : "";
    const fields = view.shape.map((size, axis) =>
      view.axes.includes(axis) ? "" : this.slice(asked, view, axis, size),
    );
    return el("div", { class: "tensor-bar" }, roles, fields, this.moves(view));
  }

  private slice(asked: TensorAsked, view: TensorView, axis: number, size: number): HTMLElement {
    const label = `Index in axis ${axis}`;
    const field = el("input", {
      type: "number",
      min: 0,
      max: Math.max(size - 1, 0),
      value: view.fixed[axis] ?? 0,
      "aria-label": label,
      data: { focus: `tensor-axis${axis}` },
      change: () => {
        const fixed = view.fixed.map((at, other) => (other === axis ? Number(field.value) : at));
        this.see({ axes: asked.axes, fixed, top: view.top, left: view.left });
      },
    });
    return el(
      "label",
      { class: "tensor-slice" },
      `axis ${axis}`,
      field,
      el("span", { class: "muted" }, `/ ${size - 1}`),
    );
  }

  private moves(view: TensorView): Child {
    const to = (top: number, left: number) =>
      this.see({ fixed: view.fixed, top: Math.max(top, 0), left: Math.max(left, 0) });
    const step = (sign: string, name: string, isOn: boolean, top: number, left: number) =>
      button(sign, "t", "", () => to(top, left), {
        "aria-label": name,
        disabled: !isOn,
        data: { focus: `tensor-${name}` },
      });
    const { top, left, rows, columns, row_count, column_count } = view;
    if (rows === row_count && columns === column_count) return "";
    const where = `rows ${top}–${top + rows - 1} of ${row_count}, columns ${left}–${left + columns - 1} of ${column_count}`;
    return [
      step("↑", "Rows above", top > 0, top - rows, left),
      step("↓", "Rows below", top + rows < row_count, top + rows, left),
      step("←", "Columns before", left > 0, top, left - columns),
      step("→", "Columns behind", left + columns < column_count, top, left + columns),
      el("span", { class: "muted" }, where),
    ];
  }

  private searchBar(asked: TensorAsked, view: TensorView): HTMLElement {
    const field = el("input", {
      type: "text",
      value: asked.search,
      placeholder: "0.5, nan, inf",
      "aria-label": "Search for a value",
      data: { focus: "tensor-search" },
    });
    const from = view.found.length ? view.found : view.fixed;
    const [down, across] = view.axes.length > 1 ? view.axes : [-1, view.axes[0] ?? -1];
    const top = view.found.length ? (view.found[down ?? -1] ?? 0) : view.top;
    const left = view.found.length ? (view.found[across ?? -1] ?? 0) : view.left;
    const next = () => this.see({ fixed: from, top, left, search: field.value.trim() });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") next();
    });
    const words = view.found.length ? `[${view.found.join(", ")}]: ${view.search}` : view.search;
    return el(
      "div",
      { class: "tensor-bar" },
      field,
      button("Next", "t", "", next, { "aria-label": "Next element with this value", data: { focus: "tensor-next" } }),
      el("span", { class: "m muted", role: "status", data: { found: view.found.join(",") } }, words),
      el("span", { class: "sp" }),
      this.otherChoice(asked, view),
      asked.other ? segments("Shown", MEASURES, view.measure, (id) => this.see({ measure: id })) : "",
    );
  }

  // What the tensor is compared with; a time has a field of its own.
  private otherChoice(asked: TensorAsked, view: TensorView): Child {
    const isTime = TIME.test(asked.other);
    const against = (other: string) => this.see({ other, measure: other ? asked.measure : "value" });
    const entries = [["", "nothing"], ["time", "another time"], ...(this.model?.choices ?? [])] as const;
    const pick = choice("Compare with", entries, isTime ? "time" : asked.other, (id) =>
      against(id === "time" ? String(Math.max(0, view.time - 1)) : id),
    );
    pick.dataset.focus = "tensor-other";
    const field = el("input", {
      type: "number",
      min: 0,
      value: asked.other,
      "aria-label": "Compare with time",
      data: { focus: "tensor-time" },
      change: () => against(field.value.trim() && String(Math.max(0, Math.trunc(Number(field.value))))),
    });
    return el("span", { class: "tensor-slice" }, "Compare with", pick, isTime ? field : "");
  }

  private window(view: TensorView): HTMLElement {
    const { rows, columns, top, left } = view;
    const names = Array.from({ length: columns }, (_, column) => el("th", { scope: "col" }, String(left + column)));
    const body = Array.from({ length: rows }, (_, row) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, String(top + row)),
        Array.from({ length: columns }, (__, column) => this.cell(view, row, column)),
      ),
    );
    const table = el("table", { class: "tensor-cells", "aria-label": "Elements" }, el("tr", {}, el("td"), names), body);
    return el(
      "div",
      { class: "tensor-window", tabindex: 0, role: "region", "aria-label": "Window of the tensor" },
      table,
    );
  }

  private cell(view: TensorView, row: number, column: number): HTMLElement {
    const at = row * view.columns + column;
    const kind = view.marks[at] ?? ".";
    const heat = view.heat[at] ?? -1;
    const tone = view.measure === "value" ? "--cat0" : "--chg";
    const background = heat < 0 ? "" : `color-mix(in srgb,var(${tone}) ${8 + heat * 0.34}%,var(--bg))`;
    const looks = ["tc"];
    if ("ni".includes(kind)) looks.push("odd");
    if (view.found.length && this.isAt(view, view.top + row, view.left + column)) looks.push("found");
    const sign = MARKS[kind] ? `${MARKS[kind]} ` : "";
    return el("td", { class: looks.join(" "), title: KINDS[kind], style: { background } }, sign, view.cells[at]);
  }

  private isAt(view: TensorView, row: number, column: number): boolean {
    const [down, across] = view.axes.length > 1 ? view.axes : [-1, view.axes[0] ?? -1];
    const isRow = down === -1 || view.found[down ?? -1] === row;
    return isRow && (across === -1 || view.found[across ?? -1] === column);
  }

  // The whole plane: a block has the colour of the rarest kind in it; a click moves the window there.
  private map(view: TensorView): Child {
    const { map_rows: rows, map_columns: columns } = view;
    if (!rows || !columns) return "";
    const counts = Object.entries(KINDS).filter(([kind]) => view.map.includes(kind));
    const words = counts.length ? counts.map(([, name]) => name).join(", ") : "ordinary numbers only";
    const size = { width: MAP_PIXELS, height: Math.min(Math.max((MAP_PIXELS * rows) / columns, 12), MAP_PIXELS) };
    const label = `The whole plane: ${words}`;
    const box = { class: "tensor-map", role: "img", "aria-label": label, data: { map: view.map } };
    const shape = { viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none", "shape-rendering": "crispEdges" };
    const picture = svg("svg", { ...box, ...size, ...shape }, blocks(view));
    picture.addEventListener("click", (event) => {
      const at = picture.getBoundingClientRect();
      const top = Math.floor(((event.clientY - at.top) / at.height) * view.row_count - view.rows / 2);
      const left = Math.floor(((event.clientX - at.left) / at.width) * view.column_count - view.columns / 2);
      this.see({ fixed: view.fixed, top: Math.max(top, 0), left: Math.max(left, 0) });
    });
    const key = counts.map(([kind, name]) =>
      el("span", {}, el("span", { class: "dot", style: { background: `var(${MAP_COLOURS[kind]})` } }), name),
    );
    return el(
      "div",
      { class: "tensor-part" },
      headOf("Map", "rarest kind of each block"),
      picture,
      el("div", { class: "tensor-key" }, key),
    );
  }

  private compared(asked: TensorAsked, view: TensorView): Child {
    const found: TensorDifference | null = view.difference;
    if (!found) return "";
    const go = link(`time ${found.time}`, () => this.asks.go(found.time), { class: "link m" });
    const there = found.time >= 0 ? `${found.name}, at its time ${found.time}` : found.name;
    const largest = () => {
      const [down = -1, across = -1] = view.axes.length > 1 ? view.axes : [-1, view.axes[0] ?? -1];
      this.see({
        axes: asked.axes,
        fixed: found.largest,
        top: found.largest[down] ?? 0,
        left: found.largest[across] ?? 0,
      });
    };
    const where = found.largest.length ? link(`Largest at [${found.largest.join(", ")}]`, largest) : "";
    const rows = [...found.rows, ...found.bands.map(([name, n]) => [`ULP ${name}`, n.toLocaleString("en")] as const)];
    return el(
      "div",
      { class: "tensor-part", data: { difference: found.words } },
      headOf("Against", found.name ? there : go),
      el("div", {}, found.words),
      where,
      el(
        "table",
        {},
        rows.map(([name, text]) => el("tr", {}, el("td", {}, name), el("td", { class: "m r" }, text))),
      ),
    );
  }
}

// A rectangle for each run of blocks in a row that are of one kind; ordinary numbers are the ground.
function blocks(view: TensorView): Child {
  const found: Child[] = [];
  for (let row = 0; row < view.map_rows; row += 1) {
    const line = view.map.slice(row * view.map_columns, (row + 1) * view.map_columns);
    for (const run of line.matchAll(/n+|i+|d+|z+/gu)) {
      const fill = `var(${MAP_COLOURS[run[0].charAt(0)]})`;
      found.push(svg("rect", { x: run.index, y: row, width: run[0].length, height: 1, style: { fill } }));
    }
  }
  return found;
}

function statistics(view: TensorView): HTMLElement {
  const heads = ["Figure", "plane", "whole"].map((name) => el("th", { class: name === "Figure" ? "" : "r" }, name));
  const row = ({ name, plane, whole }: TensorView["statistics"][number]) =>
    el("tr", {}, el("td", {}, name), el("td", { class: "m r" }, plane), el("td", { class: "m r" }, whole));
  return el(
    "div",
    { class: "tensor-part" },
    headOf("Statistics"),
    arranged(el("table", { "aria-label": "Statistics" }, el("tr", {}, heads), view.statistics.map(row))),
  );
}

function histogram(view: TensorView): Child {
  const most = Math.max(1, ...view.histogram.map((bin) => bin.count));
  const bars = view.histogram.map((bin) =>
    el("span", {
      class: "tensor-bin",
      title: `${bin.low} to ${bin.high}: ${bin.count.toLocaleString("en")}`,
      style: { height: `${bin.count ? Math.max(2, (100 * bin.count) / most) : 0}%` },
    }),
  );
  const [first, last] = [view.histogram[0], view.histogram.at(-1)];
  if (!first || !last) return "";
  const label = `Histogram of the plane, ${first.low} to ${last.high}, at most ${most.toLocaleString("en")} in a bar`;
  return el(
    "div",
    { class: "tensor-part" },
    headOf("Histogram", "of the plane"),
    el("div", { class: "tensor-bins", role: "img", "aria-label": label }, bars),
    el("div", { class: "tensor-ends m muted" }, el("span", {}, first.low), el("span", {}, last.high)),
  );
}
