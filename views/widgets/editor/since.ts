// What was written since Python was sent a text: what it says of places in that text is found where they stand by now.

import { type ChangeDesc, ChangeSet, type Text } from "@codemirror/state";
import type { Mend } from "#generated/models";
import { unitOf } from "#shared/values";

/** The part of a text that another one replaces: from, to, and what stands there then. */
export interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

interface Sent {
  readonly doc: Text;
  readonly text: string;
  /** From that text to the one that is shown. */
  readonly changes: ChangeDesc;
}

// Answers come in order, so that the texts before the last few are answered.
const KEPT = 4;

/** Where a line and a column stand in a text. */
export function offsetIn(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(1, line), doc.lines));
  return found.from + unitOf(found.text, column || 1);
}

export class Since {
  private sent: readonly Sent[] = [];

  /** This is the text that is shown, and Python is sent it or has sent it. */
  mark(doc: Text): void {
    if (this.sent.at(-1)?.doc === doc) return;
    const made = { doc, text: doc.toString(), changes: ChangeSet.empty(doc.length).desc };
    this.sent = [...this.sent, made].slice(-KEPT);
  }

  add(changes: ChangeDesc): void {
    this.sent = this.sent.map((item) => ({ ...item, changes: item.changes.composeDesc(changes) }));
  }

  /**
   * What a mend of a text replaces in the one that is shown: null where something was written since, undefined if
   * nothing is known of the text.
   */
  placeOf(text: string, mend: Mend): Replacement | null | undefined {
    const known = this.sent.findLast((item) => item.text === text);
    if (!known) return undefined;
    const from = offsetIn(known.doc, mend.line, mend.column);
    const to = offsetIn(known.doc, mend.end_line, mend.end_column);
    if (known.changes.touchesRange(from, to)) return null;
    const at = known.changes.mapPos(from, 1);
    return { from: at, to: Math.max(at, known.changes.mapPos(to, -1)), insert: mend.text };
  }
}
