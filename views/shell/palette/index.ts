// The palette: lists what can be done on the page and where one can go, found by parts of the names. Beside the button
// that opens it is the one for light and dark.

import type { PaletteAction, PaletteProps, PaletteTarget, PaletteTargets } from "#generated/models";
import { button } from "#shared/controls";
import { el, replace } from "#shared/dom";
import { consume } from "#shared/keys";
import { component, type Tell } from "#shared/mount";
import { type Choice, choicesOf } from "./actions";
import { isDark, switchMode } from "./mode";
import style from "./style.css";

const MOST = 100;
const KINDS: Readonly<Record<PaletteAction["kind"], string>> = {
  page: "page",
  lesson: "lesson",
  document: "guide",
  sample: "program",
};
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

class Palette {
  private targets: readonly Choice[] = [];
  private pages: readonly string[] = [];
  private all: readonly Choice[] = [];
  private found: readonly Choice[] = [];
  private at = 0;
  private readonly list = el("ul", { id: "choices", role: "listbox", "aria-label": "Choices" });
  private readonly count = el("span", { class: "count", role: "status" });
  private readonly input = el("input", {
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Do or open …",
    "aria-label": "What to do or to open",
    "aria-controls": "choices",
    "aria-expanded": "true",
    input: () => this.search(),
    keydown: (event) => this.onKey(event),
  });
  private readonly mode = button("◐", "t i", "", () => switchMode(this.pages), {});
  private readonly dialog = el(
    "dialog",
    { "aria-label": "Everything that can be done or opened", click: (event) => this.onClick(event) },
    el("div", { class: "head" }, this.input, this.count),
    this.list,
  );

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<PaletteAction>,
  ) {
    root.setAttribute("class", "root row bar");
    root.append(
      button("⌘", "t i", "", () => this.open(), {
        "aria-label": "Do or open",
        title: "Everything that can be done or opened, by its name: Ctrl K",
      }),
      this.mode,
      this.dialog,
    );
    document.addEventListener("keydown", this.onOpen, true);
  }

  setModel(model: PaletteTargets): void {
    this.targets = model.targets.map((place) => this.choiceOf(place));
    this.pages = model.targets.flatMap(([kind, name]) => (kind === "page" ? [name] : []));
  }

  setProps(_props: PaletteProps): void {
    const name = isDark() ? "Light colours" : "Dark colours";
    this.mode.setAttribute("aria-label", name);
    this.mode.title = name;
  }

  private choiceOf([kind, name, label]: PaletteTarget): Choice {
    return { label, where: KINDS[kind], run: () => this.tell({ kind, name }) };
  }

  // The listener ends with its component.
  private readonly onOpen = (event: KeyboardEvent): void => {
    if (!this.root.isConnected) {
      document.removeEventListener("keydown", this.onOpen, true);
      return;
    }
    const isKey =
      (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
    if (!isKey) return;
    consume(event);
    if (this.dialog.open) this.dialog.close();
    else this.open();
  };

  private open(): void {
    this.all = [...choicesOf(this.root), ...this.targets];
    this.input.value = "";
    this.dialog.showModal();
    this.search();
    this.input.focus();
  }

  private search(): void {
    this.found = matching(this.all, this.input.value);
    this.at = 0;
    const total = this.found.length;
    this.count.textContent = total === 1 ? "1 choice" : `${total.toLocaleString("en")} choices`;
    this.draw();
  }

  private draw(): void {
    const row = (choice: Choice, index: number) =>
      el(
        "li",
        { id: `choice-${index}`, role: "option", "aria-selected": String(index === this.at), data: { index } },
        el("span", { class: "name" }, choice.label),
        el("span", { class: "where" }, choice.where),
      );
    const more = this.found.length - MOST;
    const rest = more > 0 && el("li", { class: "more", role: "presentation" }, `${more} more: type more of the name`);
    const none = el("li", { class: "more", role: "presentation" }, "Nothing has these words in its name");
    replace(this.list, this.found.length ? this.found.slice(0, MOST).map(row) : none, rest);
    if (this.found.length) this.input.setAttribute("aria-activedescendant", `choice-${this.at}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  private onKey(event: KeyboardEvent): void {
    const last = Math.min(this.found.length, MOST) - 1;
    const step = STEPS[event.key];
    if (step !== undefined) {
      this.at = Math.max(0, Math.min(last, this.at + step));
      this.draw();
    } else if (event.key === "Enter") this.choose(this.at);
    else {
      // What is typed here is no key of the page.
      event.stopPropagation();
      return;
    }
    consume(event);
  }

  private onClick(event: MouseEvent): void {
    // What is around the box is the dialog itself.
    if (event.target === this.dialog) this.dialog.close();
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[role=option]") : null;
    if (row) this.choose(Number(row.dataset.index));
  }

  private choose(index: number): void {
    const choice = this.found[index];
    if (!choice) return;
    this.dialog.close();
    choice.run();
  }
}

/** The choices that have every word, those first whose name begins with the text, then those with a word that does. */
function matching(choices: readonly Choice[], text: string): readonly Choice[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const whole = wanted.join(" ");
  const rank = (choice: Choice): number => {
    const name = choice.label.toLowerCase();
    if (!wanted.every((word) => `${name} ${choice.where.toLowerCase()}`.includes(word))) return 3;
    if (name.startsWith(whole)) return 0;
    return ` ${name}`.includes(` ${whole}`) ? 1 : 2;
  };
  const ranked = choices.map((choice) => [rank(choice), choice] as const).filter(([place]) => place < 3);
  return ranked.sort(([a], [b]) => a - b).map(([, choice]) => choice);
}

export default component(style, (root, tell: Tell<PaletteAction>) => new Palette(root, tell));
