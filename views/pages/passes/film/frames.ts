// What of the picture is seen at a stage: everything else is away, what a pass made of a node is marked.

import type { Film, FilmItem, Mark } from "#generated/models";
import type { Picture } from "#graph/picture";
import { svg } from "#shared/dom";
import { MARK_SIGN } from "#shared/marks";

type Items = ReadonlyMap<string, FilmItem>;

const MARKS: readonly Mark[] = ["added", "changed", "moved", "removed"];

export class Frames {
  // Every group of the picture by its id; the label of a box goes with the box.
  private readonly groups: readonly (readonly [id: string, group: SVGElement])[];
  private readonly frames: readonly Items[];
  private readonly placeOf: ReadonlyMap<string, number>;
  private readonly isMarked = new Set<SVGElement>();

  constructor(
    private readonly film: Film,
    private readonly picture: Picture,
  ) {
    this.groups = [...(picture.svg?.querySelectorAll<SVGElement>(".node,.edge,.cluster,.cluster-label") ?? [])].map(
      (group) => [group.dataset.id ?? labelOf(group), group],
    );
    this.frames = film.frames.map(({ items }) => new Map(items.map((item) => [item[0], item])));
    this.placeOf = new Map(film.graph.nodes.map(({ id }, index) => [id, film.places[index] ?? -1]));
  }

  /** Shows a stage. What its pass did is marked; a stage that leaves the graph as it is shows no marks. */
  show(stage: number): void {
    const { items, isChanged } = this.at(stage);
    for (const mark of this.isMarked) mark.remove();
    this.isMarked.clear();
    for (const [id, group] of this.groups) {
      const item = items.get(id);
      const [, , mark, isGone] = item ?? [];
      const isSeen = item !== undefined && (isChanged || !isGone);
      group.classList.toggle("away", !isSeen);
      group.classList.toggle("gone", isSeen && Boolean(isGone));
      for (const name of MARKS) group.classList.toggle(`is-${name}`, isSeen && isChanged && name === mark);
      if (group.classList.contains("node")) this.describe(group, id, isSeen, isChanged ? (mark ?? "") : "");
    }
  }

  private describe(group: SVGElement, id: string, isSeen: boolean, mark: Mark | ""): void {
    if (isSeen) group.removeAttribute("aria-hidden");
    else group.setAttribute("aria-hidden", "true");
    const info = this.picture.info(id);
    const known = mark === "unchanged" ? "" : mark;
    const words = [known, info?.title, info?.subtitle, info?.fault && `error ${info.fault}`];
    group.setAttribute("aria-label", words.filter(Boolean).join(", "));
    if (isSeen && known) this.mark(group, known);
  }

  // The sign of the mark stands at the node's corner, as in every list of changes.
  private mark(group: SVGElement, mark: Mark): void {
    const box = group.querySelector<SVGGraphicsElement>("rect,polygon,path,ellipse")?.getBBox();
    if (!box) return;
    const place = { x: box.x + box.width - 1, y: box.y + 4, "text-anchor": "middle" };
    const sign = svg("text", { class: "sign", ...place, "aria-hidden": "true" }, MARK_SIGN[mark]);
    group.append(sign);
    this.isMarked.add(sign);
  }

  /** The node that a group stands for at a stage; empty for none. */
  nodeAt(stage: number, id: string): string {
    return this.at(stage).items.get(id)?.[1] ?? "";
  }

  /** The place in which a node is; undefined if no frame has it. */
  placeOfNode(node: string): number | undefined {
    for (const items of this.frames) {
      for (const [id, of] of items.values()) if (of && of === node) return this.placeOf.get(id);
    }
    return undefined;
  }

  placeOfGroup(id: string): number | undefined {
    return this.placeOf.get(id);
  }

  /** The node that is in a place at a stage; empty if the place is free. */
  nodeIn(stage: number, place: number | undefined): string {
    if (place === undefined) return "";
    const found = [...this.at(stage).items.values()].find(([id, node]) => node && this.placeOf.get(id) === place);
    return found?.[1] ?? "";
  }

  /** The groups of the nodes in sight that a stage changed. */
  changed(stage: number): readonly SVGElement[] {
    const { items, isChanged } = this.at(stage);
    if (!isChanged) return [];
    const found = [...items.values()].filter(([id, , mark]) => mark !== "unchanged" && this.placeOf.has(id));
    return found.flatMap(([id]) => this.picture.group(id) ?? []);
  }

  private at(stage: number): { readonly items: Items; readonly isChanged: boolean } {
    const [, frame, isChanged] = this.film.stages[stage] ?? ["", 0, false];
    return { items: this.frames[frame] ?? new Map(), isChanged };
  }
}

function labelOf(group: SVGElement): string {
  return [...group.classList].find((name) => name.startsWith("of-"))?.slice("of-".length) ?? "";
}
