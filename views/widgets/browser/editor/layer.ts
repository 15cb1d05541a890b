// The picture behind the textarea: highlighted text, line numbers and problem marks of the visible lines only.

import type { Code, NodeRange, Problem } from "../generated/models";
import { markedSpans, type Piece, textOf } from "../shared/code";
import { el } from "../shared/dom";
import { severitySign } from "../shared/marks";
import { problemsAt, rangesOf, squiggles } from "./places";
import { tokenize } from "./tokenize";

export const LINE_HEIGHT = 19;
const OVERSCAN = 8;

interface DrawnLine {
  readonly tokens: readonly Piece[];
  readonly isDim: boolean;
}

export class Layer {
  readonly element = el("div", { class: "layer code", "aria-hidden": "true" });
  readonly gutter = el("div", { class: "inner" });
  selected = "";
  /** The lines of the text that is shown. */
  lines: readonly string[] = [];
  private text: string | undefined;
  private code: Code | undefined;
  private codeLines: readonly string[] = [];
  private drawn = new Map<number, DrawnLine>();

  setText(text: string): void {
    this.text = text;
    this.lines = text.split("\n");
    this.drawn = new Map();
  }

  setCode(code: Code): void {
    this.code = code;
    this.codeLines = code.text.split("\n");
    this.drawn = new Map();
  }

  /** Nodes, which belong to one text; none while another is shown. */
  get ranges(): readonly NodeRange[] {
    return this.code && this.code.text === this.text ? this.code.ranges : [];
  }

  /** Problems stay beside a text that is being edited until the next answer. */
  get problems(): readonly Problem[] {
    return this.code?.problems ?? [];
  }

  draw(box: HTMLTextAreaElement): void {
    const first = Math.max(0, Math.floor(box.scrollTop / LINE_HEIGHT) - OVERSCAN);
    const end = Math.ceil((box.scrollTop + box.clientHeight) / LINE_HEIGHT) + OVERSCAN;
    const chosen = new Set(rangesOf(this.ranges, this.selected).map((range) => range[1]));
    const left: HTMLElement[] = [];
    const middle: HTMLElement[] = [];
    for (let i = first; i < Math.min(this.lines.length, end); i += 1) {
      const { tokens, isDim } = this.lineOf(i);
      const look = `ln${chosen.has(i + 1) ? " sel" : ""}${isDim ? " dim" : ""}`;
      const place = { class: look, style: { top: `${i * LINE_HEIGHT}px` }, data: { line: i + 1 } };
      const problem = problemsAt(this.problems, i + 1).find((item) => item.line === i + 1);
      const mark = problem && el("span", { class: "mark" }, severitySign(problem.severity));
      const spans = markedSpans(tokens, squiggles(this.problems, i + 1, this.lines[i] ?? ""));
      left.push(el("div", place, el("span", { class: "g" }, mark, i + 1)));
      middle.push(el("div", place, el("span", { class: "t" }, spans)));
    }
    this.gutter.replaceChildren(...left);
    this.element.replaceChildren(...middle);
    this.element.style.transform = `translate(${-box.scrollLeft}px,${-box.scrollTop}px)`;
    this.gutter.style.transform = `translateY(${-box.scrollTop}px)`;
  }

  // Tokens of the server count only while they spell the line as it is in the textarea.
  private lineOf(i: number): DrawnLine {
    const known = this.drawn.get(i);
    if (known) return known;
    const text = this.lines[i] ?? "";
    const line = this.code?.lines[i];
    const isSpelt = line && this.codeLines[i] === text && textOf(line.tokens) === text;
    const found = isSpelt
      ? { tokens: line.tokens, isDim: line.is_dim }
      : { tokens: tokenize(text, this.code?.language ?? "plain"), isDim: false };
    this.drawn.set(i, found);
    return found;
  }
}
