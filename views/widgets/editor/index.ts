// Code editor: a text with its problems, and the node under the caret.

import type { Code, EditorAction, EditorProps, Mend, Vocabulary } from "#generated/models";
import { button, tabs } from "#shared/controls";
import { el, replace } from "#shared/dom";
import { HeatLegend } from "#shared/heat";
import { laterOrOnLeaving } from "#shared/leaving";
import { component, type Take, type Tell } from "#shared/mount";
import { onSharedSelection, shareSelection } from "#shared/selection";
import heatStyle from "../shared/heat.css";
import { assistance } from "./assist";
import type { Known } from "./knowledge";
import { showHeat, showLines, showProblems } from "./marks";
import { nodeAt, rangesOf } from "./places";
import { Problems } from "./problems";
import { renaming } from "./rename";
import style from "./style.css";
import { TextView } from "./text_view";

interface Values {
  readonly text: string;
  readonly node: string;
  readonly go_line: number;
}

const MAX_FILE_MEGABYTES = 4;
const CHANGE_DELAY = 400;
const CARET_DELAY = 120;

class Editor {
  private readonly head = el("div", { class: "ph" });
  private readonly problems = new Problems(
    (line, column) => this.goTo(line, column),
    (mends) => this.mend(mends),
  );
  private readonly reportText = laterOrOnLeaving(CHANGE_DELAY, () => this.report({ kind: "text" }));
  private readonly reportCaret = laterOrOnLeaving(CARET_DELAY, () => this.selectAtCaret());
  private readonly text: TextView;
  private readonly legend = new HeatLegend();
  private model: (Code & Vocabulary) | undefined;
  private names: Code["names"] = [];
  private values: EditorProps["values"] = [];
  private selected = "";

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<EditorAction>,
  ) {
    root.append(this.head, this.legend.element);
    const asks = {
      onChange: () => this.reportText(),
      onCaret: () => this.reportCaret(),
      onSubmit: () => this.submit(),
      onDrop: (file: File) => void this.openDropped(file),
    };
    const go = (line: number, column: number) => this.goTo(line, column);
    this.text = new TextView(root, asks, [
      assistance(() => this.known, go),
      renaming(() => (this.placed ? this.known : undefined)),
    ]);
    root.append(this.problems.head, this.problems.body);
    onSharedSelection(root, (node) => this.showNode(node));
  }

  setModel(model: Code & Vocabulary): void {
    const isFirst = this.model === undefined;
    this.model = model;
    // A text that is being written is often broken for a while: what it defined before is still meant.
    const isBroken = model.problems.some((problem) => problem.severity === "error");
    if (model.names.length || !isBroken) this.names = model.names;
    this.text.setLanguage(model.language);
    if (isFirst) this.text.write(model.text, true);
    this.root.dataset.problems = String(model.problems.length);
    if (this.placed) this.text.mark();
    this.drawProblems(model);
    this.drawMarks();
  }

  setProps(props: EditorProps, take: Take<Values>): void {
    const { model, text } = this;
    if (!model) return;
    if (take("text") !== undefined && !text.shows(model.text)) {
      this.reportText.cancel();
      text.write(model.text, false);
      text.mark();
      this.drawProblems(model);
      this.drawMarks();
    }
    text.setReadonly(props.is_readonly);
    this.problems.withhold(props.is_withheld);
    this.values = props.values;
    const selected = take("node");
    if (selected !== undefined) this.showNode(selected);
    const line = take("go_line");
    // Where a statement begins: the caret there selects it.
    if (line) this.goTo(line, text.lineText(line).search(/\S|$/) + 1);
    this.drawHead(model, props);
    this.legend.show(props.heat);
    // Its lines are those of the text that Python has seen.
    if (this.placed) showHeat(text.view, props.heat?.lines ?? []);
  }

  // What Python said of places belongs to one text: of another that is shown nothing is known.
  private get placed(): Code | undefined {
    return this.model && this.text.shows(this.model.text) ? this.model : undefined;
  }

  private get ranges(): Code["ranges"] {
    return this.placed?.ranges ?? [];
  }

  private get known(): Known {
    const { language, terms } = this.model ?? { language: "plain", terms: [] };
    return { language, terms, names: this.names, values: this.placed ? this.values : [] };
  }

  private report(action: Omit<EditorAction, "text" | "node">): void {
    this.text.mark();
    this.tell({ text: this.text.text, node: this.selected, ...action });
  }

  private submit(): void {
    this.reportText.cancel();
    this.report({ kind: "submit" });
  }

  private async openDropped(file: File): Promise<void> {
    const isTooLarge = file.size > MAX_FILE_MEGABYTES << 20;
    const text = isTooLarge ? `# ${file.name} is larger than ${MAX_FILE_MEGABYTES} MB: not opened` : await file.text();
    this.text.replaceAll(text);
    this.text.view.focus();
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

  private goTo(line: number, column: number): void {
    this.text.goTo(line, column);
    this.selectAtCaret();
  }

  // Places are those of the text that Python has seen, and what was written since may have moved them.
  private mend(mends: readonly Mend[]): void {
    const { model, text } = this;
    const places = mends.flatMap((item) => (model && text.placeOfMend(model.text, item)) ?? []);
    if (!model || !places.length || text.isReadonly) return;
    text.replace(places);
    this.submit();
    this.drawProblems(model);
  }

  // What was just mended is no problem any more: the answer that says so is on its way.
  private drawProblems({ problems, text }: Code): void {
    this.problems.show(problems.filter(({ mend }) => !mend || this.text.placeOfMend(text, mend) !== null));
  }

  private showNode(node: string): void {
    this.setSelected(node);
    const [range] = rangesOf(this.ranges, node);
    if (range) this.text.reveal(range[1]);
  }

  private setSelected(node: string): void {
    this.selected = node;
    this.root.dataset.selected = node;
    this.drawLines();
  }

  private drawMarks(): void {
    if (this.model) showProblems(this.text.view, this.model.problems);
    this.drawLines();
  }

  private drawLines(): void {
    const dim = (this.placed?.lines ?? []).flatMap((line, i) => (line.is_dim ? [i + 1] : []));
    const selected = [...new Set(rangesOf(this.ranges, this.selected).map((range) => range[1]))];
    showLines(this.text.view, { dim, selected });
  }

  private selectAtCaret(): void {
    const node = nodeAt(this.ranges, ...this.text.caret);
    if (!node || node === this.selected) return;
    this.setSelected(node);
    shareSelection(node, this.root);
    this.report({ kind: "select" });
  }
}

export default component(`${heatStyle}\n${style}`, (root, tell: Tell<EditorAction>) => new Editor(root, tell));
