// Code editor: a plain textarea (native caret, undo, input methods) over a highlighted layer.

import type { Code, EditorAction, EditorProps } from "../generated/models";
import { button, tabs } from "../shared/controls";
import { el, replace } from "../shared/dom";
import { laterOrOnLeaving } from "../shared/leaving";
import { component, type Take, type Tell } from "../shared/mount";
import { onSharedSelection, shareSelection } from "../shared/selection";
import { columnOf, unitOf } from "../shared/values";
import { Layer, LINE_HEIGHT } from "./layer";
import { nodeAt, problemsAt, rangesOf } from "./places";
import { Problems, problemTip } from "./problems";
import style from "./style.css";

interface Values {
  readonly text: string;
  readonly node: string;
  readonly go_line: number;
}

const MAX_FILE_MEGABYTES = 4;
const CHANGE_DELAY = 400;
const CARET_DELAY = 120;
// Typing in a text with more lines takes the browser longer than a user waits.
const TYPED_LINES = 300;
const CARET_KEYS = /^(Arrow|Home|End|Page)/;

class Editor {
  private readonly head = el("div", { class: "ph" });
  private readonly layer = new Layer();
  private readonly box = el("textarea", {
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    wrap: "off",
    "aria-label": "Program text",
    "aria-description": "Tab leaves the editor, Control and Enter run",
  });
  private readonly tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  private readonly problems = new Problems((line, column) => this.goTo(line, column));
  private readonly reportText = laterOrOnLeaving(CHANGE_DELAY, () => this.report({ kind: "text" }));
  private readonly reportCaret = laterOrOnLeaving(CARET_DELAY, () => this.selectAtCaret());
  private model: Code | undefined;
  private isWritten = false;
  private isDue = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<EditorAction>,
  ) {
    const gutter = el("div", { class: "gutter", "aria-hidden": "true" }, this.layer.gutter);
    const field = el("div", { class: "field" }, this.layer.element, this.box);
    const edit = el("div", { class: "edit" }, gutter, field);
    root.append(this.head, edit, this.problems.head, this.problems.body, this.tip);
    this.listen(this.box);
    new ResizeObserver(() => this.redraw()).observe(this.box);
    onSharedSelection(root, (node) => this.showNode(node));
  }

  private listen(box: HTMLTextAreaElement): void {
    box.addEventListener("input", () => this.onInput());
    box.addEventListener("scroll", () => this.redraw());
    box.addEventListener("click", () => this.reportCaret());
    box.addEventListener("keyup", (event) => CARET_KEYS.test(event.key) && this.reportCaret());
    box.addEventListener("keydown", (event) => this.onKey(event));
    box.addEventListener("mousemove", (event) => this.onHover(event));
    box.addEventListener("mouseleave", () => this.hideTip());
    box.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
    box.addEventListener("drop", (event) => void this.openDropped(event));
  }

  setModel(model: Code): void {
    this.model = model;
    if (!this.isWritten) this.write(model.text);
    this.layer.setCode(model);
    this.root.dataset.problems = String(model.problems.length);
    this.problems.show(model.problems);
    this.redraw();
  }

  setProps(props: EditorProps, take: Take<Values>): void {
    const { model } = this;
    if (!model) return;
    if (take("text") !== undefined && this.box.value !== model.text) {
      this.reportText.cancel();
      this.write(model.text);
      this.redraw();
    }
    this.box.readOnly = props.is_readonly;
    const selected = take("node");
    if (selected !== undefined) this.showNode(selected);
    const line = take("go_line");
    if (line) this.goTo(line, this.indentOf(line));
    this.drawHead(model, props);
  }

  private report(action: Omit<EditorAction, "text" | "node">): void {
    this.tell({ text: this.box.value, node: this.layer.selected, ...action });
  }

  private redraw(): void {
    this.layer.draw(this.box);
  }

  // One redraw per frame: an insertion of many lines sends an event for each of them.
  private onInput(): void {
    this.reportText();
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.layer.setText(this.box.value);
      this.redraw();
    });
  }

  private write(text: string): void {
    this.isWritten = true;
    this.box.value = text;
    this.layer.setText(text);
    this.box.setSelectionRange(0, 0);
    this.box.scrollTop = 0;
  }

  // A dropped file takes the place of the text. Typing it in, as a person would, keeps undo; a long one is put in.
  private async openDropped(event: DragEvent): Promise<void> {
    const file = event.dataTransfer?.files[0];
    if (!file || this.box.readOnly) return;
    event.preventDefault();
    const isTooLarge = file.size > MAX_FILE_MEGABYTES << 20;
    const text = isTooLarge ? `# ${file.name} is larger than ${MAX_FILE_MEGABYTES} MB: not opened` : await file.text();
    this.box.focus();
    this.box.select();
    const isShort = text.split("\n", TYPED_LINES + 1).length <= TYPED_LINES;
    if (!isShort || !document.execCommand("insertText", false, text)) {
      this.box.setRangeText(text);
      this.box.dispatchEvent(new Event("input"));
    }
    this.reportText.cancel();
    this.report({ kind: "open", name: file.name });
  }

  private drawHead(model: Code, props: EditorProps): void {
    const names = props.tabs.length ? props.tabs : ([["", model.name || "Text"]] as const);
    const pick = (id: string) => this.report({ kind: "tab", command: id });
    const command = (id: string) => this.report({ kind: "command", command: id });
    replace(
      this.head,
      tabs(names, props.tab || (names[0]?.[0] ?? ""), pick),
      el("span", { class: "sp" }),
      props.actions.map(([id, label]) => button(label, "t", "", () => command(id))),
    );
  }

  // Where a statement begins: the caret there selects it.
  private indentOf(line: number): number {
    return this.lineText(line).search(/\S|$/) + 1;
  }

  private lineText(line: number): string {
    return this.layer.lines[line - 1] ?? "";
  }

  private goTo(line: number, column: number): void {
    const before = this.layer.lines.slice(0, Math.max(0, line - 1));
    const start = before.reduce((sum, text) => sum + text.length + 1, 0);
    const place = start + unitOf(this.lineText(line), column || 1);
    this.box.focus();
    this.box.setSelectionRange(place, place);
    this.reveal(line);
    this.selectAtCaret();
  }

  private reveal(line: number): void {
    const { box } = this;
    const top = (line - 1) * LINE_HEIGHT;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 3 * LINE_HEIGHT) {
      box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    }
    this.redraw();
  }

  private showNode(node: string): void {
    this.setSelected(node);
    const [range] = rangesOf(this.layer.ranges, node);
    if (range) this.reveal(range[1]);
    else this.redraw();
  }

  private setSelected(node: string): void {
    this.layer.selected = node;
    this.root.dataset.selected = node;
  }

  private selectAtCaret(): void {
    const before = this.box.value.slice(0, this.box.selectionEnd);
    const lines = before.split("\n");
    const last = lines.at(-1) ?? "";
    const node = nodeAt(this.layer.ranges, lines.length, columnOf(last, last.length));
    if (!node || node === this.layer.selected) return;
    this.setSelected(node);
    this.redraw();
    shareSelection(node, this.root);
    this.report({ kind: "select" });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") this.hideTip();
    if (event.key !== "Enter") return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.reportText.cancel();
      this.report({ kind: "submit" });
    } else if (!event.shiftKey && !event.altKey && !event.isComposing && !this.box.readOnly) {
      this.indent(event);
    }
  }

  private indent(event: KeyboardEvent): void {
    const line = this.box.value.slice(0, this.box.selectionStart).split("\n").at(-1) ?? "";
    const indent = (/^ */.exec(line)?.[0] ?? "") + (/[:{]\s*$/.test(line) ? "    " : "");
    // insertText is the only way that keeps the native undo history.
    if (indent && document.execCommand("insertText", false, `\n${indent}`)) event.preventDefault();
  }

  private hideTip(): void {
    this.tip.hidden = true;
  }

  private onHover(event: MouseEvent): void {
    const rect = this.box.getBoundingClientRect();
    const line = Math.floor((event.clientY - rect.top - 6 + this.box.scrollTop) / LINE_HEIGHT) + 1;
    const found = problemsAt(this.layer.problems, line);
    this.tip.hidden = !found.length;
    if (!found.length) return;
    replace(this.tip, problemTip(found));
    const home = this.root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height, style } = this.tip;
    style.left = `${Math.max(4, Math.min(event.clientX - home.left + 12, home.width - width - 8))}px`;
    const below = event.clientY - home.top + 18;
    style.top = `${below + height > home.height ? below - height - 30 : below}px`;
  }
}

export default component(style, (root, tell: Tell<EditorAction>) => new Editor(root, tell));
