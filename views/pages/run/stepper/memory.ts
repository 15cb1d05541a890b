// Memory: bytes over time, and a row for each storage with the tensors in it; one time axis with the strip below.

import type { MemoryFault, MemoryView } from "#generated/models";
import { link } from "#shared/controls";
import { type Child, el, find, prose, replace, svg, targetOf } from "#shared/dom";
import { consume, stepOf } from "#shared/keys";
import { severitySign } from "#shared/marks";
import { bytesText } from "#shared/tables";
import { between } from "#shared/values";
import { rowOf, share } from "./memory_rows";

const CURVE_HEIGHT = 72;
const CURVE_WIDTH = 1000;
const FAULTS_SHOWN = 20;
const BOX = ".memory-box";

export class Memory {
  private model: MemoryView | null | undefined;
  private at = 0;
  private dead: boolean[] = [];
  private readonly now = el("span", { class: "n" });
  private readonly head = el("div", { class: "memory-head" });
  private readonly curve = el("div", { class: "memory-curve", title: "Bytes in use; a click leads to the time" });
  private readonly rows = el("div", { class: "memory-rows", role: "list", "aria-label": "Storages and tensors" });
  private readonly line = el("div", { class: "memory-now", "aria-hidden": "true" });

  constructor(
    box: HTMLElement,
    private readonly onTime: (time: number) => void,
  ) {
    box.append(this.head, el("div", { class: "memory-chart" }, this.curve, this.rows, this.line));
    this.curve.addEventListener("click", (event) => this.onClick(event));
    box.addEventListener("keydown", (event) => this.onKey(event));
  }

  setModel(model: MemoryView | null): void {
    if (model === this.model) return;
    this.model = model;
    if (!model) {
      replace(this.head, el("span", { class: "muted" }, "Following the memory of the run."));
      this.curve.replaceChildren();
      this.rows.replaceChildren();
      return;
    }
    const top = this.rows.scrollTop;
    replace(this.head, this.headOf(model));
    const peak = el("div", { class: "memory-label muted" }, `peak ${bytesText(model.peak_bytes)}`);
    this.curve.replaceChildren(peak, curveOf(model));
    this.rows.replaceChildren(...model.rows.map((row) => rowOf(model, row, this.onTime)));
    this.dead = [];
    const first = find(this.rows, BOX);
    if (first) first.tabIndex = 0;
    this.rows.scrollTop = top;
    this.setTime(this.at);
  }

  setTime(time: number): void {
    this.at = time;
    const { model } = this;
    if (!model) return;
    // Set where it is used: on the chart it would restyle every row at every step.
    this.line.style.left = `calc(20px + (100% - 42px) * ${share(model, time)})`;
    this.now.textContent = `${bytesText(sizeAt(model, time))} at time ${time}`;
    model.rows.forEach(([, , , start, end], i) => {
      const isDead = time < start || time >= Math.max(end, start + 1);
      if (this.dead[i] === isDead) return;
      this.dead[i] = isDead;
      this.rows.children[i]?.classList.toggle("dead", isDead);
    });
  }

  private headOf(model: MemoryView): Child {
    const peak = link("Go to the peak", () => this.onTime(model.peak_time));
    const faults = model.faults.slice(0, FAULTS_SHOWN).map((fault) => this.faultLine(fault));
    return [
      el("div", { class: "memory-line" }, el("span", {}, model.summary), this.now, peak),
      keyOf(model),
      faults.length ? el("div", { class: "memory-faults", role: "alert" }, faults) : "",
      model.note ? el("div", { class: "muted" }, model.note) : "",
    ];
  }

  private faultLine(fault: MemoryFault): HTMLElement {
    const write = link("Step to the write", () => this.onTime(fault.write));
    const read = link("Step to the read", () => this.onTime(fault.read));
    return el("div", {}, severitySign("error"), " ", prose(fault.message), " ", write, " ", read);
  }

  // The tensors are one stop of the tab order; the arrows lead from one to the next.
  private onKey(event: KeyboardEvent): void {
    const all = [...this.rows.querySelectorAll<HTMLElement>(BOX)];
    const target = targetOf(event);
    const index = target instanceof HTMLElement ? all.indexOf(target) : -1;
    const step = stepOf(event, { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 });
    const ends: Readonly<Record<string, number>> = { Home: 0, End: all.length - 1 };
    const next = all[ends[event.key] ?? (step ? index + step : -1)];
    const current = all[index];
    if (!next || !current) return;
    consume(event);
    current.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  private onClick(event: MouseEvent): void {
    const rect = this.curve.querySelector("svg")?.getBoundingClientRect();
    if (!rect || !this.model) return;
    const place = between(0, (event.clientX - rect.left) / rect.width, 1);
    this.onTime(Math.round(place * this.model.total));
  }
}

/** The bytes that are taken at a time. */
export function sizeAt(model: MemoryView, time: number): number {
  const last = model.times.findLastIndex((from) => from <= time);
  return model.sizes[last] ?? 0;
}

function keyOf(model: MemoryView): HTMLElement {
  const entry = (look: string, text: string) =>
    el("span", { class: "legend-entry" }, el("span", { class: `memory-key ${look}` }), text);
  return el(
    "div",
    { class: "memory-line muted" },
    entry("used", "written to last use"),
    entry("held", "held"),
    entry("storage", "storage"),
    model.faults.length ? entry("faulty", "! used too late") : "",
  );
}

/** The outline of the bytes over time, in a box of 1000 by 72. */
export function outlineOf(model: MemoryView): string {
  const steps = model.times.map((time, i) => {
    const x = share(model, time) * CURVE_WIDTH;
    const y = heightOf(model, model.sizes[i] ?? 0);
    return i ? `H${x}V${y}` : `M${x},${y}`;
  });
  return `${steps.join("")}H${CURVE_WIDTH}`;
}

function heightOf(model: MemoryView, size: number): number {
  return (CURVE_HEIGHT - 4) * (1 - size / Math.max(1, model.peak_bytes)) + 2;
}

function curveOf(model: MemoryView): SVGElement {
  const path = outlineOf(model);
  const first = share(model, model.times[0] ?? 0) * CURVE_WIDTH;
  const peak = { y: heightOf(model, Math.max(1, model.peak_bytes)), x: share(model, model.peak_time) * CURVE_WIDTH };
  const thin = { "vector-effect": "non-scaling-stroke" };
  const blue = { stroke: "var(--cat0)", ...thin };
  const frame = { viewBox: `0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`, preserveAspectRatio: "none" };
  const level = { x1: 0, x2: CURVE_WIDTH, y1: peak.y, y2: peak.y, stroke: "var(--line2)", "stroke-dasharray": "4 4" };
  const moment = { x1: peak.x, x2: peak.x, y1: 0, y2: CURVE_HEIGHT, "stroke-dasharray": "2 3" };
  return svg(
    "svg",
    { ...frame, role: "img", "aria-label": model.summary },
    svg("path", { d: `${path}V${CURVE_HEIGHT}H${first}Z`, fill: "var(--cat0Bg)" }),
    svg("path", { d: path, fill: "none", "stroke-width": 1.5, ...blue }),
    svg("line", { ...level, ...thin }),
    svg("line", { ...moment, ...blue }),
  );
}
