// The picture and what is marked in it: nodes by their ids, the selection, paths, colours.

import type { Graph, GraphNode, HeatMark, LineHeat, Side } from "#generated/models";
import { find, svg } from "#shared/dom";
import { levelOf } from "#shared/heat";
import { MARK_SIGN } from "#shared/marks";
import { hitWords, UNSEEN } from "./hits";
import { CATEGORY_SYMBOL } from "./look";
import { edgesBetween, waysOf } from "./path";
import { importSvg } from "./svg";

export function isNode(info: GraphNode | undefined, node: string): boolean {
  return node !== "" && info !== undefined && (info.node === node || info.before_node === node);
}

/** The node of a group that a click selects: of a side that is shown alone, the one of that side. */
export function nodeOnSide(info: GraphNode, side: Side): string {
  return side === "before" ? info.before_node || info.node : info.node || info.before_node;
}

export class Picture {
  readonly svg: SVGSVGElement | null;
  /** Ids of the groups in the order of the picture. */
  readonly order: readonly string[];
  private readonly infos: ReadonlyMap<string, GraphNode>;
  private readonly groups = new Map<string, SVGElement>();
  private readonly labels = new Map<string, string>();
  private readonly figures = new Map<string, string>();

  constructor(private readonly model: Graph) {
    this.infos = new Map(model.nodes.map((info) => [info.id, info]));
    this.svg = model.svg ? importSvg(model.svg) : null;
    this.svg?.setAttribute("role", "group");
    this.svg?.setAttribute("aria-label", model.title || "graph");
    for (const group of this.svg?.querySelectorAll<SVGElement>("g.node") ?? []) this.register(group);
    this.order = [...this.groups.keys()];
  }

  private register(group: SVGElement): void {
    const id = group.dataset.id ?? "";
    const info = this.infos.get(id);
    if (!info) return;
    const mark = info.mark === "unchanged" ? "" : info.mark;
    const label = [mark, info.title, info.subtitle, info.fault && `error ${info.fault}`].filter(Boolean).join(", ");
    group.setAttribute("role", "img");
    group.setAttribute("aria-label", label);
    this.labels.set(id, label);
    this.groups.set(id, group);
  }

  info(id: string): GraphNode | undefined {
    return this.infos.get(id);
  }

  group(id: string): SVGElement | undefined {
    return this.groups.get(id);
  }

  get all(): readonly SVGElement[] {
    return [...this.groups.values()];
  }

  groupsOf(ids: ReadonlySet<string>): readonly SVGElement[] {
    return this.order.flatMap((id) => (ids.has(id) ? (this.groups.get(id) ?? []) : []));
  }

  /** What a map of the picture shows in a colour of its own. */
  layers(): Readonly<Record<"plain" | "folded" | "changed", readonly SVGElement[]>> {
    const where = (has: (info: GraphNode) => boolean) =>
      this.order.flatMap((id) => {
        const info = this.infos.get(id);
        return info && has(info) ? (this.groups.get(id) ?? []) : [];
      });
    const isChanged = ({ mark }: GraphNode) => mark !== "unchanged";
    return {
      plain: where((info) => !info.group && !isChanged(info)),
      folded: where((info) => info.group !== "" && !isChanged(info)),
      changed: where(isChanged),
    };
  }

  /** The id of the group that holds an element; empty if none does. */
  idOf(target: Element | null): string {
    const group = target?.closest<SVGElement>("g.node");
    const id = group?.dataset.id ?? "";
    return this.groups.has(id) ? id : "";
  }

  /** The id of the first group that shows a node, or stands for it. */
  idOfNode(node: string): string {
    return this.order.find((id) => isNode(this.infos.get(id), node)) ?? this.boxOf(node);
  }

  /** The id of the group that stands for a node that is not drawn; empty if none does. */
  private boxOf(node: string): string {
    return (node && this.model.unseen.find((item) => item[UNSEEN.node] === node)?.[UNSEEN.box]) || "";
  }

  /** Gives a class to what shows a node, or else to what stands for it. */
  mark(name: "selected" | "now", node: string): readonly SVGElement[] {
    const shown = this.toggle(name, (info) => isNode(info, node));
    const box = shown.length ? undefined : this.group(this.boxOf(node));
    box?.classList.add(name);
    return box ? [box] : shown;
  }

  /** The first group that a pass changed. */
  firstChange(): string | undefined {
    return this.order.find((id) => this.infos.get(id)?.mark !== "unchanged");
  }

  /** Gives a class to the groups that `has` names, and takes it from the others. */
  toggle(name: string, has: (info: GraphNode, id: string) => boolean): readonly SVGElement[] {
    const found: SVGElement[] = [];
    for (const [id, group] of this.groups) {
      const info = this.infos.get(id);
      const isOn = info !== undefined && has(info, id);
      group.classList.toggle(name, isOn);
      if (isOn) found.push(group);
    }
    return found;
  }

  /** Counts at the groups how many hits there are in what they stand for. */
  markHits(counts: ReadonlyMap<string, number>): void {
    for (const [id, group] of this.groups) {
      group.querySelector(".hits")?.remove();
      const count = counts.get(id) ?? 0;
      this.name(id, count ? `${hitWords(count)} inside` : "");
      if (count) addBadge(group, count.toLocaleString("en"));
    }
  }

