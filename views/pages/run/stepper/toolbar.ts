// The buttons that step, what a step is, and the time.

import { button, segments } from "#shared/controls";
import { el } from "#shared/dom";
import type { Command, StepBy } from "./state";
import type { Stepping } from "./stepping";

export interface Asks {
  readonly step: (command: Command) => void;
  readonly continue: (direction: 1 | -1) => void;
  readonly go: (time: number) => void;
  readonly setBy: (by: StepBy) => void;
}

const STEP_BY = [
  ["binding", "binding"],
  ["instruction", "instruction"],
] as const;

export class Toolbar {
  readonly element = el("div", { class: "toolbar", role: "toolbar", "aria-label": "Stepping" });
  private readonly steps: readonly (readonly [Command, HTMLButtonElement])[];
  private readonly start: HTMLButtonElement;
  private readonly end: HTMLButtonElement;
  private readonly continue: HTMLButtonElement;
  private readonly by: HTMLElement;
  private readonly time = el("span", { class: "m time" });

  constructor(asks: Asks) {
    const step = (command: Command, text: string, key: string, title: string) =>
      [command, toolButton(command, { text, key, title }, () => asks.step(command))] as const;
    this.steps = [
      step("back", "‹ Back", "b", "Back (b)"),
      step("over", "Over", "n", "Over (n, F10)"),
      step("into", "In", "i", "In (i, F11)"),
      step("out", "Out", "o", "Out (o, Shift+F11)"),
    ];
    const next = "Continue to the next breakpoint (F8)";
    this.start = toolButton("start", { text: "⇤", title: "Start", look: "i" }, () => asks.go(0));
    this.end = toolButton("end", { text: "⇥", title: "End", look: "i" }, () => asks.go(Number.POSITIVE_INFINITY));
    this.continue = toolButton("continue", { text: "Continue", title: next, look: "p", key: "F8" }, () =>
      asks.continue(1),
    );
    this.start.setAttribute("aria-label", "Start");
    this.end.setAttribute("aria-label", "End");
    this.by = segments("Step by", STEP_BY, "binding", asks.setBy);
    const label = el("span", { class: "muted stepby" }, "Step by");
    const buttons = [this.start, ...this.steps.map(([, button]) => button), this.continue, this.end];
    this.element.append(...buttons, el("span", { class: "sp" }), label, this.by, this.time);
  }

  draw(stepping: Stepping): void {
    for (const [command, button] of this.steps) {
      const isKernel = command === "into" && stepping.kernel >= 0;
      button.disabled = !isKernel && !stepping.canStep(command);
    }
    this.start.disabled = stepping.at === 0;
    this.end.disabled = stepping.isLast;
    this.continue.disabled = stepping.isLast;
    this.time.textContent = `time ${stepping.at}${stepping.until < 0 ? ` of ${stepping.run.total}` : ""}`;
    for (const choice of this.by.children) {
      const isOn = choice instanceof HTMLElement && choice.dataset.id === stepping.by;
      choice.setAttribute("aria-pressed", String(isOn));
    }
  }
}

interface Look {
  readonly text: string;
  readonly title: string;
  /** The class of the button. */
  readonly look?: string;
  readonly key?: string;
}

function toolButton(name: string, { text, title, look = "", key = "" }: Look, act: () => void): HTMLButtonElement {
  return button(text, look, key, act, { title, data: { step: name }, "aria-keyshortcuts": key || null });
}
