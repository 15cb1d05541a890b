// What the editor offers while the user writes: completion, signatures, hovers, the way to a definition.

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap } from "@codemirror/view";
import type { LastValue, NameFact, Term } from "#generated/models";
import { el, nodes, prose } from "#shared/dom";
import { definitionOf, type Known, lastValueOf, type Option, offerAt, termOf, wordAt } from "./knowledge";
import { signatureHelp } from "./signature";

type Ask = () => Known;
type Go = (line: number, column: number) => void;

const REACH = 4000;
// CodeMirror's own kinds, each with a sign of its own.
const SIGNS: Readonly<Record<Option["kind"], string>> = {
  operator: "function",
  type: "type",
  dtype: "enum",
  device: "constant",
  keyword: "keyword",
  function: "method",
  variable: "variable",
  dimension: "property",
  "keyword argument": "property",
};

/** Completion, signatures, hovers and the way to definitions; `ask` gives what is known, `go` leads to a line and a column. */
export function assistance(ask: Ask, go: Go): Extension {
  const toDefinition = (view: EditorView) => follow(view, view.state.selection.main.head, ask(), go);
  return [
    signatureHelp(ask),
    autocompletion({ override: [(context) => complete(context, ask())], icons: true }),
    keymap.of([...completionKeymap, { key: "F12", run: toDefinition }]),
    hoverTooltip((view, place) => tipAt(view, place, ask())),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        const place = event.ctrlKey || event.metaKey ? view.posAtCoords({ x: event.clientX, y: event.clientY }) : null;
        return place !== null && follow(view, place, ask(), go);
      },
    }),
  ];
}

function complete(context: CompletionContext, known: Known): CompletionResult | null {
  const start = Math.max(0, context.pos - REACH);
  const before = context.state.sliceDoc(start, context.pos);
  const offer = offerAt(known, { before, line: context.state.doc.lineAt(context.pos).number });
  const isAsked = context.explicit || (offer !== null && start + offer.from < context.pos) || before.endsWith(".");
  if (!offer?.options.length || !isAsked) return null;
  return { from: start + offer.from, options: offer.options.map(completionOf), validFor: /^[\p{L}\p{N}_.?@%]*$/u };
}

function completionOf({ label, kind, detail, term }: Option): Completion {
  const shown = { label, type: SIGNS[kind], detail };
  return term?.summary ? { ...shown, info: () => termTip(term) } : shown;
}

function tipAt(view: EditorView, place: number, known: Known) {
  const line = view.state.doc.lineAt(place);
  const word = wordAt(line.text, place - line.from, known.language);
  const name = word ? definitionOf(known, word, line.number) : undefined;
  const term = word && !name ? termOf(known, word) : undefined;
  if (!name && !term?.summary) return null;
  const create = () => ({ dom: name ? nameTip(name, lastValueOf(known, name)) : termTip(term as Term) });
  return { pos: place, create };
}

function termTip(term: Term): HTMLElement {
  const dom = el("div", { class: "term" });
  const signature = term.signature ? el("div", { class: "code" }, term.signature) : "";
  dom.append(...nodes([signature, el("div", {}, prose(term.summary))]));
  return dom;
}

function nameTip([name, kind, type, line]: NameFact, last: LastValue | undefined): HTMLElement {
  const title = el("div", { class: "code" }, type ? `${name}: ${type}` : name);
  return el(
    "div",
    { class: "term" },
    title,
    el("div", { class: "hint" }, line ? `${kind}, defined in line ${line}` : kind),
    last ? lastTip(last) : "",
  );
}

function lastTip([, , type, short, summary, name, time]: LastValue): HTMLElement {
  const when = time < 0 ? "" : `, written at time ${time}`;
  return el(
    "div",
    { class: "last-value" },
    el("div", { class: "code" }, `${type} ${short}`),
    summary ? el("div", {}, summary) : "",
    el("div", { class: "hint" }, `in the last run of this text, in @${name}${when}`),
  );
}

function follow(view: EditorView, place: number, known: Known, go: Go): boolean {
  const line = view.state.doc.lineAt(place);
  const word = wordAt(line.text, place - line.from, known.language);
  const found = word ? definitionOf(known, word, line.number) : undefined;
  if (!found?.[3]) return false;
  go(found[3], found[4]);
  return true;
}
