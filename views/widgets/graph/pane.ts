// The pane of a graph: a picture laid out in Python, which is moved, searched, marked and exported here.

import type { Graph, GraphAction, GraphProps, Side } from "#generated/models";
import { el, find, prose, replace, targetOf, treeOf } from "#shared/dom";
import { download } from "#shared/download";
import { act, consume, isModified, isTyping, onKeys, stepOf } from "#shared/keys";
import type { Take, Tell } from "#shared/mount";
import { onSharedSelection, shareSelection } from "#shared/selection";
import { downloadPng, svgFile } from "./files";
import { type Asks, headOf, legendOf, menuOf, wayOf } from "./head";
import { countInside, type Hit, hitsOf } from "./hits";
import { Tip } from "./hover";
import { Minimap } from "./minimap";
import { nodeOnSide, Picture } from "./picture";
import type { Test } from "./query";
import { Search } from "./search";
import { Viewport } from "./viewport";

/** What both the page and the graph change. */
export interface Values {
  readonly node: string;
  readonly side: Side;
}

const PAN_STEP = 60;

export class GraphPane {
  private readonly head = el("div", { class: "ph" });
  private readonly way = el("div", { class: "way", role: "group", "aria-label": "Open groups", hidden: true });
  private readonly menu = el("div", { class: "menu", hidden: true });
  private readonly legend = el("div", { class: "legend" });
  private readonly tip: Tip;
  private readonly search: Search;
  private readonly viewport: Viewport;
  private readonly map: Minimap;
  private readonly asks: Asks;
  private model: Graph | undefined;
  private props: GraphProps | undefined;
  private picture: Picture | undefined;
  private side: Side = "both";
  private selected = "";
  // The node that was brought into sight as the one that is about to run.
  private current = "";
  // The path that was brought into sight.
  private shownPath = "[]";
  private found: ReadonlySet<string> = new Set();
  private isSought = false;
  // The node that the page was asked to draw.
  private awaited = "";
  private hovered = "";

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<GraphAction>,
  ) {
    this.tip = new Tip(root);
    this.viewport = new Viewport({
      hasPicture: () => Boolean(this.picture?.svg),
      start: () => this.picture?.group(this.picture.firstChange() ?? this.selectedId),
      all: () => this.picture?.all ?? [],
      onPick: (target) => this.choose(this.picture?.idOf(target) ?? ""),
      onMove: () => this.onMove(),
    });
    this.map = new Minimap(this.viewport);
    const { canvas } = this.viewport;
    this.search = new Search({
      find: (test) => this.lookFor(test),
      go: (hit) => this.goTo(hit),
      selected: () => this.selected,
      count: () => this.model?.node_count ?? 0,
      leave: () => canvas.focus(),
    });
    this.asks = {
      pickTab: (id) => this.say("tab", id),
      pickStep: (id) => this.pickStep(id),
      pickSide: (side) => this.pickSide(side),
      command: (id) => this.say("command", id),
      search: () => this.search.open(),
      menu: () => this.toggleMenu(),
    };
    root.append(this.head, this.way, this.menu, canvas, this.tip.element);
    this.listen(canvas);
  }

  private listen(canvas: HTMLElement): void {
    canvas.addEventListener("pointermove", (event) => !event.buttons && this.hover(event));
    canvas.addEventListener("pointerleave", () => this.hover(undefined));
    canvas.addEventListener("dblclick", (event) => this.openGroup(this.picture?.idOf(targetOf(event)) ?? ""));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    onSharedSelection(this.root, (node) => this.select(node, true));
  }

  /** Takes the keys of its steps and its search wherever the focus is: for the one graph of a page. */
  takeKeys(): this {
    onKeys("graph steps", this.root, (event) => this.onStepKey(event));
    onKeys("graph search", this.root, (event) => this.onSearchKey(event));
    return this;
  }

  setModel(model: Graph, props: GraphProps): void {
    const { canvas, tools } = this.viewport;
    const isSearching = this.search.hasFocus;
    const picture = new Picture(model);
    this.model = model;
    this.picture = picture;
    canvas.replaceChildren();
    const keys = "Arrows move, plus and minus zoom, n and p choose, Enter opens, Backspace folds.";
    canvas.setAttribute("aria-label", `${model.title || "graph"}, ${model.node_count} nodes. ${keys}`);
    this.root.dataset.nodes = String(model.nodes.length);
    this.way.hidden = !model.opened.length;
    replace(
      this.way,
      wayOf(model, (group) => this.say("close", group)),
    );
    if (!picture.svg) {
      const words = el("span", {}, prose(model.empty_text));
      canvas.append(el("div", { class: "state" }, el("b", {}, model.empty_title), words));
      return;
    }
    this.viewport.hold(picture.svg);
    this.drawLegend(model, props);
    canvas.append(picture.svg, this.legend, this.map.element, tools, this.search.element);
    this.shownPath = "";
    this.current = "";
    this.viewport.home();
    this.map.setParts(picture.layers());
    this.search.again();
    this.select(this.selected, this.awaited !== "" && this.awaited === this.selected);
    this.awaited = "";
    if (isSearching) this.search.open();
  }

  setProps(props: GraphProps, take: Take<Values>): void {
    this.props = props;
    const { model, picture } = this;
    if (!model || !picture) return;
    this.side = take("side") || this.side;
    const wanted = take("node");
    if (wanted !== undefined) this.select(wanted, true);
    const lit = new Set(props.highlight);
    picture.toggle("lit", (info, id) => lit.has(info.node) || lit.has(id) || this.found.has(id));
    this.viewport.canvas.classList.toggle("dimmed", lit.size > 0 || this.isSought);
    picture.markPath(props.path);
    this.showPath(props);
    picture.markColours(props.colours);
    picture.markHeat(props.heat?.nodes ?? []);
    this.showSide();
    this.drawHead();
    this.drawLegend(model, props);
    this.setCurrent(props.current);
  }

  /** Marks the node that is about to run, and brings it into sight. */
  setCurrent(node: string): void {
    const shown = this.picture?.mark("now", node) ?? [];
    if (node !== this.current) for (const group of shown) this.viewport.reveal([group]);
    this.current = node;
  }

  private get selectedId(): string {
    return this.picture?.idOfNode(this.selected) ?? "";
  }

  private say(kind: GraphAction["kind"], command = ""): void {
    this.tell({ kind, command, node: this.selected, side: this.side });
  }

  private drawHead(): void {
    const { model, props, head } = this;
    if (!model || !props) return;
    const isFocused = head.contains(treeOf(this.root).activeElement);
    replace(head, headOf(model, props, this.side, this.asks));
    if (isFocused) find(head, "[aria-checked=true]")?.focus();
    const current = find(head, "[role=radiogroup] [aria-checked=true]");
    const group = current?.parentElement;
    if (current && group) group.scrollLeft = current.offsetLeft + current.offsetWidth - group.clientWidth;
    replace(this.menu, menuOf(this.files(model), this.menu));
  }

  private files(model: Graph): readonly (readonly [string, () => void])[] {
    const stem = (model.title || "graph").replace("@", "");
    const text = () => (this.picture?.svg ? svgFile(this.picture.svg, this.viewport.viewBox) : "");
    const pictures = [
      ["SVG file", () => download(`${stem}.svg`, "image/svg+xml", text())],
      ["PNG file", () => void downloadPng(`${stem}.png`, text())],
    ] as const;
    if (!model.dot) return pictures;
    return [
      ...pictures,
      ["DOT file", () => download(`${stem}.dot`, "text/vnd.graphviz", model.dot)],
      ["Copy DOT", () => void navigator.clipboard.writeText(model.dot)],
    ];
  }

  private toggleMenu(): void {
    this.menu.hidden = !this.menu.hidden;
    if (!this.menu.hidden) find(this.menu, "button")?.focus();
  }

  private drawLegend(model: Graph, props: GraphProps): void {
    this.legend.hidden = !model.legend.length && !props.colour_names.length && !props.heat;
    replace(this.legend, legendOf(model, props));
  }

  private pickStep(id: string): void {
    if (this.props) this.props = { ...this.props, step: id };
    this.drawHead();
    this.say("step", id);
  }

  private pickSide(side: Side): void {
    this.side = side;
    this.showSide();
    this.drawHead();
    this.tell({ kind: "side", side, node: this.selected });
  }

  private showSide(): void {
    const { canvas } = this.viewport;
    canvas.classList.toggle("show-before", this.side === "before");
    canvas.classList.toggle("show-after", this.side === "after");
    this.root.dataset.side = this.side;
  }

  // Another path is brought into sight.
  private showPath(props: GraphProps): void {
    const next = JSON.stringify(props.path);
    if (next === this.shownPath) return;
    this.shownPath = next;
    this.viewport.reveal(this.picture?.onPath ?? []);
  }

  private choose(id: string): void {
    const info = this.picture?.info(id);
    const node = info && nodeOnSide(info, this.side);
    if (!node) return;
    this.select(node, false);
    shareSelection(node, this.root);
    this.tell({ kind: "select", node, side: this.side });
  }

  private select(node: string, isFromOutside: boolean): void {
    this.selected = node;
    this.root.dataset.selected = node;
    const shown = this.picture?.mark("selected", node) ?? [];
    this.map.mark("chosen", shown);
    if (isFromOutside) for (const group of shown) this.viewport.reveal([group]);
  }

  private move(by: number): void {
    const { picture, side } = this;
    if (!picture || this.search.step(by)) return;
    const isOnSide = (id: string) => side === "both" || ["both", side].includes(picture.info(id)?.side ?? "");
    const among = picture.order.filter(isOnSide);
    const next = among[(among.indexOf(this.selectedId) + by + among.length) % among.length];
    if (next !== undefined) this.goToGroup(next);
  }

  private goToGroup(id: string): void {
    const group = this.picture?.group(id);
    if (!group) return;
    this.choose(id);
    this.viewport.reveal([group]);
  }

  // What stands for the hit is shown until the page has drawn it.
  private goTo({ id, node, way }: Hit): void {
    if (!way) {
      this.goToGroup(id);
      return;
    }
    this.awaited = node;
    this.select(node, true);
    shareSelection(node, this.root);
    this.tell({ kind: "reach", node, side: this.side, groups: way });
  }

  private openGroup(id: string): void {
    const group = this.picture?.info(id)?.group;
    if (group) this.say("open", group);
  }

  private closeLast(): void {
    const last = this.model?.opened.at(-1);
    if (last) this.say("close", last[0]);
  }

  private clear(): void {
    this.search.close();
    this.select("", false);
    shareSelection("", this.root);
    this.tell({ kind: "select", node: "", side: this.side });
  }

  private onMove(): void {
    this.tip.hide();
    this.map.follow();
  }

  private lookFor(test: Test | undefined): readonly Hit[] {
    const hits = test && this.model ? hitsOf(this.model, test) : [];
    this.found = new Set(hits.map(({ id }) => id));
    this.picture?.toggle("lit", (_, id) => this.found.has(id));
    this.picture?.markHits(countInside(hits));
    this.map.mark("hit", this.picture?.groupsOf(this.found) ?? []);
    this.isSought = test !== undefined;
    this.viewport.canvas.classList.toggle("dimmed", this.isSought);
    return hits;
  }

  private hover(event: PointerEvent | undefined): void {
    const id = event ? (this.picture?.idOf(targetOf(event)) ?? "") : "";
    if (id !== this.hovered) {
      this.picture?.group(this.hovered)?.classList.remove("hover");
      this.picture?.group(id)?.classList.add("hover");
      this.hovered = id;
    }
    const info = this.picture?.info(id);
    if (info && event) this.tip.show(info, event, this.picture?.figureOf(id));
    else this.tip.hide();
  }

  private onStepKey(event: KeyboardEvent): boolean {
    const { props } = this;
    const by = stepOf(event, { j: 1, k: -1 });
    if (!props?.steps.length || !props.step_keys || !by) return false;
    const ids = props.steps.map(([id]) => id);
    const next = ids[ids.indexOf(props.step) + by];
    if (next !== undefined) this.pickStep(next);
    return true;
  }

  private onSearchKey(event: KeyboardEvent): boolean {
    if (event.key !== "/" || !this.picture?.svg) return false;
    this.search.open();
    return true;
  }

  private onKey(event: KeyboardEvent): void {
    if (isTyping(event) || isModified(event) || !this.picture?.svg || targetOf(event)?.closest("button")) return;
    const { viewport } = this;
    const isOurs = act(event, {
      ArrowLeft: () => viewport.pan(PAN_STEP, 0),
      ArrowRight: () => viewport.pan(-PAN_STEP, 0),
      ArrowUp: () => viewport.pan(0, PAN_STEP),
      ArrowDown: () => viewport.pan(0, -PAN_STEP),
      "+": () => viewport.zoomIn(),
      "=": () => viewport.zoomIn(),
      "-": () => viewport.zoomOut(),
      0: () => viewport.fit(),
      " ": () => viewport.fit(),
      "/": () => this.search.open(),
      n: () => this.move(1),
      p: () => this.move(-1),
      Enter: () => this.openGroup(this.selectedId),
      Backspace: () => this.closeLast(),
      Escape: () => this.clear(),
    });
    if (isOurs) consume(event);
  }
}
