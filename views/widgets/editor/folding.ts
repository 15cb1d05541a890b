// Which lines fold: those that are indented below another one.

import { foldService } from "@codemirror/language";
import type { Text } from "@codemirror/state";

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
