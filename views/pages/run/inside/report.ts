// What the whole run does to memory: a row for the accesses of a statement to a buffer.

import type { InsideReport, ReportRow } from "#generated/models";
import { link } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { bytesText, headOf } from "#shared/tables";

const number = (value: number) => value.toLocaleString("en");

export function reportOf(report: InsideReport, loop: string, toLine: (line: number) => void): Child {
  const heads = ["Buffer", "Line", "Reads", "Writes", "Cells", loop ? `per ${loop}` : "", "Stride", "Reuse", "Lines"];
  const head = el(
    "tr",
    {},
    heads.filter(Boolean).map((text, at) => el("th", { class: at > 1 ? "r" : "" }, text)),
  );
  const rows = report.rows.map((row) => lineOf(row, loop, toLine));
  const whole = report.is_whole ? "whole run" : "first statements";
  const intensity = report.footprint_bytes ? report.operations / report.footprint_bytes : 0;
  const foot = `${number(report.operations)} operations, ${bytesText(report.footprint_bytes)}: ${intensity.toFixed(2)} for each byte; ${bytesText(report.moved_bytes)} without a cache`;
  return [
    headOf("Access report", `${whole}, known without stepping`),
    el("div", { class: "scroll" }, el("table", { class: "report" }, el("thead", {}, head), el("tbody", {}, rows))),
    el("div", { class: "foot" }, foot),
  ];
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
