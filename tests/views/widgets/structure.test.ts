// The rows of a structural comparison: of one kind or of all, and what there is to choose from.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Structure, StructureRow } from "#generated/models";
import { kindsOf, rowsOf } from "../../../views/widgets/diff/structure";

const row = (kind: StructureRow["kind"]): StructureRow => ({
  kind,
  part: "binding",
  function: "main",
  name: "x",
  details: [],
  before_line: 1,
  line: 1,
  node: "",
  before_node: "",
  confidence: "sure",
});
const FOUND: Structure = {
  rows: [row("added"), row("changed"), row("added")],
  counts: [
    ["changed", 1],
    ["added", 2],
  ],
  conclusion: "1 changed, 2 added",
  is_same: false,
};

test("rows of a kind are chosen, in order", () => {
  assert.equal(rowsOf(FOUND, "all").length, 3);
  assert.deepEqual(
    rowsOf(FOUND, "added").map(({ kind }) => kind),
    ["added", "added"],
  );
});

test("each kind is offered with its count and sign, and none if there is but one", () => {
  assert.deepEqual(
    kindsOf(FOUND).map(([, label]) => label),
    ["All 3", "~ changed 1", "+ added 2"],
  );
  assert.deepEqual(kindsOf({ ...FOUND, counts: [["added", 2]] }), []);
});
