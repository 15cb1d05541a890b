// Expressions that are watched: their value at the time that is shown, and a line of how they change over the run.

import type { History, Reading, Watched } from "#generated/models";
import { type Child, el, prose, svg } from "#shared/dom";
import { awayButton, expressionForm } from "#shared/expressions";
import { arranged } from "#shared/tables";

const WIDTH = 90;
const HEIGHT = 18;

export interface Asks {
  readonly go: (time: number) => void;
  /** Watch these expressions and no others. */
  readonly watch: (names: readonly string[]) => void;
}

export class Watches {
  private text = "";

  constructor(private readonly asks: Asks) {}

  draw(watched: Watched | null, at: number, total: number): Child {
    if (!watched) return "";
    const { expressions, histories, fault } = watched;
    const rows = expressions.map((_, index) => this.row(watched, index, at, total));
    const every = `one in ${histories?.step ?? 1} times was looked at`;
    const sampled = histories && histories.step > 1 ? el("div", { class: "pad muted" }, every) : "";
    const heads = ["Expression", "Value", "", ""].map((name) => el("th", {}, name));
    const head = rows.length > 1 ? el("tr", {}, heads) : "";
    const table = el("table", { class: "watched", "aria-label": "Watched expressions" }, head, rows);
    return [
      rows.length > 1 ? arranged(table) : rows.length ? table : "",
      fault ? el("div", { class: "pad muted" }, fault) : sampled,
      this.form(expressions),
    ];
  }

  private form(expressions: readonly string[]): HTMLElement {
    return expressionForm("watch-form", {
      placeholder: "x[0, 1] + n",
      text: this.text,
      typed: (text) => {
        this.text = text;
      },
      add: (text) => {
        if (!expressions.includes(text)) this.asks.watch([...expressions, text]);
      },
    });
  }

  private row(watched: Watched, index: number, at: number, total: number): HTMLElement {
    const expression = watched.expressions[index] ?? "";
    const history = watched.histories?.rows[index];
    const reading = history && readingAt(history, at);
    const isKnown = (watched.histories?.step ?? 1) === 1;
    const now = watched.time === at ? watched.now[index] : "…";
    const text = isKnown ? reading?.text : now;
    const isFault = isKnown && reading?.is_fault;
    const rest = watched.expressions.filter((other) => other !== expression);
    const away = awayButton(expression, () => this.asks.watch(rest));
    return el(
      "tr",
      {},
      el("td", { class: "m" }, expression),
      el(
        "td",
        { class: isFault ? "muted" : "m", data: { watch: expression } },
        isFault ? prose(text ?? "") : (text ?? ""),
      ),
      el("td", { class: "r" }, history ? this.sparkline(history, at, total) : ""),
      el("td", { class: "r" }, away),
    );
  }

  // Numbers as steps, other values as a tick where they change; a click leads to the time.
  private sparkline(history: History, at: number, total: number): SVGElement {
    const across = (time: number) => (WIDTH * time) / Math.max(total, 1);
    const numbers = history.readings.flatMap((reading) => (reading.number === null ? [] : [reading.number]));
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const down = (number: number) =>
      high > low ? HEIGHT - 2 - ((HEIGHT - 4) * (number - low)) / (high - low) : HEIGHT / 2;
    const marks = history.readings.flatMap((reading, index) => {
      if (reading.is_fault) return [];
      const [start, end] = [across(reading.time), across(history.readings[index + 1]?.time ?? total)];
      if (reading.number === null) return [`M${start},3V${HEIGHT - 3}`];
      const y = down(reading.number);
      const before = history.readings[index - 1]?.number ?? null;
      return [before === null ? `M${start},${y}H${end}` : `M${start},${down(before)}V${y}H${end}`];
    });
    const changes = history.readings.filter((reading) => !reading.is_fault).length;
    const label = `${history.expression} over the run: ${changes} values`;
    const picture = svg(
      "svg",
      { class: "spark", width: WIDTH, height: HEIGHT, role: "img", "aria-label": label },
      svg("path", { d: marks.join(""), fill: "none", stroke: "var(--cat0)" }),
      svg("line", { x1: across(at), x2: across(at), y1: 0, y2: HEIGHT, stroke: "var(--currentBar)" }),
    );
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const time = Math.round(((event.clientX - box.left) / box.width) * total);
      this.asks.go(readingAt(history, time)?.time ?? time);
    });
    return picture;
  }
}

function readingAt(history: History, at: number): Reading | undefined {
  return history.readings.findLast((reading) => reading.time <= at);
}
