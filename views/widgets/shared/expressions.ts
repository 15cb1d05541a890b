// A field for an expression that is to be watched, and a button that takes one away.

import { button } from "#shared/controls";
import { el } from "#shared/dom";

export interface ExpressionField {
  readonly placeholder: string;
  readonly add: (text: string) => void;
  /** What stands in the field, for a form that is drawn anew, and hears what is typed. */
  readonly text?: string;
  readonly typed?: (text: string) => void;
}

export function expressionForm(look: string, { placeholder, add, text = "", typed }: ExpressionField): HTMLElement {
  const field = el("input", {
    type: "text",
    "aria-label": "Expression to watch",
    placeholder,
    value: text,
    data: { focus: "watch" },
    input: () => typed?.(field.value),
  });
  const send = () => {
    const given = field.value.trim();
    field.value = "";
    typed?.("");
    if (given) add(given);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") send();
  });
  return el("div", { class: look }, field, button("Watch", "t", "", send, { "aria-label": "Watch the expression" }));
}

export function awayButton(expression: string, remove: () => void): HTMLElement {
  return button("×", "i", "", remove, { "aria-label": `Watch ${expression} no longer` });
}
