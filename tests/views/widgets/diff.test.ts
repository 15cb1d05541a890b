// The rows of two texts side by side, and long lines on several rows.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Diff, DiffSide } from "#generated/models";
import { manyParameters, parametersWords } from "#shared/signature";
import { type FoldKey, foldOf, itemsOf, keyOf, placeAt, placeOf, rangesOf } from "../../../views/widgets/diff/items";
import { shownRows, wrapped } from "../../../views/widgets/diff/wrap";
import { tokensBetween } from "../../../views/widgets/shared/code";

const side = (number: number, text: string): DiffSide => [number, "unchanged", text, `n${number}`, []];

function model(texts: readonly string[], folds: Diff["folds"]): Diff {
  const rows = texts.map((text, i) => [side(i + 1, text), side(i + 1, text)] as const);
  const counts = { added_count: 0, removed_count: 0, changed_count: 0, moved_count: 0 };
  return { before_title: "", after_title: "", rows, folds, ...counts, is_unchanged: false, language: "tvmscript" };
}

test("parts of a line follow each other without a gap, in rows that have room", () => {
  const text = `    call(${Array.from({ length: 40 }, (_, i) => `argument_${i}`).join(", ")})`;
  for (const columns of [24, 40, 80, 1000]) {
    const parts = wrapped(text, columns);
    assert.equal(parts.map(([from, to]) => text.slice(from, to)).join(""), text);
    for (const [from, to, hang] of parts) assert.ok(text.slice(from, to).trimEnd().length + hang <= columns);
  }
});

test("a word that is longer than a row is cut", () => {
  assert.deepEqual(wrapped("x".repeat(50), 24), [
    [0, 24, 0],
    [24, 44, 4],
    [44, 50, 4],
  ]);
});

test("of a line on many rows those without a mark are folded", () => {
  const parts = wrapped("x ".repeat(200), 24);
  const folded = shownRows(parts.length, [[[], parts]], false);
  assert.deepEqual(folded.slice(0, 2), [
    [0, 0],
    [1, 0],
  ]);
  assert.deepEqual(folded.slice(2), [[2, parts.length - 2]]);
  assert.equal(shownRows(parts.length, [[[], parts]], true).length, parts.length);
  const [from, to] = parts[5] ?? [0, 0];
  const marked = shownRows(parts.length, [[[[from, to]], parts]], false);
  assert.deepEqual(
    marked.map(([row, hidden]) => [row, hidden]),
    [
      [0, 0],
      [1, 0],
      [2, 3],
      [5, 0],
      [6, parts.length - 6],
    ],
  );
});

test("tokens of a part spell the part", () => {
  const tokens = [
    ["alpha", "a"],
    ["beta", "b", true],
    ["gamma", ""],
  ] as const;
  assert.deepEqual(tokensBetween(tokens, 3, 11), [
    ["ha", "a", false],
    ["beta", "b", true],
    ["ga", "", false],
  ]);
});

test("a fold takes one row until it is opened", () => {
  const diff = model(["a", "b", "c", "d"], [[1, 2]]);
  const items = itemsOf(diff, 80, new Set());
  assert.deepEqual(items, [
    { kind: "line", row: 0, part: 0 },
    { kind: "rows", row: 1, count: 2 },
    { kind: "line", row: 3, part: 0 },
  ]);
  assert.equal(placeOf(diff, items, "n4"), 2);
  assert.equal(placeOf(diff, items, "n2"), -1);
  const fold = items[1];
  assert.ok(fold);
  assert.equal(itemsOf(diff, 80, new Set<FoldKey>([keyOf(fold)])).length, 4);
});

test("what differs behind a character of two units is underlined where it stands", () => {
  const line: DiffSide = [1, "changed", "\u{1F600}\u{1F600} = 12", "", [[5, 7]]];
  assert.deepEqual(
    rangesOf(line).map(([from, to]) => line[2].slice(from, to)),
    ["12"],
  );
});

const NAMES = Array.from({ length: 40 }, (_, i) => `weight_${i}`);
const SIGNATURE = `    def main(${NAMES.map((name) => `${name}: R.Tensor((2, 3), dtype="a)b")`).join(", ")}) -> R.Tuple(R.Tensor):`;

test("the parameters of a function that has many are found with their names", () => {
  const found = manyParameters(SIGNATURE);
  assert.ok(found);
  assert.deepEqual(found.names, NAMES);
  assert.equal(SIGNATURE.slice(found.from - 5, found.from), "main(");
  assert.equal(SIGNATURE.slice(found.to, found.to + 4), ") ->");
  assert.equal(manyParameters(`    x = main(${NAMES.join(", ")})`), null);
  assert.equal(manyParameters(SIGNATURE.slice(0, found.to)), null);
  assert.equal(
    manyParameters('    def main(x: R.Tensor((2, 3), dtype="float32"), y: R.Tuple(R.Tensor, R.Tensor)):'),
    null,
  );
  assert.equal(parametersWords(found.names, 45), "40 parameters: weight_0, weight_1, …");
  assert.equal(parametersWords(found.names, 5), "40 parameters");
});

test("many parameters take one row until they are opened, and a search finds the row behind", () => {
  const diff = model(["class Module:", SIGNATURE, "        return x"], []);
  const items = itemsOf(diff, 60, new Set());
  assert.deepEqual(
    items.map((item) => item.kind),
    ["line", "signature", "line"],
  );
  const row = diff.rows[1]?.[0] ?? null;
  const inside = SIGNATURE.indexOf("weight_30");
  assert.equal(placeAt(items, 1, row, SIGNATURE.indexOf("main"), 60), 1);
  assert.equal(placeAt(items, 1, row, inside, 60), -1);
  const fold = items[1];
  assert.ok(fold);
  const opened = itemsOf(diff, 60, new Set<FoldKey>([keyOf(fold)]));
  assert.equal(opened[1]?.kind, "opened");
  const at = opened[placeAt(opened, 1, row, inside, 60)];
  assert.ok(at?.kind === "line");
  const [from, to] = wrapped(SIGNATURE, 60)[at.part] ?? [0, 0];
  assert.ok(from <= inside && inside < to);
});

test("a row in a fold is known by it", () => {
  const diff = model(["a", "b", "c", "d"], [[1, 2]]);
  assert.deepEqual(
    [0, 1, 2, 3].map((row) => foldOf(diff, row)),
    [undefined, 1, 1, undefined],
  );
});
