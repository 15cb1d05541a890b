// The editor without a page: folding, indentation, the smallest change that makes one text of another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfBlock } from "../../../views/widgets/editor/folding";
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
