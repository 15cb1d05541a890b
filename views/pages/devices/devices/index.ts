// Devices: why a value is where it is, copies, functions, and the analysis step by step; a row selects what it names.

import type { DevicesAction, DevicesProps, DevicesView } from "#generated/models";
import { el, find, keepFocus, replace } from "#shared/dom";
import { onKeys, stepOf } from "#shared/keys";
import { component, type Tell } from "#shared/mount";
import { deviceTables } from "./draw";
import { replay } from "./replay";
import { placeOf, stepsOf, target } from "./steps";
import style from "./style.css";

class Devices {
  private readonly body = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Devices" });
  private model: DevicesView | undefined;
  private props: DevicesProps | undefined;
  private drawn = "";

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<DevicesAction>,
  ) {
    root.append(this.body);
    onKeys("devices", root, (event) => this.onKey(event));
  }

  setModel(model: DevicesView): void {
    this.model = model;
    this.drawn = "";
  }

  setProps(props: DevicesProps): void {
    this.props = props;
    const wanted = JSON.stringify(props);
    if (this.model && this.drawn !== wanted) this.draw(this.model, props);
    this.drawn = wanted;
  }

  private draw(model: DevicesView, props: DevicesProps): void {
    const top = this.body.scrollTop;
    keepFocus(this.root, this.body, () => {
      const select = (node: string) => this.tell({ kind: "select", node });
      const tables = deviceTables({
        model,
        props,
        select,
        show: (item) => this.tell({ kind: "function", function: item.name, visit: item.hidden_at }),
      });
      replace(
        this.body,
        tables,
        replay(model, this.place, (place) => this.go(place)),
      );
      this.body.scrollTop = top;
      this.root.dataset.visit = String(this.place);
      this.root.dataset.functions = String(model.report.functions.length);
      this.root.dataset.copies = String(model.report.copies.length);
    });
    const step = find(this.body, ".steps tr.on");
    const steps = find(this.body, ".steps");
    if (step && steps) steps.scrollTop = step.offsetTop - 90;
  }

  private get place(): number {
    return this.model && this.props ? placeOf(this.props.visit, stepsOf(this.model).length) : -1;
  }

  private onKey(event: KeyboardEvent): boolean {
    const by = stepOf(event, { j: 1, k: -1 });
    return by !== 0 && this.go(this.place + by);
  }

  private go(place: number): boolean {
    if (!this.model || !this.props) return false;
    const all = stepsOf(this.model);
    const next = target(place, all.length, this.props.visit);
    const step = next === undefined ? undefined : all[next];
    if (next !== undefined && step) this.tell({ kind: "visit", visit: next, node: step.node });
    return all.length > 0;
  }
}

export default component(style, (root, tell: Tell<DevicesAction>) => new Devices(root, tell));
