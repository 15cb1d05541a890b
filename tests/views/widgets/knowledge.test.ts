// What the editor offers at a place: operators, names in scope, arguments by name, dtypes.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NameFact, Term } from "#generated/models";
import {
  definitionOf,
  type Known,
  lastValueOf,
  namesOn,
  offerAt,
  openCall,
  signatureAt,
  termOf,
  wordAt,
} from "../../../views/widgets/editor/knowledge";
import { occurrencesOf, refusalOf } from "../../../views/widgets/editor/rename";

const term = (name: string, kind: Term["kind"], keywords: readonly string[] = []): Term => ({
  name,
  kind,
  signature: "",
  summary: "",
  keywords,
});
const NAMES: readonly NameFact[] = [
  ["main", "function", "", 2, 9, 1, 20],
  ["x", "variable", "(n,) f32", 2, 14, 2, 10],
  ["x", "variable", "() f32", 5, 9, 2, 10],
  ["n", "dimension", "i64", 0, 0, 2, 10],
  ["x", "variable", "() i64", 11, 14, 11, 20],
];
const SCRIPT: Known = {
  language: "tvmscript",
  terms: [
    term("nn.softmax", "operator", ["axis=-1"]),
    term("Tensor", "type"),
    term("float32", "dtype"),
    term("return", "keyword"),
  ],
  names: NAMES,
  values: [],
};
const RELAY: Known = {
  language: "relay",
  terms: [term("nn.softmax", "operator", ["axis=-1"]), term("float32", "dtype")],
  names: [
    ["@main", "function", "", 1, 5, 1, 9],
    ["%x", "variable", "(3,) f32", 1, 11, 1, 9],
  ],
  values: [],
};

function labels(known: Known, before: string, line = 6): readonly string[] {
  return offerAt(known, { before, line })?.options.map((option) => option.label) ?? [];
}

test("behind R. there are operators and types, and nothing else", () => {
  assert.deepEqual(labels(SCRIPT, "    y = R."), ["nn.softmax", "Tensor"]);
  assert.equal(offerAt(SCRIPT, { before: "y = relax.nn.so", line: 6 })?.from, 10);
  assert.deepEqual(labels(SCRIPT, "y = cls."), []);
});

test("a word is a name in scope, a keyword, or an argument of the call that is open", () => {
  assert.deepEqual(labels(SCRIPT, "y = a"), ["main", "x", "n", "return"]);
  assert.deepEqual(labels(SCRIPT, "y = R.nn.softmax(x, a").slice(0, 1), ["axis="]);
  assert.deepEqual(labels(SCRIPT, "y = a", 15), ["main", "x", "return"]);
});

test("inside quotes there are dtypes", () => {
  assert.deepEqual(labels(SCRIPT, 'R.Tensor((2,), "fl'), ["float32"]);
  assert.deepEqual(labels(SCRIPT, 'f("a", b'), ["main", "x", "n", "return"]);
});

test("in Relay a sign says what is meant", () => {
  assert.deepEqual(labels(RELAY, "  %"), ["%x"]);
  assert.deepEqual(labels(RELAY, "  @m"), ["@main"]);
  assert.deepEqual(labels(RELAY, "nn.softmax(%x, a"), ["axis=", "nn.softmax", "float32"]);
  assert.deepEqual(labels({ ...RELAY, language: "plain" }, "  %"), []);
});

test("of several definitions of a name the last one before the line counts", () => {
  const typeAt = (line: number) => namesOn(NAMES, line).find(([name]) => name === "x")?.[2];
  assert.deepEqual([2, 4, 5, 9, 12].map(typeAt), ["(n,) f32", "(n,) f32", "() f32", "() f32", "() i64"]);
  assert.equal(definitionOf(SCRIPT, "cls.main", 15)?.[3], 2);
  assert.equal(definitionOf(SCRIPT, "y", 6), undefined);
});

test("the innermost open call is found behind brackets that are closed", () => {
  assert.equal(openCall("f(a, R.nn.softmax(g(x), (1, 2), "), "R.nn.softmax");
  assert.equal(openCall("f(x)\ny = "), "");
  assert.equal(openCall("f([1, "), "");
});

test("a word has its dots, and R. before an operator is no part of its name", () => {
  assert.equal(wordAt("  y = R.nn.softmax(x)", 9, "tvmscript"), "R.nn.softmax");
  assert.equal(wordAt("  %x.0", 3, "relay"), "%x.0");
  assert.equal(wordAt("a  b", 2, "tvmscript"), "");
  assert.equal(termOf(SCRIPT, "R.nn.softmax")?.name, "nn.softmax");
  assert.equal(termOf(SCRIPT, "nn.softmax"), undefined);
  assert.equal(definitionOf(RELAY, "%x.0", 3)?.[0], "%x");
});

