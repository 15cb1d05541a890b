// Flame chart and slider on one time axis, of which a part is in view.

import type { Run } from "#generated/models";
import { button } from "#shared/controls";
import { el, replace, svg } from "#shared/dom";
import { consume } from "#shared/keys";
import { between } from "#shared/values";
import { type Axis, axisOf, shareAt, ticks, timeAt } from "./axis";
import { Calls } from "./calls";
import { around, callsAround, holding, moved, type View, whole, zoomed } from "./view";

const POINTS_SHOWN = 300;
const AXIS_HEIGHT = 36;
const AXIS_Y = 10;
// A press that moves by more is no click.
const CLICK_PIXELS = 3;
const WHEEL_STEP = 1.002;

export class Timeline {
  /** Takes the keys of the time. */
  readonly slider: HTMLElement;
  private run: Run | undefined;
  private points: readonly number[] = [];
  private at = 0;
  private view: View = whole(0);
  // The calls are drawn once for a run, a width and a view; a step draws the axis only.
  private drawn = "";
  // Kept, for asking for it at a step would cost a layout.
  private width = 0;
  private readonly picture = svg("svg", { "aria-hidden": "true", height: AXIS_HEIGHT });
  private readonly crumbs = el("div", { class: "crumbs", role: "navigation", "aria-label": "Calls in view" });
  private readonly calls = new Calls({
    onZoom: (place) => this.zoomTo(place),
    onOut: () => this.zoomOut(),
    onReset: () => this.reset(),
  });

  constructor(
    box: HTMLElement,
    private readonly onTime: (time: number) => void,
  ) {
    this.slider = el("div", { class: "clock", role: "slider", "aria-label": "Time", tabindex: 0 }, this.picture);
    box.append(this.crumbs, this.calls.element, this.slider);
    for (const part of [this.calls.element, this.slider])
      part.addEventListener("pointerdown", (event) => this.onDown(event));
    box.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.drawCrumbs();
    new ResizeObserver(([entry]) => {
      this.width = entry?.contentRect.width ?? 0;
      this.draw();
    }).observe(box);
  }

  setRun(run: Run): void {
    // Another window of the same run leaves in view what is.
    if (JSON.stringify(this.run?.flame) !== JSON.stringify(run.flame) || this.run?.total !== run.total) {
      this.view = whole(run.total);
      this.calls.set(run.flame);
    }
    this.run = run;
    this.drawn = "";
    this.slider.setAttribute("aria-valuemin", "0");
    this.slider.setAttribute("aria-valuemax", String(run.total));
  }

  setTime(time: number, points: readonly number[]): void {
    // Whoever looks elsewhere is left there until the next step.
    if (this.run && time !== this.at) this.view = holding(this.view, this.run.total, time);
    this.at = time;
    this.points = points;
    this.slider.setAttribute("aria-valuenow", String(time));
    this.slider.setAttribute("aria-valuetext", `time ${time} of ${this.run?.total ?? 0}`);
    this.draw();
  }

  /** Shows the whole run, and tells whether a part of it was in view. */
  reset(): boolean {
    const total = this.run?.total ?? 0;
    const isPart = this.view.to - this.view.from < total;
    if (isPart) this.show(whole(total));
    return isPart;
  }

  private get axis(): Axis {
    return axisOf(this.run?.total ?? 0, this.width, this.view);
  }

  private show(view: View): void {
    this.view = view;
    this.draw();
  }

  private zoomTo(place: number): void {
    const { run } = this;
    const call = run?.flame[place];
    if (run && call) this.show(around(call, run.total));
  }

  // To the innermost call that is longer than what is in view.
  private zoomOut(): void {
    const { run, view } = this;
    if (!run) return;
    const size = view.to - view.from;
    const outer = callsAround(run.flame, view).findLast(([, start, end]) => end - start > size);
    this.show(outer ? around(outer, run.total) : whole(run.total));
  }

