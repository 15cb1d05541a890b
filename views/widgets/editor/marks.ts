// What is drawn on the text: underlines and signs of problems, dim lines, the lines of the selected node, heat.
// All of it moves with the text while the user types, until Python has looked at the new text.

import { type EditorState, RangeSet, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter } from "@codemirror/view";
import type { HeatMark, LineHeat, Problem, Severity } from "#generated/models";
import { stripe } from "#shared/heat";
import { severitySign } from "#shared/marks";
import { bySeverity, squiggles } from "./places";

interface ProblemMarks {
  readonly underlines: DecorationSet;
  readonly signs: RangeSet<GutterMarker>;
}

/** Numbers of lines. */
interface LineMarks {
  readonly dim: readonly number[];
  readonly selected: readonly number[];
}

// A problem on more lines is underlined in the first ones only: a note may be about the whole of a long text.
const LINES_UNDERLINED = 200;

const setProblems = StateEffect.define<readonly Problem[]>();
const setLines = StateEffect.define<LineMarks>();
const setHeat = StateEffect.define<LineHeat["lines"]>();

class Sign extends GutterMarker {
  constructor(private readonly severity: Severity) {
    super();
  }

  override eq(other: Sign): boolean {
    return other.severity === this.severity;
  }

  override toDOM(): Node {
    return severitySign(this.severity);
  }
}

class Stripe extends GutterMarker {
  constructor(private readonly mark: HeatMark) {
    super();
  }

  override eq(other: Stripe): boolean {
    return other.mark.join() === this.mark.join();
  }

  override toDOM(): Node {
    return stripe(this.mark);
  }
}

const problemField = StateField.define<ProblemMarks>({
  create: () => ({ underlines: Decoration.none, signs: RangeSet.empty }),
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setProblems)) return marksOf(transaction.state.doc, effect.value);
    }
    if (!transaction.docChanged) return marks;
    return { underlines: marks.underlines.map(transaction.changes), signs: marks.signs.map(transaction.changes) };
  },
  provide: (field) => EditorView.decorations.from(field, (marks) => marks.underlines),
});

const lineField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lines, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setLines)) return linesOf(transaction.state.doc, effect.value);
    }
    return lines.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const heatField = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(stripes, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setHeat)) return stripesOf(transaction.state.doc, effect.value);
    }
    return stripes.map(transaction.changes);
  },
});

function stripesOf(doc: Text, lines: LineHeat["lines"]): RangeSet<GutterMarker> {
  const there = lines.filter(([line]) => line >= 1 && line <= doc.lines);
  return RangeSet.of(
    there.map(([line, mark]) => new Stripe(mark).range(doc.line(line).from)),
    true,
  );
}

function marksOf(doc: Text, problems: readonly Problem[]): ProblemMarks {
  const underlines = problems.filter((problem) => problem.line > 0).flatMap((problem) => underlinesOf(doc, problem));
  const firsts = new Map<number, Severity>();
  for (const [problem] of bySeverity(problems)) {
    if (problem.line > 0 && problem.line <= doc.lines && !firsts.has(problem.line))
      firsts.set(problem.line, problem.severity);
  }
  const signs = [...firsts].map(([line, severity]) => new Sign(severity).range(doc.line(line).from));
  return { underlines: Decoration.set(underlines, true), signs: RangeSet.of(signs, true) };
}

function underlinesOf(doc: Text, problem: Problem) {
  const last = Math.min(doc.lines, Math.max(problem.line, problem.end_line), problem.line + LINES_UNDERLINED);
  const found = [];
  for (let number = problem.line; number <= last; number += 1) {
    const line = doc.line(number);
    for (const [from, to, look] of squiggles([problem], number, line.text)) {
      const end = Math.min(line.from + to, line.to);
      const mark = Decoration.mark({ class: look, problem, inclusive: false });
      if (line.from + from < end) found.push(mark.range(line.from + from, end));
    }
  }
  return found;
}

function linesOf(doc: Text, { dim, selected }: LineMarks): DecorationSet {
  const mark = (look: string) => (number: number) => Decoration.line({ class: look }).range(doc.line(number).from);
  const isThere = (number: number) => number >= 1 && number <= doc.lines;
  const lines = [...dim.filter(isThere).map(mark("dim")), ...selected.filter(isThere).map(mark("sel"))];
  return Decoration.set(lines, true);
}

/** The fields, and the gutters with stripes and signs. */
export const marking = [
  problemField,
  lineField,
  heatField,
  gutter({ class: "cm-heat", markers: (view) => view.state.field(heatField) }),
  gutter({ class: "cm-signs", markers: (view) => view.state.field(problemField).signs }),
];

export function showProblems(view: EditorView, problems: readonly Problem[]): void {
  view.dispatch({ effects: setProblems.of(problems) });
}

export function showLines(view: EditorView, lines: LineMarks): void {
  view.dispatch({ effects: setLines.of(lines) });
}

export function showHeat(view: EditorView, lines: LineHeat["lines"]): void {
  view.dispatch({ effects: setHeat.of(lines) });
}

/** The problems that are underlined on the line at a place, each once. */
export function problemsOn(state: EditorState, place: number): readonly Problem[] {
  const line = state.doc.lineAt(place);
  const found = new Set<Problem>();
  state.field(problemField).underlines.between(line.from, line.to, (_from, _to, mark) => {
    found.add(mark.spec.problem as Problem);
  });
  return [...found];
}
