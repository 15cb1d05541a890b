// The text that is edited: a CodeMirror view that stays while Streamlit runs the page again, and so does its history.

import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentService,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Prec, type Text, Transaction } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  type ViewUpdate,
} from "@codemirror/view";
import type { Code, Mend } from "#generated/models";
import { el, nodes, treeOf } from "#shared/dom";
import { columnOf } from "#shared/values";
import { foldedParameters, folding, foldParameters, foldsIndented } from "./folding";
import { languageOf, TAG_CLASSES } from "./grammar";
import { marking, problemsOn } from "./marks";
import { problemTip } from "./problems";
import { offsetIn, type Replacement, Since } from "./since";
import { theme } from "./theme";

/** What the text asks of the component. */
export interface Asks {
  /** The user changed the text. */
  readonly onChange: () => void;
  /** The user moved the caret. */
  readonly onCaret: () => void;
  readonly onSubmit: () => void;
  readonly onDrop: (file: File) => void;
}

const INDENT = "    ";

/** The shortest replacement that makes one text of another, so that the caret stays where it is elsewhere. */
export function replacement(before: string, after: string): Replacement {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

/** The indentation of a line that follows another one. */
export function indentAfter(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? "";
  return /[:{]\s*$/.test(line) ? indent + INDENT : indent;
}

/** A text with one kind of line end, as the view has it. */
export function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

export class TextView {
  readonly element = el("div", { class: "edit" });
  readonly view: EditorView;
  private readonly language = new Compartment();
  private readonly access = new Compartment();
  private readonly since = new Since();
  private shown: Code["language"] = "plain";
  private compared: { readonly doc: Text; readonly text: string; readonly isSame: boolean } | undefined;

  constructor(
    root: HTMLElement,
    private readonly asks: Asks,
    further: Extension,
  ) {
    root.append(this.element);
    const state = EditorState.create({ extensions: [this.extensions(), further] });
    this.view = new EditorView({ state, parent: this.element, root: treeOf(root) });
  }

  private extensions(): Extension {
    const submit = () => {
      this.asks.onSubmit();
      return true;
    };
    const names = { "aria-label": "Program text", "aria-description": "Tab leaves the editor, Control and Enter run" };
    return [
      Prec.highest(
        keymap.of([
          { key: "Mod-Enter", run: submit },
          { key: "Ctrl-Shift-[", mac: "Cmd-Alt-[", run: foldParameters },
        ]),
      ),
      marking,
      lineNumbers(),
      folding(),
      foldGutter(),
      foldsIndented,
      history(),
      drawSelection(),
      highlightSpecialChars(),
      bracketMatching(),
      highlightSelectionMatches({ minSelectionLength: 2 }),
      search({ top: true }),
      syntaxHighlighting(HighlightStyle.define(TAG_CLASSES)),
      indentUnit.of(INDENT),
      indentService.of((context, place) => {
        const line = context.state.doc.lineAt(place);
        return indentAfter(context.textAfterPos(line.from, -1).slice(0, place - line.from)).length;
      }),
      keymap.of([...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of({
        ...names,
        tabindex: "0",
        spellcheck: "false",
        autocapitalize: "off",
        autocorrect: "off",
      }),
      EditorView.updateListener.of((update) => this.onUpdate(update)),
      EditorView.domEventHandlers({
        dragover: (event) => acceptFiles(event),
        drop: (event) => this.onDrop(event),
      }),
      hoverTooltip((view, place) => tipAt(view, place)),
      theme,
      this.language.of([]),
      this.access.of([]),
    ];
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Whether a text is the one that is shown; asked at every move of the caret, so the last answer is kept. */
  shows(text: string): boolean {
    const { doc } = this.view.state;
    if (this.compared?.doc !== doc || this.compared.text !== text) {
      this.compared = { doc, text, isSame: doc.toString() === withLineFeeds(text) };
    }
    return this.compared.isSame;
  }

  get isReadonly(): boolean {
    return this.view.state.readOnly;
  }

  get lineCount(): number {
    return this.view.state.doc.lines;
  }

  lineText(line: number): string {
    return line >= 1 && line <= this.lineCount ? this.view.state.doc.line(line).text : "";
  }

  setLanguage(language: Code["language"]): void {
    if (language === this.shown) return;
    this.shown = language;
    this.view.dispatch({ effects: this.language.reconfigure(languageOf(language) ?? []) });
  }

  setReadonly(isReadonly: boolean): void {
    if (isReadonly === this.isReadonly) return;
    this.view.dispatch({ effects: this.access.reconfigure(EditorState.readOnly.of(isReadonly)) });
  }

  /** Writes another text, which the user can undo; the first text of all is where undoing ends. */
  write(text: string, isFirst: boolean): void {
    const changes = replacement(this.text, withLineFeeds(text));
    const annotations = isFirst ? [Transaction.addToHistory.of(false)] : [isolateHistory.of("full")];
    // Of another program the top is shown; a text that differs in a part stays where it is.
    const isOther = changes.insert.length > text.length / 2;
    const top = isOther ? { selection: { anchor: 0 }, effects: EditorView.scrollIntoView(0) } : {};
    this.view.dispatch({ changes, annotations, ...top });
    if (isFirst || isOther) this.view.dispatch({ effects: foldedParameters(this.view.state) });
  }

  /** Puts a text in the place of all, as one step of the user. */
  replaceAll(text: string): void {
    this.view.dispatch({
      changes: replacement(this.text, withLineFeeds(text)),
      annotations: [isolateHistory.of("full")],
      userEvent: "input.drop",
    });
  }

  /** Python is sent the text that is shown, or has sent it. */
  mark(): void {
    this.since.mark(this.view.state.doc);
  }

  /** What a mend of a text replaces by now; null where something was written since, undefined if it was not marked. */
  placeOfMend(text: string, mend: Mend): Replacement | null | undefined {
    return this.since.placeOf(withLineFeeds(text), mend);
  }

  /** Writes mends, which are ordered and apart, as one step of the user. */
  replace(mends: readonly Replacement[]): void {
    const changes = this.view.state.changes(mends);
    const [first] = mends;
    const caret = first ? changes.mapPos(first.to, 1) : 0;
    this.view.dispatch({
      changes,
      selection: { anchor: caret },
      annotations: [isolateHistory.of("full")],
      userEvent: "input.fix",
    });
    this.view.focus();
  }

  /** The caret's line and column, from 1. */
  get caret(): readonly [line: number, column: number] {
    const place = this.view.state.selection.main.head;
    const line = this.view.state.doc.lineAt(place);
    return [line.number, columnOf(line.text, place - line.from)];
  }

  placeOf(line: number, column: number): number {
    return offsetIn(this.view.state.doc, line, column);
  }

  goTo(line: number, column: number): void {
    this.view.focus();
    this.view.dispatch({ selection: { anchor: this.placeOf(line, column) } });
    this.reveal(line);
  }

  /** Scrolls to a line unless it is in sight. */
  reveal(line: number): void {
    const { scrollDOM } = this.view;
    const place = this.placeOf(line, 1);
    const block = this.view.lineBlockAt(place);
    const isAbove = block.top < scrollDOM.scrollTop;
    const isBelow = block.bottom > scrollDOM.scrollTop + scrollDOM.clientHeight - 2 * block.height;
    if (isAbove || isBelow) this.view.dispatch({ effects: EditorView.scrollIntoView(place, { y: "center" }) });
  }

  private onUpdate(update: ViewUpdate): void {
    const isUsers = update.transactions.some((item) => item.annotation(Transaction.userEvent) !== undefined);
    if (update.docChanged) this.since.add(update.changes);
    if (update.docChanged && isUsers) this.asks.onChange();
    if (update.selectionSet && update.transactions.some((item) => item.isUserEvent("select"))) this.asks.onCaret();
  }

  // A dropped file takes the place of the text.
  private onDrop(event: DragEvent): boolean {
    const file = event.dataTransfer?.files[0];
    if (!file) return false;
    event.preventDefault();
    if (!this.isReadonly) this.asks.onDrop(file);
    return true;
  }
}

function acceptFiles(event: DragEvent): boolean {
  const hasFiles = event.dataTransfer?.types.includes("Files") ?? false;
  if (hasFiles) event.preventDefault();
  return hasFiles;
}

// What is said of the problems on the line under the pointer.
function tipAt(view: EditorView, place: number) {
  const found = problemsOn(view.state, place);
  if (!found.length) return null;
  const create = () => {
    const dom = el("div", { role: "tooltip" });
    dom.append(...nodes(problemTip(found)));
    return { dom };
  };
  return { pos: place, above: false, create };
}
