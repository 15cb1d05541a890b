// Rows of one height, of which only those near the visible part are in the page: a long text scrolls as a short one.

export const ROW_HEIGHT = 19;
// So many rows are there above and below the visible ones, and by so many the middle may be off.
const ROWS_AROUND = 40;
const ROWS_SLACK = 20;

/** Rows from the first to before the last. */
export type Window = readonly [first: number, last: number];

/** The rows to have in the page while `height` pixels below `top` are in sight. */
export function wantedRows(top: number, height: number, count: number): Window {
  const first = Math.floor(top / ROW_HEIGHT) - ROWS_AROUND;
  const last = Math.ceil((top + height) / ROW_HEIGHT) + ROWS_AROUND;
  return [Math.max(0, Math.min(first, count - ROWS_AROUND)), Math.min(count, Math.max(last, ROWS_AROUND))];
}

/** Whether the rows that are there may stay as they are, though others are wanted. */
export function isNear([from, to]: Window, [first, last]: Window, count: number): boolean {
  const isClose = Math.abs(first - from) < ROWS_SLACK && Math.abs(last - to) < ROWS_SLACK;
  return isClose && (first > 0 || from === 0) && (last < count || to === count);
}

/** `box` scrolls, `lines` holds the rows, `make` gives the element of a row. */
export class Rows {
  private count = 0;
  private made = new Map<number, HTMLElement>();
  private window: Window = [0, 0];
  // Kept, for asking the box for them would cost a layout.
  private top = 0;
  private height = 0;

  constructor(
    private readonly box: HTMLElement,
    private readonly lines: HTMLElement,
    private readonly make: (index: number) => HTMLElement,
  ) {
    box.addEventListener("scroll", () => this.onScroll(), { passive: true });
    new ResizeObserver(([entry]) => {
      this.height = entry?.contentRect.height ?? 0;
      this.draw();
    }).observe(box);
  }

  /** The rows in the page, by index. */
  get shown(): ReadonlyMap<number, HTMLElement> {
    return this.made;
  }

  /** Shows so many rows; `columns` is the length of the longest, so that the width stays while rows come and go. */
  set(count: number, columns: number): void {
    this.count = count;
    this.lines.style.minWidth = `max(100%,${columns + 12}ch)`;
    this.refresh();
  }

  /** Makes all rows anew. */
  refresh(): void {
    this.made = new Map();
    this.lines.replaceChildren();
    this.window = wantedRows(this.top, this.height, this.count);
    this.place();
    this.lines.append(...this.fresh(...this.window));
  }

  /** Scrolls to a row unless it is in sight. */
  reveal(index: number): void {
    const y = index * ROW_HEIGHT;
    const seen = this.height || this.box.clientHeight;
    if (y >= this.top + 4 && y <= this.top + seen - 40) return;
    const end = Math.max(0, this.count * ROW_HEIGHT - seen + ROW_HEIGHT);
    this.top = Math.min(Math.max(0, y - seen * 0.45), end);
    this.draw();
    this.box.scrollTop = this.top;
  }

  private onScroll(): void {
    this.top = this.box.scrollTop;
    this.draw();
  }

  private draw(): void {
    const wanted = wantedRows(this.top, this.height, this.count);
    const [first, last] = wanted;
    const [from, to] = this.window;
    if (isNear(this.window, wanted, this.count)) return;
    if (first >= to || last <= from) {
      this.refresh();
      return;
    }
    for (const [index, row] of this.made) {
      if (index >= first && index < last) continue;
      row.remove();
      this.made.delete(index);
    }
    const [before, behind] = [this.fresh(first, Math.min(from, last)), this.fresh(Math.max(to, first), last)];
    this.window = wanted;
    this.place();
    this.lines.prepend(...before);
    this.lines.append(...behind);
  }

  private fresh(first: number, last: number): HTMLElement[] {
    const rows: HTMLElement[] = [];
    for (let index = first; index < last; index += 1) {
      const row = this.make(index);
      this.made.set(index, row);
      rows.push(row);
    }
    return rows;
  }

  private place(): void {
    const [first, last] = this.window;
    this.lines.style.paddingTop = `${first * ROW_HEIGHT}px`;
    this.lines.style.paddingBottom = `${Math.max(0, this.count - last) * ROW_HEIGHT}px`;
  }
}
