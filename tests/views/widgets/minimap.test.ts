// The map of a large graph: its scale, its nodes, and the frame around what is in sight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf, rectangles, scaleOf } from "../../../views/widgets/graph/minimap";

test("the longer side of a picture fills the map", () => {
  assert.equal(scaleOf([-8, 0, 1240, 100]), 0.1);
  assert.equal(scaleOf([0, 0, 100, 15000]), 0.01);
});

test("a node is drawn where it is, and not too small to be seen", () => {
  const parts = [
    { left: 1, right: 101, top: 2, bottom: 32 },
    { left: 5, right: 6, top: 5, bottom: 6 },
  ];
  assert.equal(rectangles(parts, 10), "M1.0 2.0h100.0v30.0h-100.0zM5.0 5.0h10.0v10.0h-10.0z");
  assert.equal(rectangles([], 10), "");
});

test("the frame is what is in sight of the picture", () => {
  const box = [0, 0, 1000, 4000] as const;
  assert.deepEqual(frameOf(box, [100, 200, 500, 300], 10), [100, 200, 500, 300]);
  assert.deepEqual(frameOf(box, [-200, -100, 5000, 600], 10), [0, 0, 1000, 500]);
  assert.deepEqual(frameOf(box, [900, 3900, 500, 600], 10), [900, 3900, 100, 100]);
});

test("a frame stays in the map when the picture was moved out of sight", () => {
  const box = [0, 0, 1000, 4000] as const;
  assert.deepEqual(frameOf(box, [2000, -9000, 500, 300], 10), [990, 0, 10, 10]);
});
