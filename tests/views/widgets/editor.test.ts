// The editor without a page: folding, indentation, the smallest change that makes one text of another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeSet, Text } from "@codemirror/state";
import type { Mend, Problem } from "#generated/models";
import { endOfBlock } from "../../../views/widgets/editor/folding";
import { mendsOf } from "../../../views/widgets/editor/places";
import { Since } from "../../../views/widgets/editor/since";
import { indentAfter, replacement, withLineFeeds } from "../../../views/widgets/editor/text_view";

const TEXT = ["def f():", "    if x:", "        y", "", "    z", "", "g"];

test("a line folds what is indented below it, blank lines inside included", () => {
  const ends = TEXT.map((_, i) => endOfBlock((line) => TEXT[line - 1] ?? "", TEXT.length, i + 1));
  assert.deepEqual(ends, [5, 3, 3, 4, 5, 6, 7]);
});

test("a line behind a colon or a brace is indented further", () => {
  assert.equal(indentAfter("  x = 1"), "  ");
  assert.equal(indentAfter("    def f():  "), "        ");
  assert.equal(indentAfter("fn (%x) {"), "    ");
});

test("one text becomes another by the smallest change", () => {
  for (const [before, after] of [
    ["", "abc"],
    ["abc", ""],
    ["aXb", "aYYb"],
    ["aaa", "aa"],
    ["aa", "aaa"],
    ["same", "same"],
  ] as const) {
    const { from, to, insert } = replacement(before, after);
    assert.equal(before.slice(0, from) + insert + before.slice(to), after);
    assert.ok(insert.length <= Math.max(0, after.length - before.length) + 2);
  }
  assert.equal(withLineFeeds("a\r\nb\rc\n"), "a\nb\nc\n");
});

test("errors that know their mend are mended in the order of the text, of two that overlap the first", () => {
  const problem = (line: number, column: number, end: number, more: Partial<Mend> = {}): Problem => {
    const place = { line, column, end_line: line, end_column: end };
    const mend = { text: `${line}:${column}`, title: "", ...place, ...more };
    return { severity: "error", ...place, mend } as Problem;
  };
  const problems: readonly Problem[] = [
    problem(7, 9, 12),
    problem(2, 5, 9),
    problem(2, 8, 11),
    problem(2, 9, 12),
    { ...problem(3, 1, 2), severity: "warning" },
    { ...problem(4, 1, 2), mend: null },
    problem(5, 1, 2, { end_line: 6 }),
    problem(6, 1, 3),
    problem(8, 4, 4, { text: "n = T.int64()" }),
    problem(8, 4, 4, { text: "m = T.int64()" }),
    problem(8, 4, 4, { text: "n = T.int64()" }),
  ];
  assert.deepEqual(
    mendsOf(problems).map((item) => item.text),
    ["2:5", "2:9", "5:1", "7:9", "n = T.int64()", "m = T.int64()"],
  );
});

test("a mend is written where its place is by now, and not where something was written since", () => {
  const since = new Since();
  const doc = Text.of(["a = bb", "c = dd", "e = ff"]);
  const mend = (line: number): Mend => ({ text: "x", title: "", line, column: 5, end_line: line, end_column: 7 });
  since.mark(doc);
  assert.deepEqual(since.placeOf(doc.toString(), mend(2)), { from: 11, to: 13, insert: "x" });
  const changes = ChangeSet.of([{ from: 4, to: 6, insert: "longer" }], doc.length);
  since.add(changes);
  const later = changes.apply(doc);
  since.mark(later);
  assert.equal(since.placeOf(doc.toString(), mend(1)), null);
  assert.deepEqual(since.placeOf(doc.toString(), mend(2)), { from: 15, to: 17, insert: "x" });
  since.add(ChangeSet.of([{ from: 0, insert: "n = 1\n" }], later.length));
  assert.deepEqual(since.placeOf(later.toString(), mend(3)), { from: 28, to: 30, insert: "x" });
  assert.equal(since.placeOf("another text", mend(1)), undefined);
});
