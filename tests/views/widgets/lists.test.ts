// The lists of the other components: stages, operators, devices, kernels, regions, the inspector.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeRange, PipelineProps, Problem, Stage } from "#generated/models";
import { firstShown, placeOf, target } from "../../../views/pages/devices/devices/steps";
import {
  areaOf,
  entriesOf,
  neighbour as entryAfter,
  found,
  shortTitle,
} from "../../../views/pages/operators/catalog/list";
import { shortName, shortPath, sizeOf } from "../../../views/pages/partition/regions/words";
import { nodeAt, problemsAt, squiggles } from "../../../views/widgets/editor/places";
import { brief, neighbour, partsOfName, rowsOf } from "../../../views/widgets/pipeline/stages";

const stage = (index: number, is_changed: boolean): Stage => ({
  index,
  name: `Pass${index}`,
  is_changed,
  added_count: 0,
  removed_count: 0,
  change: "",
  seconds: 0,
  remark_count: 0,
  rewrite_count: 0,
  node_count: 0,
  problems: [],
  depth: 0,
  label: "",
  mark: "",
});
const PROPS: PipelineProps = {
  actions: [],
  verdicts: [],
  suspects: [],
  conclusion: "",
  height: "",
  has_views: false,
  has_sides: false,
};
const problem = (more: Partial<Problem>): Problem => ({
  severity: "error",
  code: "TY001",
  message: "",
  hint: "",
  line: 2,
  column: 3,
  end_line: 2,
  end_column: 5,
  explanation: "",
  node: "",
  excerpt: "",
  related: [],
  mend: null,
  ...more,
});

test("unchanged stages are counted, but for the ends and the current one", () => {
  const stages = [stage(0, false), stage(1, false), stage(2, true), stage(3, false), stage(4, false), stage(5, false)];
  const model = { stages, seconds: 0, text: "" };
  const listing = { model, props: PROPS, current: 2, isHiding: true };
  assert.deepEqual(
    rowsOf(listing).map((row) => ("stage" in row ? row.stage.index : row.words)),
    [0, "1 unchanged, hidden", 2, "2 unchanged, hidden", 5],
  );
  assert.equal(neighbour(listing, 1), 5);
  assert.equal(neighbour({ ...listing, isHiding: false }, 1), 3);
  assert.equal(neighbour({ ...listing, current: 5 }, 1), undefined);
});

test("stages that follow another one are hidden with what they follow", () => {
  const model = { stages: [0, 1, 2, 3].map((index) => stage(index, true)), seconds: 0, text: "" };
  const verdicts = [
    [0, "reference", "", -1],
    [1, "different", "", -1],
    [2, "different", "", 1],
    [3, "different", "", 1],
  ] as const;
  const listing = { model, props: { ...PROPS, verdicts, suspects: [1] }, current: 0, isHiding: true };
  assert.deepEqual(
    rowsOf(listing).map((row) => ("stage" in row ? row.stage.index : row.words)),
    [0, 1, "2 with the difference of 1, hidden"],
  );
});

test("names of passes and counts of lines are cut to their room", () => {
  assert.deepEqual(partsOfName("FoldConstant(limit=3)"), { words: ["Fold", "Constant"], options: "(limit=3)" });
  assert.deepEqual([999, 1000, 1549, 9999].map(brief), ["999", "1.0k", "1.5k", "10k"]);
});

test("a search has all its words, and the arrows stay inside what is found", () => {
  const entry = (id: string, name: string) => ({ id, name, summary: "", relay_name: "", realized_by: "" });
  const families = [
    { title: "A: one", entries: [entry("a", "relax.add"), entry("b", "relax.nn.relu")] },
    { title: "B", entries: [entry("c", "relax.nn.gelu")] },
  ];
  const entries = entriesOf(found(families, " NN lu "));
  assert.deepEqual(
    entries.map((item) => item.id),
    ["b", "c"],
  );
  assert.equal(entryAfter(entries, "b", 12), "c");
  assert.equal(entryAfter(entries, "a", 1), "b");
  assert.equal(entryAfter([], "a", 1), undefined);
  assert.equal(areaOf("packed/x"), "packed");
  assert.equal(shortTitle("Elements: arithmetic, and more"), "Elements");
});

test("of a long analysis the steps around the shown one are in the page", () => {
  assert.equal(placeOf(-1, 10), 9);
  assert.equal(firstShown(5000, 10000), 4800);
  assert.equal(firstShown(3, 10), 0);
  assert.equal(target(12, 10, 9), undefined);
  assert.equal(target(-5, 10, 9), 0);
});

test("the smallest node around the caret is selected", () => {
  const ranges: NodeRange[] = [
    ["outer", 1, 1, 9, 1],
    ["inner", 2, 3, 2, 8],
  ];
  assert.equal(nodeAt(ranges, 2, 8), "inner");
  assert.equal(nodeAt(ranges, 2, 9), "outer");
  assert.equal(nodeAt(ranges, 12, 1), "");
});

test("a problem underlines its columns, or the rest of its lines, and at least one character", () => {
  const one = problem({});
  assert.deepEqual(squiggles([one], 2, "  ab  "), [[2, 4, "sq-error"]]);
  const long = problem({ end_line: 4, end_column: 3 });
  assert.deepEqual(squiggles([long], 2, "  abcd"), [[2, 6, "sq-error"]]);
  assert.deepEqual(squiggles([long], 3, "   xyz"), [[3, 6, "sq-error"]]);
  assert.equal(squiggles([problem({ column: 99 })], 2, "ab").length, 1);
  assert.equal(problemsAt([long], 5).length, 0);
});

test("names, paths and sizes of regions are short", () => {
  assert.equal(shortName("cuda 3", "cuda"), "3");
  assert.deepEqual(shortPath(["a", "b"]), ["a", "b"]);
  assert.deepEqual(shortPath("abcdefghij".split("")), ["a", "b", "c", "d", "3 more", "h", "i", "j"]);
  const flow = { name: "x", source: "", type: "", size_bytes: null };
  assert.equal(sizeOf([flow, { ...flow, size_bytes: 1500 }]), "1.5 kB+");
});
