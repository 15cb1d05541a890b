// Two texts side by side with the pass's head, and its rewrites and remarks.

import type { Diff, DiffAction, DiffProps } from "#generated/models";
import { button, choice, segments } from "#shared/controls";
import { type Child, el, find, replace } from "#shared/dom";
import { explains } from "#shared/explain";
import { onKeys } from "#shared/keys";
import { component, type Take, type Tell } from "#shared/mount";
import { onSharedSelection, shareSelection } from "#shared/selection";
import type { FoldKey } from "./items";
import { failure, passOf, remarkList, rewriteList, singleHead, unchanged, valueList } from "./lists";
import { Sides } from "./sides";
import { type Kind, structureTable } from "./structure";
import style from "./style.css";

interface Values {
  readonly node: string;
}

// In a narrower pane the views are a list to choose from.
const TABS_WIDTH = 780;
const HEAD_ONLY: readonly DiffProps["tab"][] = ["graph", "film"];

class DiffPane {
  private readonly head = el("div", { class: "ph" });
  private readonly scrub = el("div", { class: "scrub" });
  private readonly body = el("div", { class: "pane", style: { flex: "1" } });
  private model: Diff | undefined;
  private props: DiffProps | undefined;
  private sides: Sides | undefined;
  private open = new Set<FoldKey>();
  private selected = "";
  private isWrapping = true;
  private isStale = true;
  private kind: Kind = "all";
  // What the texts are to begin with.
  private wanted = "";

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<DiffAction>,
  ) {
    root.append(this.head, this.scrub, this.body);
    new ResizeObserver(() => this.onResize()).observe(root);
    onKeys("diff", root, (event) => event.key === "w" && this.toggleWrap());
    onSharedSelection(root, (node) => this.mark(node, true));
  }

  setModel(model: Diff): void {
    this.model = model;
    this.open = new Set();
    this.isStale = true;
  }

  setProps(props: DiffProps, take: Take<Values>): void {
    const isDrawn = this.isDrawn(props);
    this.props = props;
    const wanted = take("node");
    this.selected = wanted ?? this.selected;
    this.drawHead(props);
    this.drawScrub(props);
    if (!isDrawn) this.drawBody(props);
    this.mark(this.selected, wanted !== undefined);
  }

  // The texts stay while they are those of the model, however often the page is run.
  private isDrawn(next: DiffProps): boolean {
    const { props } = this;
    if (!props || this.isStale || next.tab === "values" || next.tab === "structure") return false;
    const isSame =
      props.single?.number === next.single?.number && props.single?.is_left_out === next.single?.is_left_out;
    return (
      isSame &&
      props.tab === next.tab &&
      props.detail?.name === next.detail?.name &&
      props.problems.length === next.problems.length
    );
  }

  private onResize(): void {
    if (this.props) this.drawHead(this.props);
    if (this.sides?.isOutgrown()) this.sides.draw(this.isWrapping);
  }

  private drawHead(props: DiffProps): void {
    const pick = (id: DiffProps["tab"]) => this.tell({ kind: "tab", command: id, node: this.selected });
    const views = this.root.clientWidth < TABS_WIDTH ? choice : segments;
    this.head.hidden = !props.detail;
    const summary = el("span", { class: "n" }, props.detail?.summary);
    const tabs = props.tabs.length ? views("View", props.tabs, props.tab, pick) : "";
    const name = props.detail?.name ?? "";
    const title = `What ${passOf(name)} does, and which lessons tell more`;
    const meaning = props.stage && name ? button("Explain", "t", "", explains([passOf(name)]), { title }) : "";
    replace(this.head, el("b", {}, name), meaning, summary, el("span", { class: "sp" }), tabs);
  }

  private drawScrub(props: DiffProps): void {
    const { stages, stage } = props;
    // The film has a slider of its own.
    this.scrub.hidden = !stages.length || props.tab === "film";
    const go = (index: number) => this.tell({ kind: "stage", stage: index, node: this.selected });
    const place = stages.findIndex(([index]) => index === stage);
    const arrow = (text: string, label: string, by: number) => {
      const near = stages[place + by];
      return button(text, "i", "", () => near && go(near[0]), { "aria-label": label, disabled: !near });
    };
    const stop = ([index, name, isChanged]: DiffProps["stages"][number]) =>
      el("button", {
        type: "button",
        class: `stop${isChanged ? " changed" : ""}`,
        title: `${index} ${name}${isChanged ? ", changed" : ""}`,
        "aria-label": `Stage ${index}, ${name}${isChanged ? ", changed" : ", unchanged"}`,
        "aria-current": index === stage ? "step" : null,
        click: () => go(index),
      });
    const track = el("div", { class: "track", role: "group", "aria-label": "Stages" }, stages.map(stop));
    const words = el("span", { class: "muted label" }, `stage ${stage} of ${stages.at(-1)?.[0] ?? 0}`);
    replace(this.scrub, arrow("‹", "Stage before", -1), track, arrow("›", "Stage after", 1), words);
  }

  private drawBody(props: DiffProps): void {
    this.isStale = false;
    this.sides = undefined;
    replace(this.body, this.bodyOf(props));
    this.body.hidden = HEAD_ONLY.includes(props.tab);
  }

  private bodyOf(props: DiffProps): Child {
    const select = (node: string, line: number) => this.tell({ kind: "select", node, line });
    const show = (rewrite: number, isLeftOut: boolean) =>
      this.tell({ kind: "rewrite", rewrite, is_left_out: isLeftOut, node: this.selected });
    switch (props.tab) {
      case "rewrites":
        return props.single
          ? [singleHead(props.single, show), this.texts()]
          : rewriteList(props, this.selected, select, show);
      case "remarks":
        return remarkList(props, select);
      case "values":
        return valueList(props);
      case "structure":
        return this.structure(props);
      case "graph":
      case "film":
        return "";
      default:
        return props.problems.some((item) => item.severity === "error") ? this.failed(props) : this.texts();
    }
  }

  private structure(props: DiffProps): Child {
    const { structure } = props;
    if (!structure) return "";
    const isThere = structure.counts.some(([kind]) => kind === this.kind);
    const pick = (kind: Kind) => {
      this.kind = kind;
      this.drawBody(props);
      find(this.body, "[aria-pressed=true]")?.focus();
    };
    const go = (node: string, line: number) => {
      // The page is told of the node, and so does not ask for it: the texts show it when they are drawn.
      this.selected = node;
      this.wanted = node;
      this.tell({ kind: "line", node, line });
    };
    return structureTable(structure, isThere ? this.kind : "all", pick, go);
  }

  private failed(props: DiffProps): Child {
    const hasTexts = this.model !== undefined && !this.model.is_unchanged;
    return [failure(props, hasTexts), hasTexts && this.texts()];
  }

  private texts(): Child {
    const { model } = this;
    if (!model) return "";
    if (model.is_unchanged && !model.rows.length) return unchanged();
    const sides = new Sides(this.root, model, this.open, {
      choose: (node, line) => this.choose(node, line),
      toggleWrap: () => this.toggleWrap(),
    });
    sides.draw(this.isWrapping);
    sides.resetFind();
    const wanted = this.wanted;
    this.wanted = "";
    requestAnimationFrame(() => (wanted ? this.mark(wanted, true) : sides.showChange()));
    this.sides = sides;
    return sides.element;
  }

  private toggleWrap(): boolean {
    const { sides } = this;
    if (!sides) return false;
    this.isWrapping = !this.isWrapping;
    sides.draw(this.isWrapping);
    this.mark(this.selected, false);
    requestAnimationFrame(() => sides.showChange());
    return true;
  }

  private choose(node: string, line: number): void {
    this.mark(node, false);
    shareSelection(node, this.root);
    this.tell({ kind: "select", node, line });
  }

  private mark(node: string, isFromOutside: boolean): void {
    this.selected = node;
    this.root.dataset.selected = node;
    this.sides?.mark(node, isFromOutside);
  }
}

export default component(style, (root, tell: Tell<DiffAction>) => new DiffPane(root, tell));
