// What a film shows at which time: it steps, plays, and stands still at its end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at, type Moment, next, restOf, toggled } from "../../../views/pages/passes/film/player";

const START: Moment = { stage: 0, isPlaying: false, speed: "1" };

test("a film plays from where it stands to its end, and stops there", () => {
  const playing = toggled(at(START, 1, 3), 3);
  assert.deepEqual(playing, { stage: 1, isPlaying: true, speed: "1" });
  assert.deepEqual(next(playing, 3), { stage: 2, isPlaying: false, speed: "1" });
});

test("at its end a film plays again from its start", () => {
  assert.deepEqual(toggled(at(START, 2, 3), 3), { stage: 0, isPlaying: true, speed: "1" });
});

test("a film that plays pauses, and so it does for a stage that is asked for", () => {
  const playing = toggled(START, 3);
  assert.equal(toggled(playing, 3).isPlaying, false);
  assert.deepEqual(at(playing, 2, 3), { stage: 2, isPlaying: false, speed: "1" });
});

test("no step leads out of the film, and a film of one stage does not play", () => {
  assert.equal(at(START, -1, 3).stage, 0);
  assert.equal(at(START, 3, 3).stage, 2);
  assert.equal(toggled(START, 1).isPlaying, false);
});

test("what stays as it is passes by faster, and speed divides both", () => {
  assert.ok(restOf(false, "1") < restOf(true, "1"));
  assert.equal(restOf(true, "2") * 2, restOf(true, "1"));
});
