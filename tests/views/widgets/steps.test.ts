// The list of a pipeline: how it is changed, what it reads as, and which passes are offered.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { GivenPass, KnownPass, PassOption } from "#generated/models";
import { added, literalOf, moved, offers, removed, textOf, withOption } from "../../../views/pages/passes/steps/chain";

const step = (name: string, given: GivenPass["given"] = []): GivenPass => ({ name, known: 0, given });
const option = (kind: PassOption["kind"], fallback = ""): PassOption => ({
  name: "o",
  kind,
  default: fallback,
  choices: [],
});
const known = (name: string, summary: string): KnownPass => ({ name, dialect: "relax", summary, options: [] });
const CHAIN = [step("A"), step("B", [{ name: "o", shown: "4", literal: "4" }]), step("C")];

test("a list reads as one line of text", () => {
  assert.equal(textOf(CHAIN), "A, B(o=4), C");
  assert.equal(textOf(moved(CHAIN, 0, 2)), "B(o=4), C, A");
  assert.equal(textOf(moved(CHAIN, 2, 0)), "C, A, B(o=4)");
  assert.equal(textOf(moved(CHAIN, 0, -1)), "A, B(o=4), C");
  assert.equal(textOf(removed(CHAIN, 1)), "A, C");
  assert.equal(textOf(added(CHAIN, 1, "D", 0)), "A, D, B(o=4), C");
});

test("an option is written as its kind asks, and a default is not", () => {
  assert.equal(textOf(withOption(CHAIN, 0, option("flag", "False"), "True")), "A(o=True), B(o=4), C");
  assert.equal(textOf(withOption(CHAIN, 1, option("number", "256"), "256")), "A, B, C");
  assert.equal(textOf(withOption(CHAIN, 1, option("number", "256"), "")), "A, B, C");
  assert.equal(literalOf(option("list"), "main, f,"), "['main', 'f']");
  assert.equal(literalOf(option("text"), "it's \\ \n"), "'it\\'s \\\\ \\n'");
});

test("a pass is found by its name, then by what it does", () => {
  const passes = [known("Other", "Fuses loops."), known("FuseTIR", "One."), known("DefuseOps", "Two.")];
  assert.deepEqual(
    offers(passes, "fuse").map(([place]) => place),
    [1, 2, 0],
  );
  assert.equal(offers(passes, "nothing").length, 0);
});
