// The signature of the operator whose arguments are being written, above the line, with the parameter at the caret.

import { type EditorState, type Extension, Prec, StateEffect, StateField, type Transaction } from "@codemirror/state";
import { type EditorView, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import { el, prose } from "#shared/dom";
import { type Known, type Signature, signatureAt } from "./knowledge";

const REACH = 4000;
const SHOW = StateEffect.define<boolean>();

// Writing one of these opens the signature; it stays until the caret leaves the call.
const OPENS = /[(,]\s?$/;

/** Show signatures while arguments are written, and on Ctrl+Shift+Space; `ask` gives what is known. */
export function signatureHelp(ask: () => Known): Extension {
  const shown = StateField.define<Tooltip | null>({
    create: () => null,
    update: (tooltip, transaction) => (isWanted(tooltip, transaction) ? tooltipAt(transaction.state, ask()) : null),
    provide: (field) => showTooltip.from(field),
  });
  // The list of completions listens to Escape as well, and with the highest precedence: this comes before it and passes the key on.
  const hide = (view: EditorView) => view.state.field(shown) !== null && !show(view, false);
  return [
    shown,
    Prec.highest(
      keymap.of([
        { key: "Ctrl-Shift-Space", run: (view) => show(view, true) },
        { key: "Escape", run: hide },
      ]),
    ),
  ];
}

function show(view: EditorView, isShown: boolean): boolean {
  view.dispatch({ effects: SHOW.of(isShown) });
  return true;
}

function isWanted(tooltip: Tooltip | null, transaction: Transaction): boolean {
  const said = transaction.effects.find((effect) => effect.is(SHOW))?.value;
  if (said !== undefined) return said;
  return tooltip !== null || (transaction.isUserEvent("input") && OPENS.test(textBefore(transaction.state)));
}

function textBefore(state: EditorState): string {
  const { head } = state.selection.main;
  return state.sliceDoc(Math.max(0, head - REACH), head);
}

function tooltipAt(state: EditorState, known: Known): Tooltip | null {
  const signature = signatureAt(known, textBefore(state));
  if (!signature) return null;
  return { pos: state.selection.main.head, above: true, create: () => ({ dom: signatureTip(signature) }) };
}

function signatureTip({ callee, parameters, active, term }: Signature): HTMLElement {
  const parts = parameters.flatMap((text, index) => [
    index === 0 ? "" : ", ",
    index === active ? el("b", { class: "active" }, text) : text,
  ]);
  const line = el("div", { class: "code" }, `${callee}(`, ...parts, ")");
  return el("div", { class: "term signature" }, line, el("div", {}, prose(term.summary)));
}
