// What a query finds in a graph: nodes that are drawn, and those that a group or a user stands for.

import type { Graph, GraphNode, UnseenNode } from "#generated/models";
import type { Searched, Test } from "./query";

/** The places of the fields of a node that is not drawn. */
export const UNSEEN = { box: 0, title: 1, subtitle: 2, node: 3, name: 4, is_call: 5, way: 6, line: 7 } as const;

export interface Hit {
  /** The group of the picture that shows the node, or stands for it; empty if none does. */
  readonly id: string;
  readonly node: string;
  /** The groups to be open for it to be drawn; undefined if it is. */
  readonly way: readonly string[] | undefined;
}

/** The nodes that pass a test, in the order of the program; a node of which copies are drawn is found once. */
export function hitsOf(model: Graph, test: Test): readonly Hit[] {
  const hits = new Map<string, Hit>();
  const add = (key: string, hit: Hit) => hits.has(key) || hits.set(key, hit);
  const inside = insideOf(model);
  const addInside = (id: string, home: string) => {
    for (const item of inside.get(id) ?? []) {
      const node = item[UNSEEN.node];
      if (test(searched(item, home))) add(node, { id, node, way: model.ways[item[UNSEEN.way]] ?? [] });
    }
  };
  for (const info of model.nodes) {
    addInside(info.id, info.function);
    const node = info.node || info.before_node;
    if (test(info.group ? named(info) : info))
      add(info.group || node || info.id, { id: info.id, node, way: undefined });
  }
  addInside("", "");
  return inOrder([...hits.values()]);
}

// An id ends in a function and the place of the node there.
function inOrder(hits: readonly Hit[]): readonly Hit[] {
  const functions = new Map<string, number>();
  const placed = hits.map((hit) => {
    const [, home = "", place = "0"] = /([^/]*)\/(\d+)$/.exec(hit.node) ?? [];
    if (!functions.has(home)) functions.set(home, functions.size);
    return { hit, home: functions.get(home) ?? 0, place: Number(place) };
  });
  return placed.sort((a, b) => a.home - b.home || a.place - b.place).map(({ hit }) => hit);
}

function insideOf(model: Graph): ReadonlyMap<string, readonly UnseenNode[]> {
  const inside = new Map<string, UnseenNode[]>();
  for (const item of model.unseen) {
    const beside = inside.get(item[UNSEEN.box]);
    if (beside) beside.push(item);
    else inside.set(item[UNSEEN.box], [item]);
  }
  return inside;
}

function searched(item: UnseenNode, home: string): Searched {
  const [, title, subtitle, , name, is_call] = item;
  return { title, subtitle, name, is_call, function: home };
}

// Of a group there is its name alone: how many nodes it has is no type.
function named({ title, function: home }: GraphNode): Searched {
  return { title, subtitle: "", name: "", is_call: false, function: home };
}

/** How many hits there are in what each group stands for. */
export function countInside(hits: readonly Hit[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { id, way } of hits) if (way && id) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

export function hitWords(count: number): string {
  return count === 1 ? "1 hit" : `${count.toLocaleString("en")} hits`;
}
