// Where a picture lies, the edges of a path, and what of an SVG is taken over.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Graph } from "#generated/models";
import { fileName } from "#shared/download";
import { concrete } from "../../../views/widgets/graph/files";
import { boundsOf, centred, fitted, isInSight, zoomed } from "../../../views/widgets/graph/geometry";
import { edgesBetween } from "../../../views/widgets/graph/path";
import { isPlain } from "../../../views/widgets/graph/svg";

const CANVAS = { width: 400, height: 344 };

test("a fitted picture is in sight, with the buttons below it", () => {
  const box = [-10, 5, 1000, 200] as const;
  const at = fitted(CANVAS, box);
  assert.ok(isInSight(CANVAS, at, { left: -10, right: 990, top: 5, bottom: 205 }));
  assert.ok((5 + 200) * at.k + at.y < 300);
});

test("enlarging keeps the point under the pointer where it is", () => {
  const before = { x: 13, y: -7, k: 0.8 };
  const after = zoomed(before, 1.5, 100, 60);
  assert.equal(Math.round((100 - after.x) / after.k), Math.round((100 - before.x) / before.k));
  assert.equal(zoomed(before, 1000, 0, 0).k, 6);
  assert.equal(zoomed(before, 0, 0, 0).k, 0.05);
});

test("a part of a large picture is brought to the middle, but not over its border", () => {
  const box = [0, 0, 4000, 4000] as const;
  const part = { left: 2000, right: 2100, top: 2000, bottom: 2100 };
  const at = centred(CANVAS, box, part, 1);
  assert.ok(isInSight(CANVAS, at, part));
  const corner = centred(CANVAS, box, { left: 0, right: 10, top: 0, bottom: 10 }, 1);
  assert.deepEqual([corner.x, corner.y], [12, 12]);
});

test("bounds are in the coordinates of the picture, and elements that are hidden do not count", () => {
  const rect = (left: number, top: number, width: number, height: number) =>
    ({ left, top, width, height, right: left + width, bottom: top + height }) as DOMRect;
  const at = { x: 10, y: 20, k: 2 };
  const found = boundsOf(rect(100, 100, 400, 400), at, [rect(130, 140, 20, 10), rect(0, 0, 0, 0)]);
  assert.deepEqual(found, { left: 10, right: 20, top: 10, bottom: 15 });
});

test("a path takes the edges that lead from its begin to its end, by way of what it names and of ports", () => {
  const edges: Graph["edges"] = [
    ["a", "b", "value", "both"],
    ["b", "port", "value", "both"],
    ["port", "z", "value", "both"],
    ["a", "aside", "value", "both"],
    ["aside", "z", "value", "both"],
    ["b", "dead", "value", "both"],
  ];
  const ways = { from: new Set(["a"]), over: new Set(["b", "dead"]), to: new Set(["z"]) };
  assert.deepEqual(
    edgesBetween(edges, ways, (id) => id === "port"),
    [0, 1, 2],
  );
});

test("a value that could load or run something is no plain value", () => {
  for (const value of ["url(#x)", "javascript:alert(1)", "data:x", "a;b", "<x", "expression(1)", "&#x"]) {
    assert.equal(isPlain(value), false, value);
  }
  for (const value of ["#ffffff", "1,2 3,4", "none", "translate(3 4)"]) assert.equal(isPlain(value), true, value);
});

test("a file has the values of colours, and a name that any file system takes", () => {
  assert.match(concrete('fill="var(--cat0)"'), /^fill="#[0-9a-f]{6}"$/);
  assert.equal(concrete("var(--unknown) var(--mono)"), "var(--unknown) monospace");
  assert.equal(fileName("../@main<x>.svg"), ".._main_x_.svg");
});
