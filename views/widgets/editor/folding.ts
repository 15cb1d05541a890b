// What folds: lines that are indented below another one, and the parameters of a function that has many.

import { codeFolding, foldEffect, foldService } from "@codemirror/language";
import type { EditorState, Extension, Line, StateEffect, Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { el } from "#shared/dom";
import { manyParameters, parametersWords } from "#shared/signature";

/** The last line of the block that a line heads, itself if it heads none; lines count from 1. */
export function endOfBlock(text: (line: number) => string, count: number, head: number): number {
  const indent = indentOf(text(head));
  if (indent < 0) return head;
  let end = head;
  for (let line = head + 1; line <= count; line += 1) {
    const own = indentOf(text(line));
    if (own < 0) continue;
    if (own <= indent) break;
    end = line;
  }
  return end;
}

// Of a blank line -1.
function indentOf(text: string): number {
  return text.search(/\S/);
}

function textOf(doc: Text): (line: number) => string {
  return (line) => doc.line(line).text;
}

export const foldsIndented = foldService.of((state, start) => {
  const head = state.doc.lineAt(start);
  const end = endOfBlock(textOf(state.doc), state.doc.lines, head.number);
  return end > head.number ? { from: head.to, to: state.doc.line(end).to } : null;
});

const WORDS_COLUMNS = 60;

interface Range {
  readonly from: number;
  readonly to: number;
}

function parametersOf(line: Line): Range | null {
  const found = manyParameters(line.text);
  return found && { from: line.from + found.from, to: line.from + found.to };
}

/** Folds the parameters of the functions that have many. */
export function foldedParameters(state: EditorState): readonly StateEffect<Range>[] {
  const effects: StateEffect<Range>[] = [];
  for (let number = 1; number <= state.doc.lines; number += 1) {
    const found = parametersOf(state.doc.line(number));
    if (found) effects.push(foldEffect.of(found));
  }
  return effects;
}

/** Folds the parameters that the caret is in, if they are many; tells whether it did. */
export function foldParameters(view: EditorView): boolean {
  const place = view.state.selection.main.head;
  const found = parametersOf(view.state.doc.lineAt(place));
  if (!found || place < found.from || place > found.to) return false;
  // A fold that the caret is in opens at once.
  view.dispatch({ selection: { anchor: found.from }, effects: foldEffect.of(found) });
  return true;
}

/** Folding, with words for what is folded: how many parameters there are and the first names, else an ellipsis. */
export function folding(): Extension {
  return codeFolding({
    preparePlaceholder: (state, range) => {
      const line = state.doc.lineAt(range.from);
      const found = parametersOf(line);
      const names = found?.from === range.from ? manyParameters(line.text)?.names : undefined;
      return names ? `▸ ${parametersWords(names, WORDS_COLUMNS)}` : "…";
    },
    placeholderDOM: (_, open, words: string) =>
      el("span", { class: "cm-foldPlaceholder", title: "unfold", "aria-label": "folded code", click: open }, words),
  });
}
