// Regions: what partitioning says beside its graph, as tables; a row is a link to what it names.

import type { PartitionView, RegionsAction, RegionsProps } from "#generated/models";
import { el, find, keepFocus, replace } from "#shared/dom";
import { component, type Tell } from "#shared/mount";
import { Patterns } from "./patterns";
import { notes, notUsed, problems } from "./problems";
import { coverage, pairs, regionTable, unsupported, ways } from "./report";
import { ROWS_SHOWN, type Scene } from "./scene";
import style from "./style.css";

class Regions {
  private readonly body: HTMLElement;
  private readonly unfolded = new Set<string>();
  private readonly patterns = new Patterns(() => this.draw());
  private model: PartitionView | undefined;
  private props: RegionsProps | undefined;
  private drawn = "";

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<RegionsAction>,
  ) {
    const label = { role: "region", "aria-label": "Regions and patterns" };
    this.body = el("div", { class: "scroll", tabindex: "0", ...label });
    root.append(this.body);
  }

  setModel(model: PartitionView): void {
    this.model = model;
    this.drawn = "";
  }

  setProps(props: RegionsProps): void {
    const isElsewhere = props.selected !== "" && props.selected !== this.props?.selected;
    const isOtherPair = props.shown >= 0 && props.shown !== this.props?.shown;
    if (props.shown >= ROWS_SHOWN) this.unfolded.add("Not merged");
    this.props = props;
    const scene = this.scene();
    if (scene) this.patterns.take(scene);
    const wanted = JSON.stringify(props);
    if (this.drawn === wanted) return;
    this.draw();
    this.drawn = wanted;
    if (isOtherPair) this.reveal(find(this.body, "tr.on[data-pair]"));
    else if (isElsewhere) this.reveal(find(this.body, "tr.on[data-region]"));
  }

  private scene(): Scene | undefined {
    const { model, props, tell, unfolded } = this;
    return model && props && { model, props, tell, unfolded, unfold: (name) => this.unfold(name) };
  }

  private unfold(name: string): void {
    this.unfolded.add(name);
    this.draw();
  }

  // Scrolls the tables alone: in a narrow window they are below the graph, and the page stays where it is.
  private reveal(row: HTMLElement | null): void {
    if (!row) return;
    const [outer, inner] = [this.body.getBoundingClientRect(), row.getBoundingClientRect()];
    if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
    this.body.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }

  private draw(): void {
    const scene = this.scene();
    if (!scene) return;
    const at = this.body.scrollTop;
    keepFocus(this.root, this.body, () => {
      const tables = [pairs, regionTable, coverage, unsupported, ways].map((part) => part(scene));
      replace(this.body, notUsed(scene), notes(scene), problems(scene), tables, this.patterns.parts(scene));
      this.body.classList.toggle("below", scene.props.selected !== "");
      this.body.scrollTop = at;
      this.root.dataset.shown = String(scene.props.shown);
      this.root.dataset.regions = String(scene.model.report.regions.length);
    });
  }
}

export default component(style, (root, tell: Tell<RegionsAction>) => new Regions(root, tell));