  private draw(): void {
    const { run, width, axis } = this;
    if (!width || !run) return;
    const drawn = JSON.stringify([width, this.view]);
    if (this.drawn !== drawn) {
      this.drawn = drawn;
      this.calls.draw(axis, width);
      this.picture.setAttribute("width", String(width));
      this.drawCrumbs();
    }
    this.calls.setTime(axis.x(this.at));
    this.picture.replaceChildren(...this.axisParts(axis));
  }

  private drawCrumbs(): void {
    const { run, view } = this;
    const total = run?.total ?? 0;
    const isPart = view.to - view.from < total;
    this.crumbs.hidden = !isPart;
    if (!run || !isPart) return;
    const words = `time ${Math.round(view.from).toLocaleString("en")} to ${Math.round(view.to).toLocaleString("en")}`;
    const crumb = (text: string, to: View) => [button(text, "t", "", () => this.show(to)), "› "];
    replace(
      this.crumbs,
      crumb("Whole run", whole(total)),
      callsAround(run.flame, view).map((call) => crumb(call[0], around(call, total))),
      el("span", { class: "muted", role: "status" }, words),
      el("span", { class: "sp" }),
      button("Reset", "t", "Esc", () => this.reset()),
    );
  }

  private axisParts({ x, total, view }: Axis): SVGElement[] {
    const { at } = this;
    const y = AXIS_Y;
    const bar = (to: number, fill: string) =>
      svg("rect", { x: x(view.from), y: y - 2, width: Math.max(0, x(to) - x(view.from)), height: 4, rx: 2, fill });
    const point = (time: number) => svg("circle", { cx: x(time), cy: y, r: 5, fill: "var(--error)" });
    const isInView = (time: number) => time >= view.from && time <= view.to;
    return [
      bar(view.to, "var(--line2)"),
      bar(between(view.from, at, view.to), "var(--accent)"),
      ...ticks({ x, total, view }, at).flatMap((time) => tick(x(time), y, time, time === at)),
      ...this.points.filter(isInView).slice(0, POINTS_SHOWN).map(point),
      svg("line", { x1: x(at), x2: x(at), y1: 0, y2: y, stroke: "var(--accent)", "stroke-width": 1.5 }),
      svg("circle", { cx: x(at), cy: y, r: 8, fill: "var(--accent)", stroke: "var(--chrome)", "stroke-width": 2 }),
    ];
  }

  private placeIn(event: MouseEvent): number {
    return event.clientX - this.slider.getBoundingClientRect().left;
  }

  // A click on a call takes it over the width; elsewhere, and whatever is dragged, a press goes to a time.
  private onDown(event: PointerEvent): void {
    if (!this.run || event.button !== 0) return;
    const call = this.calls.placeOf(event);
    let isClick = call >= 0;
    const go = (next: PointerEvent) => {
      if (isClick && Math.abs(next.clientX - event.clientX) <= CLICK_PIXELS) return;
      isClick = false;
      this.onTime(timeAt(this.axis, this.placeIn(next)));
    };
    const up = () => {
      window.removeEventListener("pointermove", go);
      window.removeEventListener("pointerup", up);
      if (isClick) this.calls.zoom(call);
    };
    go(event);
    window.addEventListener("pointermove", go);
    window.addEventListener("pointerup", up);
  }

  // Up and down zooms at the pointer, to the sides moves.
  private onWheel(event: WheelEvent): void {
    const { run, view } = this;
    if (!run) return;
    consume(event);
    const aside = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(aside) > Math.abs(event.deltaY)) {
      this.show(moved(view, run.total, aside / Math.max(1, this.width)));
      return;
    }
    this.show(zoomed(view, run.total, WHEEL_STEP ** -event.deltaY, shareAt(this.axis, this.placeIn(event))));
  }
}

function tick(x: number, y: number, time: number, isNow: boolean): SVGElement[] {
  const font = { "font-size": 10.5, "font-family": "var(--mono)", "font-weight": isNow ? 700 : 400 };
  const fill = isNow ? "var(--accent)" : "var(--text3)";
  return [
    svg("rect", { x: x - 1, y: y - 6, width: 2, height: 12, fill: "var(--text3)" }),
    svg("text", { x, y: y + 20, "text-anchor": "middle", fill, ...font }, time),
  ];
}
