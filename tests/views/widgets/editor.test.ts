// The editor without a page: folding, indentation, the smallest change that makes one text of another.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Problem } from "#generated/models";
import { endOfBlock } from "../../../views/widgets/editor/folding";
import { mendable } from "../../../views/widgets/editor/places";
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
  const problem = (line: number, column: number, end: number, more: Partial<Problem> = {}): Problem =>
    ({
      severity: "error",
      line,
      column,
      end_line: line,
      end_column: end,
      fix: `${line}:${column}`,
      ...more,
    }) as Problem;
  const problems = [
    problem(7, 9, 12),
    problem(2, 5, 9),
    problem(2, 8, 11),
    problem(2, 9, 12),
    problem(3, 1, 2, { severity: "warning" }),
    problem(4, 1, 2, { fix: "" }),
    problem(5, 1, 2, { end_line: 6 }),
  ];
  assert.deepEqual(
    mendable(problems).map((item) => item.fix),
    ["2:5", "2:9", "7:9"],
  );
});