  /** Marks what lies between two sets of nodes; `path` holds where it begins, what is on it, where it ends. */
  markPath(path: readonly (readonly string[])[]): void {
    for (const item of this.svg?.querySelectorAll(".blocking,.blocked") ?? [])
      item.classList.remove("blocking", "blocked");
    if (!path.length || !this.svg) return;
    const isPort = (id: string) => this.groups.get(id)?.classList.contains("port") ?? false;
    const ways = waysOf(this.model, path);
    for (const number of edgesBetween(this.model.edges, ways, isPort)) this.edge(number)?.classList.add("blocking");
    for (const id of ways.over) if (!isPort(id)) this.groups.get(id)?.classList.add("blocked");
  }

  get onPath(): readonly Element[] {
    return [...(this.svg?.querySelectorAll(".blocking,.blocked") ?? [])];
  }

  /** Fills nodes in the colour of their category; edges between two categories have the second one's. */
  markColours(colours: Readonly<Record<string, string>>): void {
    for (const item of this.svg?.querySelectorAll(".mark") ?? []) item.remove();
    const colourOf = new Map<string, string>();
    for (const [id, group] of this.groups) {
      const colour = colours[this.infos.get(id)?.node ?? ""] ?? "";
      removeClasses(group, "on-");
      if (!colour) continue;
      colourOf.set(id, colour);
      paint(group, colour);
    }
    this.model.edges.forEach(([source, target], number) => {
      const [from, to] = [colourOf.get(source), colourOf.get(target)];
      const edge = this.edge(number);
      if (edge) removeClasses(edge, "to-cat");
      if (from && to && from !== to) edge?.classList.add(`to-${to}`);
    });
  }

  /** Fills nodes by what they take, with the figure at the corner. */
  markHeat(marks: LineHeat["nodes"]): void {
    for (const item of this.svg?.querySelectorAll(".figure") ?? []) item.remove();
    const markOf = new Map(marks);
    const computed = new Set<string>();
    for (const { id, node = "" } of this.model.nodes) {
      const group = this.groups.get(id);
      if (!group) continue;
      // Of two that are drawn for an expression, the other hands its value on: `return`, or what branches lead to.
      const mark = computed.has(node) ? undefined : markOf.get(node);
      computed.add(node);
      removeClasses(group, "level-");
      this.figures.set(id, mark?.[2] ?? "");
      this.name(id);
      if (mark) heat(group, mark);
    }
  }

  /** What is said of what a node takes; empty without a figure. */
  figureOf(id: string): string {
    return this.figures.get(id) ?? "";
  }

  private name(id: string, hits = ""): void {
    const words = [this.labels.get(id), this.figures.get(id), hits].filter(Boolean).join(", ");
    this.groups.get(id)?.setAttribute("aria-label", words);
  }

  private edge(number: number): Element | null {
    return this.svg && find(this.svg, `[data-id="e${number}"]`);
  }
}

function removeClasses(element: Element, start: string): void {
  for (const name of [...element.classList]) if (name.startsWith(start)) element.classList.remove(name);
}

function boxIn(group: SVGElement): DOMRect | undefined {
  return group.querySelector<SVGGraphicsElement>("rect,polygon,path,ellipse")?.getBBox();
}

const BADGE = { height: 13, digit: 5.6, border: 12 };

// How many hits there are inside stands at the upper right corner, as a pill.
function addBadge(group: SVGElement, count: string): void {
  const box = boxIn(group);
  if (!box) return;
  const width = count.length * BADGE.digit + BADGE.border;
  const middle = { x: box.x + box.width, y: box.y };
  const pill = { x: middle.x - width / 2, y: middle.y - BADGE.height / 2, width, height: BADGE.height, rx: 6.5 };
  const words = { ...middle, "text-anchor": "middle", "dominant-baseline": "central" };
  group.append(svg("g", { class: "hits", "aria-hidden": "true" }, svg("rect", pill), svg("text", words, count)));
}

// The figure stands at the lower right corner, where edges seldom end.
function heat(group: SVGElement, mark: HeatMark): void {
  const [, short] = mark;
  const look = levelOf(mark);
  if (look) group.classList.add(look);
  const box = boxIn(group);
  if (!box) return;
  const place = { x: box.x + box.width - 2, y: box.y + box.height + 4, "text-anchor": "end" };
  const text = look === "level-odd" ? `${MARK_SIGN.error} ${short}` : short;
  group.append(svg("text", { class: "figure", ...place, "aria-hidden": "true" }, text));
}

// The symbol of a category stands at the node's corner.
function paint(group: SVGElement, colour: string): void {
  group.classList.add(`on-${colour}`);
  const box = boxIn(group);
  if (!box) return;
  const place = { x: box.x + box.width, y: box.y + 3, "text-anchor": "middle" };
  const mark = { class: `mark on-${colour}`, ...place, "aria-hidden": "true" };
  group.append(svg("text", mark, CATEGORY_SYMBOL[colour]));
}
