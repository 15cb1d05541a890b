// What components share, without a page: text, rows, search, addresses, words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cut, partsOf, widthOf } from "#shared/code";
import { placesOf } from "#shared/find";
import { isElsewhere } from "#shared/page";
import { isNear, wantedRows } from "#shared/rows";
import { bytesText, compared, count, csvOf, says, sentence } from "#shared/tables";
import { at, between, columnOf, unitOf } from "#shared/values";

test("a mark may begin and end inside a token", () => {
  const tokens = [
    ["alpha", "a"],
    ["beta", ""],
  ] as const;
  assert.deepEqual(cut(tokens, [[3, 7, "hit"]]), [
    [["alp", "a", false], ""],
    [["ha", "a", false], "hit"],
    [["be", "", false], "hit"],
    [["ta", "", false], ""],
  ]);
});

test("a long line comes in parts, and a mark at a border is cut there", () => {
  assert.deepEqual(partsOf("x".repeat(500), [[3, 7, "hit"]]), [[0, 500, [[3, 7, "hit"]]]]);
  assert.deepEqual(partsOf("x".repeat(600), [[245, 255, "hit"]]), [
    [0, 250, [[245, 250, "hit"]]],
    [250, 500, [[0, 5, "hit"]]],
    [500, 600, []],
  ]);
});

test("a long line is cut between characters, whatever they are made of", () => {
  const emoji = `${"x".repeat(249)}👩‍💻é`;
  const ends = partsOf(emoji + "y".repeat(300), []).map(([, to]) => to);
  assert.deepEqual(ends, [emoji.length, emoji.length + 250, emoji.length + 300]);
});

test("characters of East Asia take two columns", () => {
  assert.equal(widthOf("x = 1  # é"), 10);
  assert.equal(widthOf("# 重み"), 6);
});

test("columns count code points, offsets UTF-16 units", () => {
  const text = "a😀b";
  assert.equal(unitOf(text, 3), 3);
  assert.equal(columnOf(text, 3), 3);
  assert.equal(unitOf("abc", 9), 3);
  for (const column of [1, 2, 3, 4]) assert.equal(columnOf(text, unitOf(text, column)), column);
});

test("rows around the visible ones are wanted, and a small scroll changes nothing", () => {
  assert.deepEqual(wantedRows(0, 380, 5000), [0, 60]);
  const [first, last] = wantedRows(19 * 1000, 380, 5000);
  assert.deepEqual([first, last], [960, 1060]);
  assert.ok(isNear([960, 1060], [970, 1070], 5000));
  assert.ok(!isNear([960, 1060], [1000, 1100], 5000));
  assert.ok(!isNear([10, 200], [0, 190], 5000));
  assert.deepEqual(wantedRows(0, 380, 10), [0, 10]);
});

test("a word without capitals is found in any case", () => {
  assert.deepEqual(placesOf("ab", "xABab"), [1, 3]);
  assert.deepEqual(placesOf("AB", "xABab"), [1]);
  assert.deepEqual(placesOf("", "x"), []);
  assert.deepEqual(placesOf("aa", "aaaa"), [0, 2]);
});

test("another page, program or pipeline is elsewhere; the first parameters of a page are not", () => {
  const url = (text: string) => new URL(text, "http://host");
  assert.ok(isElsewhere(url("/run?sample=a"), url("/source?sample=a")));
  assert.ok(isElsewhere(url("/run?sample=b"), url("/run?sample=a")));
  assert.ok(!isElsewhere(url("/run?sample=a&node=1"), url("/run?sample=a")));
  assert.ok(!isElsewhere(url("/run?sample=a"), url("/run")));
});

test("numbers and messages are words", () => {
  assert.deepEqual([0, 999, 1000, 2_500_000, 3e9].map(bytesText), ["0 B", "999 B", "1.0 kB", "2.5 MB", "3.0 GB"]);
  assert.equal(count(1, "copy", "copies"), "1 copy");
  assert.equal(count(1200, "value"), "1,200 values");
  assert.equal(sentence("a -> b", "%"), "A → b.");
  assert.equal(sentence("%x is free!", "%"), "%x is free!");
});

test("a place outside a list is a mistake, and numbers are held between two others", () => {
  assert.throws(() => at([], 0), RangeError);
  assert.equal(between(0, 9, 4), 4);
  assert.equal(between(0, -1, 4), 0);
});

test("cells are compared as figures, with thousands, units and lines, and figures come before words", () => {
  const sorted = ["at run time", "1.2 kB", "896 B", "2.0 MB", "1,024 B"].toSorted(compared);
  assert.deepEqual(sorted, ["896 B", "1,024 B", "1.2 kB", "2.0 MB", "at run time"]);
  assert.deepEqual(["line 12", "line 9"].toSorted(compared), ["line 9", "line 12"]);
  assert.deepEqual(["x10", "x9", "-1.5", "2e3"].toSorted(compared), ["-1.5", "2e3", "x9", "x10"]);
});

test("rows are filtered by words anywhere, and by figures with commas and without", () => {
  assert.ok(says("FuseOps\n1,234 rows", ["1234", "fuse"]));
  assert.ok(says("FuseOps\n1,234 rows", ["1,234"]));
  assert.ok(!says("FuseOps", ["fuse", "inline"]));
  assert.ok(says("FuseOps", []));
});

test("a file of a table quotes commas and holds no formula", () => {
  const lines = [
    ["pass", "words"],
    ["=cmd()", 'two, "fused"'],
    ["-1.5", "a"],
  ];
  assert.equal(csvOf(lines), 'pass,words\n\'=cmd(),"two, ""fused"""\n-1.5,a\n');
});
