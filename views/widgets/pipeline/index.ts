// Pipeline: the stages, unchanged ones hidden and counted.

import type { Pipeline, PipelineAction, PipelineProps } from "#generated/models";
import { button } from "#shared/controls";
import { el, prose, replace } from "#shared/dom";
import { act, onKeys } from "#shared/keys";
import { component, type Take, type Tell } from "#shared/mount";
import { stageTable } from "./draw";
import { type Listing, milliseconds, neighbour } from "./stages";
import style from "./style.css";

interface Values {
  readonly stage: number;
}

// The page's field for a name that is looked for in all stages; it is no part of this component.
const FIELD = ".st-key-pipeline-sought input";
const key = (name: string) => el("span", { class: "kbd" }, name);

class PipelineList {
  private readonly head = el("div", { class: "ph" });
  private readonly bar = el("div", { class: "row bar" });
  private readonly conclusion = el("div", { class: "pad conclusion" });
  private readonly stages = el("div", { class: "stages" });
  private readonly foot = el("div", { class: "pad muted foot" });
  private model: Pipeline | undefined;
  private props: PipelineProps | undefined;
  private current = 0;
  private isHiding = true;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<PipelineAction>,
  ) {
    root.append(this.head, this.bar, this.conclusion, this.stages, this.foot);
    onKeys("pipeline", root, (event) => this.onKey(event));
  }

  setModel(model: Pipeline): void {
    this.model = model;
  }

  setProps(props: PipelineProps, take: Take<Values>): void {
    this.props = props;
    this.current = take("stage") ?? this.current;
    this.draw();
  }

  private listing(): Listing | undefined {
    const { model, props, current, isHiding } = this;
    return model && props && { model, props, current, isHiding };
  }

  private draw(): void {
    const listing = this.listing();
    if (!listing) return;
    const { model, props } = listing;
    this.root.dataset.stage = String(this.current);
    const took = model.seconds > 0 ? `, ${milliseconds(model.seconds)} ms` : "";
    const count = model.stages.length;
    const buttons = props.actions.map(([id, label]) => button(label, "t", "", () => this.command(id)));
    const note = el("span", { class: "n" }, `${count} stage${count === 1 ? "" : "s"}${took}`);
    replace(this.head, el("b", {}, "Pipeline"), note, el("span", { class: "sp" }), buttons);
    replace(this.bar, this.hideButton());
    const views = props.has_views ? [el("br"), key("d"), " text, graph, both"] : [];
    const culprit = props.suspects.length ? [key("c"), " culprit "] : [];
    const sides = props.has_sides ? [el("br"), key("a"), " set A ", culprit] : [];
    replace(this.foot, key("j"), " ", key("k"), " next and previous pass", views, sides, " ", key("f"), " find a name");
    this.conclusion.hidden = !props.conclusion;
    replace(this.conclusion, prose(props.conclusion));
    replace(
      this.stages,
      stageTable(listing, (index) => this.go(index)),
    );
  }

  private hideButton(): HTMLElement {
    const look = `chip${this.isHiding ? " accent" : ""}`;
    const pressed = { "aria-pressed": String(this.isHiding), click: () => this.toggle() };
    return el("button", { type: "button", class: look, ...pressed }, "Hide unchanged ", key("u"));
  }

  private command(id: string): void {
    this.tell({ kind: "command", command: id, stage: this.current });
  }

  private toggle(): void {
    this.isHiding = !this.isHiding;
    this.draw();
  }

  private go(index: number): void {
    if (index === this.current) return;
    this.current = index;
    this.draw();
    this.tell({ kind: "stage", stage: index });
  }

  private move(by: number): void {
    const listing = this.listing();
    const next = listing && neighbour(listing, by);
    if (next !== undefined) this.go(next);
  }

  private onKey(event: KeyboardEvent): boolean {
    if (!this.model) return false;
    const views = { d: () => this.command("view") };
    const sides = {
      a: () => this.command("a"),
      c: () => this.command("culprit"),
    };
    return act(event, {
      j: () => this.move(1),
      k: () => this.move(-1),
      u: () => this.toggle(),
      f: () => document.querySelector<HTMLInputElement>(FIELD)?.focus(),
      ...(this.props?.has_views ? views : {}),
      ...(this.props?.has_sides ? sides : {}),
    });
  }
}

export default component(style, (root, tell: Tell<PipelineAction>) => new PipelineList(root, tell));
