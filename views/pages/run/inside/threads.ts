// The threads of a block: a cell for each, a row for each warp, and in words who runs, waits or has ended.

import type { InsideThreads, ThreadGroup, ThreadsHere } from "#generated/models";
import { button, choice, link } from "#shared/controls";
import { type Child, el, replace } from "#shared/dom";
import { headOf } from "#shared/tables";

export interface Asks {
  /** `name` is what is chosen: block, thread or order. */
  readonly choose: (name: string, text: string) => void;
}

const LANES = 32;
const LETTERS: Readonly<Record<string, string>> = { runs: "r", ready: "g", waits: "w", off: "o", ended: "e" };
const WORDS: Readonly<Record<string, string>> = {
  runs: "run",
  ready: "are ready for",
  waits: "wait at the barrier in",
  off: "wait behind",
  ended: "have ended",
};
const ORDERS = [
  ["forward", "first warp ahead"],
  ["backward", "last warp ahead"],
  ["turns", "warps in turn"],
] as const;

export class Threads {
  readonly element = el("div", { class: "threads" });
  /** What was drawn last: most steps change a few cells. */
  private drawn = "";

  constructor(private readonly asks: Asks) {}

  draw(threads: InsideThreads | null | undefined, here: ThreadsHere | null | undefined): void {
    const now = here ?? threads?.here;
    const text = JSON.stringify([threads, now]);
    if (text === this.drawn) return;
    this.drawn = text;
    if (!threads || !now) {
      replace(this.element, "");
      return;
    }
    replace(
      this.element,
      headOf("Threads", threads.grid),
      this.choices(threads),
      el("div", { class: "warps", role: "img", "aria-label": labelOf(now) }, this.rows(threads, now)),
      el(
        "div",
        { class: "groups", role: "list" },
        now.groups.map((group) => this.group(group)),
      ),
    );
  }

  private choices(threads: InsideThreads): HTMLElement {
    const field = (name: "block" | "thread", most: number) => {
      const box = el("input", {
        type: "number",
        min: 0,
        max: most - 1,
        value: threads[name],
        "aria-label": name === "block" ? "Block" : "Thread",
        change: () => this.asks.choose(name, box.value),
      });
      return el("label", { class: "pick-one" }, name === "block" ? "Block" : "Thread", box);
    };
    const toBlock = (by: 1 | -1) => {
      const block = threads.block + by;
      const isThere = block >= 0 && block < threads.block_count;
      return button(by < 0 ? "‹" : "›", "i", "", () => this.asks.choose("block", String(block)), {
        disabled: !isThere,
        "aria-label": by < 0 ? "Block before" : "Next block",
      });
    };
    const isPlain = ORDERS.some(([id]) => id === threads.order);
    const orders = isPlain ? ORDERS : ([...ORDERS, [threads.order, threads.order]] as const);
    const order = choice("Order of warps", orders, threads.order, (id) => this.asks.choose("order", id));
    return el(
      "div",
      { class: "to" },
      toBlock(-1),
      field("block", threads.block_count),
      toBlock(1),
      field("thread", threads.thread_count),
      order,
    );
  }

  private rows(threads: InsideThreads, now: ThreadsHere): Child[] {
    const rows: Child[] = [];
    for (let first = 0; first < now.states.length; first += LANES) {
      const cells = [...now.states.slice(first, first + LANES)].map((state, lane) => {
        const thread = first + lane;
        const marks = `${thread === threads.thread ? " chosen" : ""}${thread === now.shown ? " shown" : ""}`;
        const pick = () => this.asks.choose("thread", String(thread));
        return el("span", { class: `lane ${state}${marks}`, title: `thread ${thread}`, click: pick }, state);
      });
      const isNow = now.warp * LANES === first && now.groups.some((group) => group.state === "runs");
      const name = el("span", { class: `warp${isNow ? " on" : ""}` }, String(first / LANES));
      rows.push(el("div", { class: "lanes", "aria-hidden": "true" }, name, cells));
    }
    return rows;
  }

  private group(group: ThreadGroup): HTMLElement {
    const letter = LETTERS[group.state] ?? "";
    const first = group.threads.split(/[-,]/)[0] ?? "0";
    const at = group.line ? ` line ${group.line}` : "";
    const why = group.text ? [" ", el("span", { class: "m" }, group.text), ","] : "";
    return el(
      "div",
      { class: "group", role: "listitem" },
      el("span", { class: `lane ${letter}`, "aria-hidden": "true" }, letter),
      link(group.threads, () => this.asks.choose("thread", first), { title: `Look at thread ${first}` }),
      el("span", {}, ` ${WORDS[group.state] ?? ""}`, why, at),
    );
  }
}

function labelOf(now: ThreadsHere): string {
  const parts = now.groups.map((group) => `${group.threads} ${WORDS[group.state]} line ${group.line}`);
  return `Threads ${parts.join("; ")}`;
}
