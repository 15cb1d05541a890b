// A name is written anew wherever it means the same: F2 at a name asks for another one.

import { isolateHistory } from "@codemirror/commands";
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import type { Code, NameFact } from "#generated/models";
import { el } from "#shared/dom";
import { consume } from "#shared/keys";
import { definitionOf, type Known, wordAt } from "./knowledge";

type Language = Code["language"];
/** From and to in a text. */
export type Place = readonly [from: number, to: number];

const SHOW = StateEffect.define<NameFact | null>();
const MODULES = /^class (\w+)/gmu;
const NOT_CODE: Readonly<Record<string, RegExp>> = {
  tvmscript: /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*/gu,
  relay: /"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//gu,
};

/** Every place that means a name, as far as its function reaches, its definitions included. */
export function occurrencesOf(text: string, [name, kind, , , , first, last]: NameFact, language: Language): Place[] {
  const isScript = language === "tvmscript";
  const code = codeOf(text, language, kind === "dimension");
  const owners = ["cls", "self", ...[...text.matchAll(MODULES)].map((found) => found[1] ?? "")];
  const behind = isScript ? (kind === "function" ? /[\p{L}\p{N}_]$/u : /[\p{L}\p{N}_.]$/u) : /[\p{L}\p{N}_@%.]$/u;
  const places: Place[] = [];
  let start = 0;
  for (const [number, line] of code.split("\n").entries()) {
    for (let at = line.indexOf(name); at >= 0; at = line.indexOf(name, at + name.length)) {
      const [before, after] = [line.slice(0, at), line.slice(at + name.length)];
      const isWhole = !behind.test(before) && !/^[\p{L}\p{N}_]/u.test(after);
      const isKeyword = isScript && /[(,]\s*$/u.test(before) && /^\s*=(?!=)/u.test(after);
      const owner = /([\p{L}\p{N}_.]*)\.$/u.exec(before)?.[1];
      const isOfAnother = isScript && owner !== undefined && !owners.includes(owner);
      const isInReach = number + 1 >= first && number + 1 <= last;
      if (isInReach && isWhole && !isKeyword && !isOfAnother) places.push([start + at, start + at + name.length]);
    }
    start += line.length + 1;
  }
  return places;
}

// A text with blanks for comments and, unless they are wanted, for strings: a dimension stands in them.
function codeOf(text: string, language: Language, hasStrings: boolean): string {
  const blank = (found: string) => (hasStrings && /^["']/u.test(found) ? found : found.replace(/[^\n]/gu, " "));
  return text.replace(NOT_CODE[language] ?? /$^/u, blank);
}

/** Why a name cannot have another one in its place; empty if it can. */
export function refusalOf(known: Known, fact: NameFact, wanted: string): string {
  const sign = /^[@%]/u.exec(fact[0])?.[0] ?? "";
  if (!/^[@%]?[\p{L}_][\p{L}\p{N}_]*$/u.test(wanted) || !wanted.startsWith(sign)) {
    return sign ? `A name that begins with ${sign} is wanted.` : "This is no name.";
  }
  const isTaken = known.names.some(
    ([name, , , , , first, last]) => name === wanted && first <= fact[6] && last >= fact[5],
  );
  return isTaken ? `${wanted} is there already.` : "";
}

/** F2 renames the name at the caret; `ask` gives what is known of the text that is shown, if anything is. */
export function renaming(ask: () => Known | undefined): Extension {
  const shown = StateField.define<Tooltip | null>({
    create: () => null,
    update(tooltip, transaction) {
      const said = transaction.effects.find((effect) => effect.is(SHOW));
      if (said) return said.value ? tooltipFor(transaction.state, said.value, ask) : null;
      return transaction.docChanged || transaction.selection ? null : tooltip;
    },
    provide: (field) => showTooltip.from(field),
  });
  const start = (view: EditorView) => {
    const known = view.state.readOnly ? undefined : ask();
    const fact = known && factAt(view.state, known);
    if (fact) view.dispatch({ effects: SHOW.of(fact) });
    return fact !== undefined;
  };
  return [shown, keymap.of([{ key: "F2", run: start }])];
}

function factAt(state: EditorState, known: Known): NameFact | undefined {
  const line = state.doc.lineAt(state.selection.main.head);
  const word = wordAt(line.text, state.selection.main.head - line.from, known.language);
  return word ? definitionOf(known, word, line.number) : undefined;
}

function tooltipFor(state: EditorState, fact: NameFact, ask: () => Known | undefined): Tooltip {
  const create = (view: EditorView) => {
    const field = el("input", { type: "text", class: "find", "aria-label": `New name of ${fact[0]}` });
    field.value = fact[0];
    const said = el("div", { class: "fault", role: "status" });
    const leave = () => {
      view.dispatch({ effects: SHOW.of(null) });
      view.focus();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") leave();
      else if (event.key === "Enter") said.textContent = written(view, fact, field.value.trim(), ask());
      else return event.stopPropagation();
      consume(event);
    });
    const focus = () => {
      field.focus();
      field.select();
    };
    return { dom: el("div", { class: "term" }, field, said), mount: focus };
  };
  return { pos: state.selection.main.head, above: true, create };
}

// Writes a name as one step of the user; gives why not where it is not to be had.
function written(view: EditorView, fact: NameFact, wanted: string, known: Known | undefined): string {
  if (!known) return "The text is being read: try again.";
  const refusal = wanted === fact[0] ? "" : refusalOf(known, fact, wanted);
  if (refusal) return refusal;
  const places = occurrencesOf(view.state.doc.toString(), fact, known.language);
  view.dispatch({
    changes: places.map(([from, to]) => ({ from, to, insert: wanted })),
    effects: SHOW.of(null),
    annotations: [isolateHistory.of("full")],
    userEvent: "input.rename",
  });
  view.focus();
  return "";
}