test("the signature of an open call says which parameter stands at the caret", () => {
  const signature = "R.nn.pad(data: tensor, width: int64[] = (0, 0), mode: string)";
  const known: Known = { ...SCRIPT, terms: [{ ...term("nn.pad", "operator"), signature }] };
  const active = (before: string) => {
    const found = signatureAt(known, before);
    return found && (found.parameters[found.active] ?? "none");
  };
  assert.equal(active("y = R.nn.pad("), "data: tensor");
  assert.equal(active("y = R.nn.pad(f(x, y), "), "width: int64[] = (0, 0)");
  assert.equal(active("y = R.nn.pad(x, (1, "), "width: int64[] = (0, 0)");
  assert.equal(active("y = R.nn.pad(x, mode="), "mode: string");
  assert.equal(active("y = R.nn.pad(x, size="), "none");
  assert.equal(active("y = R.nn.pad(x, 1, m, "), "none");
  assert.equal(active("y = R.nn.pad(x)"), undefined);
  assert.equal(active("y = f("), undefined);
});

test("parameters of Relay have their defaults behind the sign of equality", () => {
  const signature = "nn.softmax(%data, axis=-1)";
  const known: Known = { ...RELAY, terms: [{ ...term("nn.softmax", "operator"), signature }] };
  assert.equal(signatureAt(known, "nn.softmax(%x, axis=")?.active, 1);
  assert.equal(signatureAt({ ...known, language: "plain" }, "nn.softmax("), undefined);
});

test("a name is found where it means the same, and not in comments, strings or arguments by name", () => {
  const text = [
    "class Module:",
    "  def main(x, axis):",
    '    y = R.sum(x, axis=axis)  # axis and x, "y"',
    '    z: R.Tensor(("n", 4)) = cls.main(y.x, "x") + Other.main(x)',
    "  def other(x):",
  ].join("\n");
  const found = (name: string, kind: NameFact[1], first = 2, last = 4) =>
    occurrencesOf(text, [name, kind, "", 2, 1, first, last], "tvmscript").map(([from, to]) => {
      const before = text.slice(0, from).split("\n");
      assert.equal(text.slice(from, to), name);
      return [before.length, before.at(-1)?.length];
    });
  assert.deepEqual(found("x", "variable"), [
    [2, 11],
    [3, 14],
    [4, 60],
  ]);
  assert.deepEqual(found("axis", "variable"), [
    [2, 14],
    [3, 22],
  ]);
  assert.deepEqual(found("main", "function", 1, 5), [
    [2, 6],
    [4, 32],
  ]);
  assert.deepEqual(found("n", "dimension"), [[4, 18]]);
  const relay = "let %x = %x1; // %x\nadd(%x, @x)";
  assert.deepEqual(occurrencesOf(relay, ["%x", "variable", "", 1, 5, 1, 2], "relay"), [
    [4, 6],
    [24, 26],
  ]);
});

test("a name is told with what it held where it is defined", () => {
  const values: Known["values"] = [
    ["x", 2, "(3,) f32", "[1 2 3]", "", "main", 4],
    ["x", 5, "() f32", "6", "", "main", 9],
  ];
  const at = (line: number) => {
    const name = definitionOf(SCRIPT, "x", line);
    return name && lastValueOf({ ...SCRIPT, values }, name)?.[6];
  };
  assert.deepEqual([at(3), at(6), at(12)], [4, 9, undefined]);
  const relay: Known = { ...RELAY, values: [["x", 1, "(3,) f32", "[1 2 3]", "", "main", 0]] };
  const name = definitionOf(relay, "%x", 2);
  assert.equal(name && lastValueOf(relay, name)?.[3], "[1 2 3]");
});

test("a name that is none or is taken is refused", () => {
  const [, fact] = NAMES;
  assert.ok(fact);
  assert.equal(refusalOf(SCRIPT, fact, "kept"), "");
  assert.match(refusalOf(SCRIPT, fact, "n"), /is there already/);
  assert.match(refusalOf(SCRIPT, fact, "1x"), /no name/);
  assert.match(refusalOf(RELAY, ["%x", "variable", "", 1, 11, 1, 9], "y"), /begins with %/);
});
