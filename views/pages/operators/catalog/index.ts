// Catalog: operators and packed functions with a search, and a sheet about the one that is selected.

import type { CatalogAction, CatalogPage, CatalogProps, Entry, Family } from "#generated/models";
import { button, tabs } from "#shared/controls";
import { el, find, keepFocus, replace, targetOf } from "#shared/dom";
import { act, consume, onKeys } from "#shared/keys";
import { laterOrOnLeaving } from "#shared/leaving";
import { component, type Take, type Tell } from "#shared/mount";
import { type Area, areaOf, entriesOf, found, neighbour, shortTitle } from "./list";
import { sheetOf } from "./sheet";
import style from "./style.css";

interface Values {
  readonly operator: string;
  readonly search: string;
}

const AREAS = [
  ["operators", "Operators"],
  ["packed", "Packed functions"],
] as const;
const CHOSEN = "[aria-selected=true]";
const SEARCH_DELAY = 400;
const CHOICE_DELAY = 120;
const PAGE = 12;
const ALL = 9999;

function searchField(): HTMLInputElement {
  const typing = { spellcheck: "false", autocomplete: "off", placeholder: "Name, Relay name, or word" };
  return el("input", { type: "search", class: "find", "aria-label": "Search", ...typing });
}

class CatalogPane {
  private readonly head = el("div", { class: "ph" });
  private readonly field = searchField();
  private readonly count = el("span", { class: "muted count", "aria-live": "polite" });
  private readonly options = el("div", { class: "body options", role: "listbox", "aria-label": "Found" });
  private readonly nothing = el("div", { class: "pad none", hidden: true });
  private readonly sheet = el("div", { class: "sheet" });
  private readonly choose = laterOrOnLeaving(CHOICE_DELAY, () => this.say("select"));
  private model: CatalogPage | undefined;
  private props: CatalogProps | undefined;
  private current = "";
  private isStale = true;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<CatalogAction>,
  ) {
    const slash = el("span", { class: "kbd", "aria-hidden": "true" }, "/");
    const finder = el("div", { class: "row finder" }, this.field, this.count, slash);
    const list = el("div", { class: "pane list" }, this.head, finder, this.options, this.nothing);
    root.append(el("div", { class: "split" }, list, this.sheet));
    this.field.addEventListener("input", () => this.drawList());
    this.field.addEventListener(
      "input",
      laterOrOnLeaving(SEARCH_DELAY, () => this.say("search")),
    );
    this.field.addEventListener("keydown", (event) => this.onFieldKey(event));
    this.options.addEventListener("keydown", (event) => this.onListKey(event));
    onKeys("catalog", root, (event) => this.onKey(event));
  }

  setModel(model: CatalogPage): void {
    this.model = model;
    this.isStale = true;
  }

  setProps(props: CatalogProps, take: Take<Values>): void {
    const isFirst = !this.props;
    this.isStale ||= props.listing !== this.props?.listing;
    this.props = props;
    // Commands are what the page last sent, and may be behind what the user did on an earlier visit of the page.
    const commands = [take("operator"), take("search")] as const;
    const [operator, search] = isFirst ? props.start : commands;
    if (search !== undefined) this.field.value = search;
    if (operator !== undefined) this.current = operator;
    if (search !== undefined || operator !== undefined || this.isStale) this.drawList();
    if (this.isStale) keepFocus(this.root, this.sheet, () => this.drawSheet());
    this.isStale = false;
    this.sheet.classList.toggle("waits", !this.isShown);
  }

  private get isShown(): boolean {
    return (this.model?.sheet ? this.model.sheet.id : this.model?.unknown) === this.current;
  }

  private get all(): readonly Family[] {
    return this.model?.catalog[areaOf(this.current)] ?? [];
  }

  private say(kind: CatalogAction["kind"], command = ""): void {
    this.tell({ kind, operator: this.current, search: this.field.value, command });
  }

  private drawList(): void {
    const shown = found(this.all, this.field.value);
    const entries = entriesOf(shown);
    const total = entriesOf(this.all).length;
    this.root.dataset.found = String(entries.length);
    this.root.dataset.operator = this.current;
    replace(
      this.head,
      tabs(AREAS, areaOf(this.current), (area) => this.pickArea(area)),
    );
    this.count.textContent = entries.length === total ? `${total}` : `${entries.length} of ${total}`;
    // One option is in the order of tabs; the arrows lead to the others.
    const stop = entries.some((entry) => entry.id === this.current) ? this.current : entries[0]?.id;
    replace(
      this.options,
      shown.map((family) => this.group(family, stop)),
    );
    this.options.hidden = !entries.length;
    this.nothing.hidden = entries.length > 0;
    const words = ["No name, Relay name or summary has ", el("code", {}, this.field.value), "."];
    const clear = button("Clear the search", "", "", () => this.clear());
    replace(this.nothing, el("b", {}, "Nothing found"), el("p", { class: "sub" }, words), clear);
    const chosen = find(this.options, CHOSEN);
    // The first time the list has no height yet.
    if (chosen) requestAnimationFrame(() => chosen.scrollIntoView({ block: "nearest" }));
  }

  private group(family: Family, stop: string | undefined): HTMLElement {
    const title = el("div", { class: "family", title: family.title }, shortTitle(family.title));
    const options = family.entries.map((entry) => this.option(entry, stop));
    return el("div", { role: "group", "aria-label": family.title }, title, options);
  }

  private option(entry: Entry, stop: string | undefined): HTMLElement {
    const relay = entry.relay_name && entry.relay_name !== entry.name ? entry.relay_name : "";
    const isOn = entry.id === this.current;
    return el(
      "div",
      {
        role: "option",
        class: `option${isOn ? " on" : ""}`,
        "aria-selected": String(isOn),
        tabindex: entry.id === stop ? 0 : -1,
        title: entry.summary,
        data: { id: entry.id },
        click: () => this.pick(entry.id),
      },
      el("span", { class: "m name" }, entry.name),
      relay ? el("span", { class: "m muted relay" }, relay) : "",
    );
  }

  private pickArea(area: Area): void {
    const first = this.model?.catalog[area][0]?.entries[0];
    if (area === areaOf(this.current) || !first) return;
    this.field.value = "";
    this.pick(first.id);
  }

  private pick(id: string, isFocused = false): void {
    this.current = id;
    this.drawList();
    this.sheet.classList.toggle("waits", !this.isShown);
    if (isFocused) find(this.options, CHOSEN)?.focus();
    this.choose();
  }

  private move(by: number, isFocused = false): void {
    const next = neighbour(entriesOf(found(this.all, this.field.value)), this.current, by);
    if (next !== undefined) this.pick(next, isFocused);
  }

  private clear(): void {
    this.field.value = "";
    this.drawList();
    this.field.focus();
    this.say("search");
  }

  private onFieldKey(event: KeyboardEvent): void {
    const isOurs = act(event, {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      Enter: () => this.move(0),
      Escape: () => this.clear(),
    });
    if (isOurs) consume(event);
  }

  private onListKey(event: KeyboardEvent): void {
    const option = targetOf(event);
    const pick = () => this.pick((option instanceof HTMLElement && option.dataset.id) || this.current, true);
    const isOurs = act(event, {
      ArrowDown: () => this.move(1, true),
      ArrowUp: () => this.move(-1, true),
      PageDown: () => this.move(PAGE, true),
      PageUp: () => this.move(-PAGE, true),
      Home: () => this.move(-ALL, true),
      End: () => this.move(ALL, true),
      Enter: pick,
      " ": pick,
    });
    if (isOurs) consume(event);
  }

  private onKey(event: KeyboardEvent): boolean {
    if (!this.model) return false;
    return act(event, {
      "/": () => this.field.select(),
      j: () => this.move(1),
      k: () => this.move(-1),
      r: () => this.run(),
    });
  }

  private run(): void {
    if (this.model?.sheet?.example) this.say("run");
  }

  private drawSheet(): void {
    const { model, props } = this;
    if (!model || !props) return;
    this.sheet.classList.toggle("single", !model.sheet?.has_listing);
    const asks = {
      run: () => this.say("run"),
      open: (page: string) => this.say("open", page),
      listing: (form: string) => this.say("listing", form),
    };
    replace(this.sheet, sheetOf(model, props, asks));
  }
}

export default component(style, (root, tell: Tell<CatalogAction>) => new CatalogPane(root, tell));
