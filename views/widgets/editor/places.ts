// Nodes and problems of a text by their places; lines and columns count from 1, in code points.

import type { Mend, NodeRange, Problem, Severity } from "#generated/models";
import type { Span } from "#shared/code";
import { unitOf } from "#shared/values";

/** The smallest node around a place; empty if there is none. */
export function nodeAt(ranges: readonly NodeRange[], line: number, column: number): string {
  let best: NodeRange | undefined;
  for (const range of ranges) {
    if (isInside(range, line, column) && (!best || sizeOf(range) < sizeOf(best))) best = range;
  }
  return best ? best[0] : "";
}

function isInside([, line, column, endLine, endColumn]: NodeRange, atLine: number, atColumn: number): boolean {
  const isBehindStart = atLine > line || (atLine === line && atColumn >= column);
  return isBehindStart && (atLine < endLine || (atLine === endLine && atColumn <= endColumn));
}

function sizeOf([, line, column, endLine, endColumn]: NodeRange): number {
  return (endLine - line) * 10000 + endColumn - column;
}

export function rangesOf(ranges: readonly NodeRange[], node: string): readonly NodeRange[] {
  return node ? ranges.filter((range) => range[0] === node) : [];
}

/** The problems that lie on a line. */
export function problemsAt(problems: readonly Problem[], line: number): readonly Problem[] {
  return problems.filter((problem) => problem.line <= line && line <= Math.max(problem.line, problem.end_line));
}

/** What is underlined of a line: from and to in UTF-16 units, and the class of the severity. */
export function squiggles(problems: readonly Problem[], line: number, text: string): readonly Span[] {
  return problemsAt(problems, line).map((problem): Span => {
    const indent = text.length - text.trimStart().length;
    const from = problem.line === line ? unitOf(text, problem.column || 1) : indent;
    const to = endOf(problem, line, text, from);
    return [Math.min(from, Math.max(0, text.length - 1)), Math.max(to, from + 1), `sq-${problem.severity}`];
  });
}

function endOf(problem: Problem, line: number, text: string, from: number): number {
  if (problem.end_line === line && problem.end_column) return unitOf(text, problem.end_column);
  return problem.end_line > line ? text.length : from + 1;
}

const RANK: readonly Severity[] = ["error", "warning", "note"];

/** The problems with their numbers, errors first: notes about a text's head would hide them in a low pane. */
export function bySeverity(problems: readonly Problem[]): readonly (readonly [Problem, number])[] {
  const numbered = problems.map((problem, i) => [problem, i] as const);
  return numbered.sort(([a], [b]) => RANK.indexOf(a.severity) - RANK.indexOf(b.severity));
}

/** The mends of errors, in the order of the text; of two that overlap the first, of two that are the same one. */
export function mendsOf(problems: readonly Problem[]): readonly Mend[] {
  const known = problems.flatMap((item) => (item.mend && item.severity === "error" ? [item.mend] : []));
  const found: Mend[] = [];
  for (const mend of known.sort((a, b) => a.line - b.line || a.column - b.column)) {
    const last = found.at(-1);
    const isSame = found.some((item) => isSameMend(item, mend));
    if (!isSame && (!last || isBefore(last, mend))) found.push(mend);
  }
  return found;
}

function isBefore(one: Mend, other: Mend): boolean {
  return one.end_line < other.line || (one.end_line === other.line && one.end_column <= other.column);
}

function isSameMend(one: Mend, other: Mend): boolean {
  return one.line === other.line && one.column === other.column && one.text === other.text;
}

/** How many problems there are of each severity that there is. */
export function counts(problems: readonly Problem[]): readonly (readonly [Severity, number])[] {
  return RANK.map((severity) => [severity, problems.filter((p) => p.severity === severity).length] as const).filter(
    ([, count]) => count,
  );
}
