// The film: one picture of all stages, of which each stage shows its part; what no pass changes stays where it is.

import type { Film, FilmAction, FilmProps } from "#generated/models";
import { downloadPng, svgFile } from "#graph/files";
import { legendOf, menuOf } from "#graph/head";
import { Tip } from "#graph/hover";
import { Picture } from "#graph/picture";
import { Viewport } from "#graph/viewport";
import { button } from "#shared/controls";
import { el, find, prose, replace, targetOf } from "#shared/dom";
import { download } from "#shared/download";
import { act, consume, onKeys } from "#shared/keys";
import { component, type Take, type Tell } from "#shared/mount";
import { onSharedSelection, shareSelection } from "#shared/selection";
import { later } from "#shared/values";
import graphStyle from "../../../widgets/graph/style.css";
import { Controls } from "./controls";
import { written } from "./file";
import { Frames } from "./frames";
import { type Moment, Player } from "./player";
import style from "./style.css";

interface Values {
  readonly stage: number;
  readonly node: string;
}

const PAN_STEP = 60;
// The page follows when the film has been at a stage for so long.
const REST_MS = 400;
// A film is seen whole down to this scale: what comes is anywhere in it.
const SMALL = 0.4;
const OWN_KEYS = [" ", "ArrowLeft", "ArrowRight", "Home", "End"];
const NO_MARKS = { path: [], colour_names: [], heat: null } as const;
const KEYS = "Space plays and pauses, left and right show the stage before and after, 0 fits.";

