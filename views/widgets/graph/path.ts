// The edges between two sets of nodes, by way of the nodes of a third set and of ports.

import type { Graph } from "#generated/models";

/** Ids of groups of the picture: where a path begins, what lies on it, where it ends. */
export interface Ways {
  readonly from: ReadonlySet<string>;
  readonly over: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
}

/** Reads the three sets of a path; nodes of the program become groups of the picture. */
export function waysOf(model: Graph, path: readonly (readonly string[])[]): Ways {
  const [from = [], over = [], to = []] = path.map((nodes) => {
    const wanted = new Set(nodes);
    return model.nodes.filter((info) => info.node && wanted.has(info.node)).map((info) => info.id);
  });
  return { from: new Set(from), over: new Set(over), to: new Set(to) };
}

/** The numbers of the edges that lie between the ends of a path. */
export function edgesBetween(edges: Graph["edges"], ways: Ways, isPort: (id: string) => boolean): readonly number[] {
  const { from, over, to } = ways;
  const may = (id: string) => from.has(id) || over.has(id) || to.has(id) || isPort(id);
  const reach = (first: ReadonlySet<string>, a: 0 | 1, b: 0 | 1) => {
    const seen = new Set(first);
    // A set is walked with what is added meanwhile.
    for (const id of seen) for (const edge of edges) if (edge[a] === id && may(edge[b])) seen.add(edge[b]);
    return seen;
  };
  const [down, up] = [reach(from, 0, 1), reach(to, 1, 0)];
  return edges.flatMap(([source, target], number) => {
    const isOn = [source, target].every((id) => down.has(id) && up.has(id));
    const isInside = [from, to].some((end) => end.has(source) && end.has(target));
    return isOn && !isInside ? [number] : [];
  });
}
