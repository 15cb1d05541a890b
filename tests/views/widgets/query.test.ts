// What a query finds: words, regular expressions and conditions, in groups that are folded as well.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Graph, GraphNode, UnseenNode } from "#generated/models";
import { countInside, hitsOf } from "../../../views/widgets/graph/hits";
import { QueryError, readQuery, type Searched } from "../../../views/widgets/graph/query";

const MATMUL = { title: "matmul", subtitle: "lv3   (1, n, 512) f32", name: "lv3", is_call: true, function: "main" };
const SPLIT = { title: "split", subtitle: "s   Tuple((2,) i64, (2, 3) f16)", name: "s", is_call: true };
const WEIGHT = { title: "layers_3_norm", subtitle: "(16,) bf16", name: "layers_3_norm", is_call: false };
const NODES: Readonly<Record<string, Searched>> = { MATMUL, SPLIT, WEIGHT };

function found(query: string): string {
  const read = readQuery(query);
  assert.ok(!(read instanceof QueryError), query);
  return Object.entries(NODES)
    .flatMap(([name, node]) => (read(node) ? [name] : []))
    .join(" ");
}

const CASES: readonly (readonly [query: string, expected: string])[] = [
  ["MatMul", "MATMUL"],
  ["main (1,", "MATMUL"],
  ["main split", ""],
  ['"n, 512"', "MATMUL"],
  ["/^s.*i64/", "SPLIT"],
  ["op = R.matmul", "MATMUL"],
  ["operator = relax.matmul", "MATMUL"],
  ["op = layers_3_norm", ""],
  ["op != matmul", "SPLIT"],
  ["op ~ mat|split", "MATMUL SPLIT"],
  ["name ~ ^layers_\\d+", "WEIGHT"],
  ["name ~ /norm$/", "WEIGHT"],
  ["name = lv3", "MATMUL"],
  ["dtype = float32", "MATMUL"],
  ["dtype = f16", "SPLIT"],
  ["dtype = bfloat16", "WEIGHT"],
  ["dtype = n", ""],
  ["shape = (1,n,512)", "MATMUL"],
  ["shape ~ ^.2,", "SPLIT"],
  ["shape[-1] >= 512", "MATMUL"],
  ["shape[0] < 16", "MATMUL SPLIT"],
  ["shape[1] = n", "MATMUL"],
  ["rank = 1", "SPLIT WEIGHT"],
  ["rank > 2 and dtype = f32", "MATMUL"],
  ["op = matmul dtype = i64", ""],
  ["op", ""],
  ["", ""],
];

for (const [query, expected] of CASES) {
  test(`the query ${query || "of nothing"} finds ${expected || "nothing"}`, () => assert.equal(found(query), expected));
}

const MISTAKES: readonly (readonly [query: string, column: number])[] = [
  ["op =", 5],
  ["matmul and dtype =", 19],
  ["name ~ (", 8],
  ["/(/", 1],
  ["name < a", 1],
  ["shape[0] > n", 12],
];

for (const [query, column] of MISTAKES) {
  test(`the query ${query} is wrong at column ${column}`, () => {
    const read = readQuery(query);
    assert.ok(read instanceof QueryError);
    assert.equal(read.column, column);
  });
}

const PLAIN: GraphNode = {
  id: "",
  title: "",
  subtitle: "",
  node: "",
  before_node: "",
  line: 0,
  function: "main",
  side: "both",
  mark: "unchanged",
  group: "",
  fault: "",
  name: "",
  is_call: false,
};

function graphOf(nodes: readonly Partial<GraphNode>[], unseen: readonly UnseenNode[]): Graph {
  const known = nodes.map((node) => ({ ...PLAIN, ...node }));
  return { nodes: known, unseen, ways: [["a", "a/b"], []] } as unknown as Graph;
}

test("what is folded is found where it stands in the program, and counted at what stands for it", () => {
  const graph = graphOf(
    [
      { id: "n0", title: "a", group: "a", subtitle: "2 nodes, 1 add", node: "0/main/2" },
      { id: "n1", title: "add", node: "0/main/10", is_call: true },
      { id: "n2", title: "add", node: "0/main/10", is_call: true },
    ],
    [
      ["n0", "add", "x   () f32", "0/main/9", "x", true, 0, 9],
      ["n0", "mul", "y   () f32", "0/main/2", "y", true, 0, 7],
      ["n1", "add_weight", "() f32", "0/main/1", "add_weight", false, 1, 6],
      ["", "add", "z   () f32", "0/main/30", "z", true, 1, 12],
    ],
  );
  const test = readQuery("add");
  assert.ok(!(test instanceof QueryError));
  const hits = hitsOf(graph, test);
  assert.deepEqual(
    hits.map(({ id, node }) => [id, node]),
    [
      ["n1", "0/main/1"],
      ["n0", "0/main/9"],
      ["n1", "0/main/10"],
      ["", "0/main/30"],
    ],
  );
  assert.deepEqual(
    hits.map(({ way }) => way),
    [[], ["a", "a/b"], undefined, []],
  );
  assert.deepEqual(
    [...countInside(hits)],
    [
      ["n1", 1],
      ["n0", 1],
    ],
  );
});
