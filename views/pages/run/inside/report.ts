// What the whole run does to memory: a row for the accesses of a statement to a buffer.

import type { InsideReport, LaunchReport, LaunchRow, ReportRow, RooflineOf } from "#generated/models";
import { button, link } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { arranged, bytesText, headOf } from "#shared/tables";

const number = (value: number) => value.toLocaleString("en");

/** What all launches of a kernel do to memory, and what bounds them on a machine, which may be given. */
export function launchOf(
  report: LaunchReport,
  machine: string,
  toLine: (line: number) => void,
  toMachine: (text: string) => void,
): Child {
  const heads = ["Memory", "Line", "Reads", "Writes", "Cells", "Moved", "Lanes together"];
  const head = heads.map((text, at) => el("th", { class: at > 1 ? "r" : "" }, text));
  const rows = report.rows.map((row) => launchRow(row, toLine));
  const [tools, table] = reportTable(el("tr", {}, head), rows);
  const { roofline } = report;
  const most = Math.max(...roofline.parts.map(([, seconds]) => seconds), Number.MIN_VALUE);
  const share = roofline.peak ? roofline.attainable / roofline.peak : 0;
  const rate = `at most ${short(roofline.attainable / 1e9)} GFLOP/s, ${(100 * share).toFixed(2)} % of the peak`;
  return [
    headOf("Access report", `all blocks: ${report.launches.join(", ")}`, tools),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Accesses" }, table),
    headOf("What bounds it", roofline.bound),
    el(
      "div",
      { class: "bounds" },
      roofline.parts.map(([name, seconds]) => boundOf(name, seconds, most)),
    ),
    el(
      "div",
      { class: "foot" },
      `${number(roofline.operations)} operations, ${roofline.intensity.toFixed(2)} for each byte that moves${roofline.operations ? `: ${rate}` : ""}.`,
    ),
    machineOf(roofline, machine, toMachine),
  ];
}

/** A launch that is so large that it is counted only when that is asked for. */
export function uncounted(count: () => void): Child {
  return [
    headOf("Access report"),
    el("div", { class: "to wide" }, "This is a large launch. ", button("Count its accesses", "", "", count)),
  ];
}

function reportTable(head: HTMLElement, rows: readonly HTMLElement[]): readonly [tools: Child, table: Child] {
  const parts = [el("thead", {}, head), el("tbody", {}, rows)];
  return arranged(el("table", { class: "report", "aria-label": "Access report" }, parts));
}

function launchRow(row: LaunchRow, toLine: (line: number) => void): HTMLElement {
  const cells: readonly Child[] = [
    [row.buffer, row.scope === "global" ? "" : el("span", { class: "muted" }, ` ${row.scope}`)],
    link(String(row.line), () => toLine(row.line)),
    row.is_write ? "–" : number(row.count),
    row.is_write ? number(row.count) : "–",
    number(row.footprint),
    bytesText(row.moved_bytes),
    togetherOf(row),
  ];
  const look = row.conflict > 1 || row.used <= 0.5 ? "bad" : "";
  return el(
    "tr",
    { class: look, title: row.text },
    cells.map((cell, at) => el("td", { class: at > 1 ? "r" : at ? "" : "m" }, cell)),
  );
}

function togetherOf(row: LaunchRow): string {
  if (row.scope === "global") return `${short(row.sectors)} sectors, ${Math.round(100 * row.used)} % used`;
  if (row.scope !== "shared") return "–";
  return row.conflict > 1 ? `${row.conflict}-way bank conflict` : "no conflict";
}

function boundOf(name: string, seconds: number, most: number): HTMLElement {
  const bar = el("span", { class: "bound-bar", "aria-hidden": "true" });
  bar.append(el("span", { class: seconds === most ? "longest" : "", style: { width: `${(100 * seconds) / most}%` } }));
  return el("div", { class: "bound" }, el("span", { class: "label" }, name), bar, el("span", {}, timeOf(seconds)));
}

function machineOf(roofline: RooflineOf, machine: string, toMachine: (text: string) => void): Child {
  const field = el("input", {
    type: "text",
    value: machine,
    "aria-label": "Machine",
    placeholder: "flops=19.5e12, global=1.555e12, shared=19.5e12",
    change: () => toMachine(field.value.trim()),
  });
  return el(
    "div",
    { class: "to wide" },
    el("span", { class: "label" }, "Machine"),
    field,
    el("span", {}, roofline.machine),
  );
}

function timeOf(seconds: number): string {
  if (seconds < 1e-6) return `${short(seconds * 1e9)} ns`;
  return seconds < 1e-3 ? `${short(seconds * 1e6)} µs` : `${short(seconds * 1e3)} ms`;
}

function short(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en");
}

export function reportOf(report: InsideReport, loop: string, toLine: (line: number) => void): Child {
  const heads = ["Buffer", "Line", "Reads", "Writes", "Cells", loop ? `per ${loop}` : "", "Stride", "Reuse", "Lines"];
  const head = el(
    "tr",
    {},
    heads.filter(Boolean).map((text, at) => el("th", { class: at > 1 ? "r" : "" }, text)),
  );
  const rows = report.rows.map((row) => lineOf(row, loop, toLine));
  const [tools, table] = reportTable(head, rows);
  const whole = report.is_whole ? "whole run" : "first statements";
  const intensity = report.footprint_bytes ? report.operations / report.footprint_bytes : 0;
  const foot = `${number(report.operations)} operations, ${bytesText(report.footprint_bytes)}: ${intensity.toFixed(2)} for each byte; ${bytesText(report.moved_bytes)} without a cache`;
  return [
    headOf("Access report", `${whole}, known without stepping`, tools),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Accesses" }, table),
    el("div", { class: "foot" }, foot),
    report.peak_operations && report.operations ? el("div", { class: "foot" }, peakOf(report, intensity)) : "",
  ];
}

// Where the kernel stands below the roofs that were measured: that of memory, and that of operations.
function peakOf(report: InsideReport, intensity: number): string {
  const byMemory = intensity * report.peak_bytes;
  const most = Math.min(byMemory, report.peak_operations);
  const what = byMemory < report.peak_operations ? "memory" : "operations";
  const peaks = `${short(report.peak_operations / 1e9)} GFLOP/s, ${short(report.peak_bytes / 1e9)} GB/s`;
  const share = ((100 * most) / report.peak_operations).toFixed(1);
  return `With data from memory at most ${short(most / 1e9)} GFLOP/s, ${share} % of the peak, bound by ${what}. Measured here: ${peaks}.`;
}

function lineOf(row: ReportRow, loop: string, toLine: (line: number) => void): HTMLElement {
  const per = row.per_loop.find(([name]) => name === loop)?.[1];
  const cells: readonly Child[] = [
    `${row.buffer}${row.phase === "init" ? ", init" : ""}`,
    link(String(row.line), () => toLine(row.line)),
    row.is_write ? "–" : number(row.count),
    row.is_write ? number(row.count) : "–",
    number(row.footprint),
    ...(loop ? [per === undefined ? "–" : number(per)] : []),
    row.stride,
    row.reuse,
    number(row.lines),
  ];
  return el(
    "tr",
    {},
    cells.map((cell, at) => el("td", { class: at > 1 ? "r" : at ? "" : "m" }, cell)),
  );
}
