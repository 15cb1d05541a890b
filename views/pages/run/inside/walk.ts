// Where the user is inside a kernel: a statement of the window that the browser has, and what was touched on the way.

import type { HeatView, InsideAccess, InsideStop, InsideView } from "#generated/models";

/** So many statements in front of the edge of the window another one is asked for. */
const MARGIN = 16;

export class Walk {
  private index: number;

  /** Begins where the view is, or before statement `clock` if its window has that. */
  constructor(
    readonly view: InsideView,
    clock = view.clock,
  ) {
    const at = (wanted: number) => view.stops.findIndex((stop) => stop.clock === wanted);
    this.index = Math.max(at(clock), 0) || Math.max(at(view.clock), 0);
  }

  /** Whether a few more steps lead out of the window, and the run goes on there. */
  isNearEdge(by: 1 | -1): boolean {
    const { stops, total } = this.view;
    const ahead = by > 0 ? stops.length - this.index : this.index;
    const edge = by > 0 ? (stops.at(-1)?.clock ?? 0) + 1 : (stops[0]?.clock ?? 0);
    return ahead <= MARGIN && edge !== (by > 0 ? total : 0);
  }

  /** The statement that runs next; none at the end. */
  get stop(): InsideStop | undefined {
    return this.isOver ? undefined : this.view.stops[this.index];
  }

  get isOver(): boolean {
    return this.index >= this.view.stops.length;
  }

  get clock(): number {
    const last = this.view.stops.at(-1);
    return this.stop?.clock ?? (last ? last.clock + 1 : this.view.clock);
  }

  get isStart(): boolean {
    return this.clock === 0;
  }

  /** Steps within the window; false if it ends before. */
  step(by: 1 | -1): boolean {
    const next = this.index + by;
    const last = this.view.stops.at(-1);
    const isEnd = next === this.view.stops.length && last !== undefined && last.clock + 1 === this.view.total;
    if (next < 0 || (next >= this.view.stops.length && !isEnd)) return false;
    this.index = next;
    return true;
  }

  /** What was touched since the view was made (sign 1), or will be again (sign -1): the accesses between, of a line or of all. */
  between(line: number): readonly (readonly [InsideAccess, 1 | -1])[] {
    const { view, clock } = this;
    const sign = clock >= view.clock ? 1 : -1;
    const [from, to] = sign > 0 ? [view.clock, clock] : [clock, view.clock];
    const passed = view.stops.filter(
      (stop) => stop.clock >= from && stop.clock < to && (line === 0 || stop.line === line),
    );
    return passed.flatMap((stop) => stop.accesses.map((access) => [access, sign] as const));
  }
}

type Cells = Map<number, readonly [text: string, step: number]>;

/** The texts and steps of the cells of a window where steps in the browser have changed them, by the cell's number. */
export function changed(
  heat: HeatView,
  walk: Walk,
  what: string,
  line: number,
): ReadonlyMap<number, readonly [string, number]> {
  const found: Cells = new Map();
  // Of threads the other lanes of a warp change elements as well: their picture comes with the next view.
  if (walk.view.threads) return found;
  const change = what === "count" ? recount : what === "value" ? revalue : undefined;
  if (!change) return found;
  for (const [access, sign] of walk.between(what === "count" ? line : 0)) {
    const cell = access.buffer === heat.buffer && access.is_inside ? cellOf(heat, access.indices) : -1;
    if (cell >= 0) change(found, cell, heat, access, sign);
  }
  return found;
}

function recount(found: Cells, cell: number, heat: HeatView, _: InsideAccess, sign: 1 | -1): void {
  const count = Number(found.get(cell)?.[0] ?? heat.texts[cell] ?? 0) + sign;
  found.set(cell, [count > 0 ? String(count) : "", level(count, heat.most)]);
}

// Backwards the first store that is undone last is what counts: what was there before it.
function revalue(found: Cells, cell: number, heat: HeatView, access: InsideAccess, sign: 1 | -1): void {
  if (!access.is_write) return;
  const text = sign > 0 ? access.after : (found.get(cell)?.[0] ?? access.value);
  found.set(cell, [short(text), Number(heat.levels[cell] ?? 0)]);
}

function level(count: number, most: number): number {
  return Math.min(Math.ceil((count * 5) / Math.max(most, 1)), 5);
}

function short(text: string): string {
  const number = Number(text);
  return Number.isFinite(number) && text !== "" ? String(Number(number.toPrecision(3))) : text;
}

/** The cells of the window that other lanes of the warp touch with an access. */
export function othersOf(heat: HeatView, access: InsideAccess): readonly number[] {
  if (access.buffer !== heat.buffer) return [];
  const cells = access.others.map((flat) => cellOf(heat, unravelled(flat, heat.shape)));
  return cells.filter((cell) => cell >= 0);
}

function unravelled(flat: number, shape: readonly number[]): readonly number[] {
  let rest = flat;
  return shape
    .toReversed()
    .map((size) => {
      const at = rest % size;
      rest = Math.floor(rest / size);
      return at;
    })
    .reverse();
}

/** The number of a cell in the window of a buffer, -1 if it is not in it. */
export function cellOf(heat: HeatView, indices: readonly number[]): number {
  const [rowAxis, columnAxis] = heat.axes;
  const isInPlane = indices.every((at, axis) => axis === rowAxis || axis === columnAxis || at === heat.fixed[axis]);
  const row = (rowAxis < 0 ? 0 : (indices[rowAxis] ?? 0)) - heat.top;
  const column = (columnAxis < 0 ? 0 : (indices[columnAxis] ?? 0)) - heat.left;
  if (!isInPlane || row < 0 || column < 0 || row >= heat.rows || column >= heat.columns) return -1;
  return row * heat.columns + column;
}