class FilmPane {
  private readonly head = el("div", { class: "ph" });
  private readonly menu = el("div", { class: "menu", hidden: true });
  private readonly legend = el("div", { class: "legend" });
  private readonly tip: Tip;
  private readonly viewport: Viewport;
  private readonly player: Player;
  private readonly controls: Controls;
  private readonly follow = later(REST_MS, () => this.tellStage());
  private film: Film | undefined;
  private picture: Picture | undefined;
  private frames: Frames | undefined;
  private place: number | undefined;
  private hovered = "";
  // The stage that the page knows of.
  private told = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<FilmAction>,
  ) {
    this.tip = new Tip(root);
    this.viewport = new Viewport(
      {
        hasPicture: () => Boolean(this.picture?.svg),
        start: () => this.frames?.changed(this.stage)[0],
        all: () => this.picture?.all ?? [],
        onPick: (target) => this.choose(this.picture?.idOf(target) ?? ""),
        onMove: () => this.tip.hide(),
      },
      "0",
      SMALL,
    );
    this.player = new Player(root, (moment) => this.showMoment(moment));
    this.controls = new Controls(this.player);
    const { canvas } = this.viewport;
    root.append(this.head, this.menu, canvas, this.controls.element, this.tip.element);
    canvas.addEventListener("pointermove", (event) => !event.buttons && this.hover(event));
    canvas.addEventListener("pointerleave", () => this.hover(undefined));
    canvas.addEventListener("keydown", (event) => this.onCanvasKey(event));
    this.controls.element.addEventListener("keydown", (event) => this.onSliderKey(event));
    onSharedSelection(root, (node) => this.select(node));
    onKeys("film", root, (event) => this.onKey(event));
    onPressOutside(root, () => this.settle());
  }

  private get stage(): number {
    return this.player.moment.stage;
  }

  setModel(film: Film): void {
    const { canvas, tools } = this.viewport;
    const picture = new Picture(film.graph);
    this.film = film;
    this.picture = picture;
    canvas.replaceChildren();
    canvas.setAttribute("aria-label", `Film of ${film.graph.title}, ${film.graph.node_count} nodes. ${KEYS}`);
    this.controls.element.hidden = !picture.svg;
    this.player.take(film.stages.map(([, , isChanged]) => isChanged));
    if (!picture.svg) {
      this.frames = undefined;
      canvas.append(this.emptyState(film));
      replace(this.head, el("b", {}, "Film"));
      return;
    }
    this.viewport.hold(picture.svg);
    replace(this.legend, legendOf(film.graph, NO_MARKS));
    canvas.append(picture.svg, this.legend, tools);
    this.frames = new Frames(film, picture);
    this.controls.take(film);
    this.place = undefined;
    this.draw(this.player.moment);
    this.viewport.home();
  }

  setProps(_: FilmProps, take: Take<Values>): void {
    const stage = take("stage");
    if (stage !== undefined && stage !== this.stage) {
      this.player.go(stage);
      this.follow.cancel();
    }
    this.told = stage ?? this.told;
    const node = take("node");
    if (node !== undefined) this.select(node);
  }

  private emptyState(film: Film): HTMLElement {
    const { empty_title: title, empty_text: text, node_count: count } = film.graph;
    const toGraph = () => this.tell({ kind: "graph", stage: this.stage, node: "" });
    const way = count ? button("Graph of this pass", "p", "", toGraph) : "";
    return el("div", { class: "state" }, el("b", {}, title), el("span", {}, prose(text)), way);
  }

  private showMoment(moment: Moment): void {
    this.draw(moment);
    this.follow();
  }

  private draw(moment: Moment): void {
    const { film, frames } = this;
    if (!film || !frames) return;
    frames.show(moment.stage);
    this.root.dataset.stage = String(moment.stage);
    this.root.dataset.playing = String(moment.isPlaying);
    this.controls.show(film, moment);
    this.drawHead(film, moment);
    this.tip.hide();
  }

  private drawHead(film: Film, { stage, isPlaying }: Moment): void {
    const [name = "", , isChanged = false, words = ""] = film.stages[stage] ?? [];
    const said = words || (isChanged || stage === 0 ? "" : "the graph stays as it is");
    const live = isPlaying ? "off" : "polite";
    const title = el("b", {}, stage ? `${stage} ${name}` : name);
    const export_ = button("Export", "t", "", () => this.toggleMenu(), { "aria-haspopup": "true" });
    const told = el(
      "span",
      { class: "told", role: "status", "aria-live": live },
      title,
      el("span", { class: "n" }, said),
    );
    replace(this.head, told, el("span", { class: "sp" }), export_);
    replace(this.menu, menuOf(this.files(film), this.menu));
  }

  private files(film: Film): readonly (readonly [string, () => void])[] {
    const [name = ""] = film.stages[this.stage] ?? [];
    const stem = `${film.graph.title}.${this.stage}.${name}`;
    const text = () => (this.picture?.svg ? svgFile(written(this.picture.svg), this.viewport.viewBox) : "");
    return [
      ["SVG file", () => download(`${stem}.svg`, "image/svg+xml", text())],
      ["PNG file", () => void downloadPng(`${stem}.png`, text())],
      ["DOT file of all stages", () => download(`${film.graph.title}.dot`, "text/vnd.graphviz", film.graph.dot)],
    ];
  }

  private toggleMenu(): void {
    this.menu.hidden = !this.menu.hidden;
    if (!this.menu.hidden) find(this.menu, "button")?.focus();
  }

  // What the user does elsewhere is about the stage that is seen, and is not undone by the film telling it later.
  private settle(): void {
    if (this.player.moment.isPlaying) this.player.go(this.stage);
    this.follow.cancel();
    if (this.frames && this.stage !== this.told) this.tellStage();
  }

  private tellStage(): void {
    this.told = this.stage;
    this.tell({ kind: "stage", stage: this.stage, node: this.frames?.nodeIn(this.stage, this.place) ?? "" });
  }

  private choose(id: string): void {
    const node = this.frames?.nodeAt(this.stage, id) ?? "";
    if (!node) return;
    this.mark(this.frames?.placeOfGroup(id));
    shareSelection(node, this.root);
    this.tell({ kind: "select", node, stage: this.stage });
  }

  private select(node: string): void {
    // What is selected stays marked at stages at which it has another id; so it is with what is nowhere in the film.
    if (node && this.frames?.nodeIn(this.stage, this.place) === node) return;
    this.mark(node ? this.frames?.placeOfNode(node) : undefined);
  }

  private mark(place: number | undefined): void {
    this.place = place;
    this.picture?.toggle("selected", (_, id) => place !== undefined && this.frames?.placeOfGroup(id) === place);
  }

  private hover(event: PointerEvent | undefined): void {
    const id = event ? (this.picture?.idOf(targetOf(event)) ?? "") : "";
    if (id !== this.hovered) {
      this.picture?.group(this.hovered)?.classList.remove("hover");
      this.picture?.group(id)?.classList.add("hover");
      this.hovered = id;
    }
    const info = this.picture?.info(id);
    if (info && event) this.tip.show(info, event);
    else this.tip.hide();
  }

  // The keys of the film work wherever the focus is, unless what has it has a use of its own for them.
  private onKey(event: KeyboardEvent): boolean {
    const target = event.composedPath()[0];
    const isOurs = target instanceof Element && this.root.contains(target);
    if (!this.frames || !(target instanceof Element)) return false;
    const own =
      event.key === " " ? "button,a,summary,[role=button],[tabindex='0']:not(.canvas)" : "[role=radio],[role=tab],tr";
    if (target.matches(own) || (event.shiftKey && isOurs)) return false;
    const { player, film } = this;
    // Another component's key, such as that for the next pass, is about the stage: the film has no say then.
    if (!OWN_KEYS.includes(event.key)) this.follow.cancel();
    return act(event, {
      " ": () => player.toggle(),
      ArrowLeft: () => player.step(-1),
      ArrowRight: () => player.step(1),
      ...(isOurs && {
        Home: () => player.go(0),
        End: () => player.go((film?.stages.length ?? 1) - 1),
      }),
    });
  }

  private onSliderKey(event: KeyboardEvent): void {
    if (event.key !== " " || !targetOf(event)?.matches("[type=range]")) return;
    consume(event);
    this.player.toggle();
  }

  private onCanvasKey(event: KeyboardEvent): void {
    const { viewport } = this;
    if (!this.frames || event.ctrlKey || event.metaKey || event.altKey) return;
    const isOurs = act(event, {
      ArrowUp: () => viewport.pan(0, PAN_STEP),
      ArrowDown: () => viewport.pan(0, -PAN_STEP),
      ...(event.shiftKey && {
        ArrowLeft: () => viewport.pan(PAN_STEP, 0),
        ArrowRight: () => viewport.pan(-PAN_STEP, 0),
      }),
      "+": () => viewport.zoomIn(),
      "=": () => viewport.zoomIn(),
      "-": () => viewport.zoomOut(),
      0: () => viewport.fit(),
      Escape: () => this.clear(),
    });
    if (isOurs) consume(event);
  }

  private clear(): void {
    this.mark(undefined);
    shareSelection("", this.root);
    this.tell({ kind: "select", node: "", stage: this.stage });
  }
}

// Streamlit stops no press, and a press comes before the click that it is part of.
function onPressOutside(root: HTMLElement, act: () => void): void {
  const listener = (event: PointerEvent) => {
    if (!root.isConnected) document.removeEventListener("pointerdown", listener, true);
    else if (!event.composedPath().includes(root)) act();
  };
  document.addEventListener("pointerdown", listener, true);
}

export default component(`${graphStyle}\n${style}`, (root, tell: Tell<FilmAction>) => new FilmPane(root, tell));
