// Inspector: all that is known of the selected node.

import type { Inspector, InspectorAction, InspectorProps, Part } from "#generated/models";
import { button } from "#shared/controls";
import { el, replace, treeOf } from "#shared/dom";
import { onKeys } from "#shared/keys";
import { badge, chip } from "#shared/marks";
import { component, type Tell } from "#shared/mount";
import { shareSelection } from "#shared/selection";
import { sectionOf } from "./sections";
import style from "./style.css";

class InspectorPane {
  private readonly head = el("div", { class: "ph" });
  private readonly body = el("div", { class: "body" });
  private readonly handle = el("button", { type: "button", class: "handle", click: () => this.open(!this.isOpen) });
  private model: Inspector | undefined;
  private props: InspectorProps | undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly tell: Tell<InspectorAction>,
  ) {
    root.append(this.head, this.body);
    root.getRootNode().appendChild(this.handle);
    onKeys("inspector", root, (event) => this.onKey(event));
  }

  setModel(model: Inspector): void {
    this.model = model;
  }

  setProps(props: InspectorProps): void {
    this.props = props;
    const buttons = props.actions.map(([id, label]) =>
      button(label, "t", "", () => this.tell({ kind: "command", command: id })),
    );
    replace(this.head, el("b", {}, "Inspector"), el("span", { class: "sp" }), buttons);
    this.root.classList.toggle("drawer", props.is_drawer);
    this.handle.hidden = !props.is_drawer;
    this.drawHandle();
    if (this.model) this.drawBody(this.model);
  }

  private get isOpen(): boolean {
    return this.root.classList.contains("open");
  }

  // In a narrow window the inspector is a drawer over the right pane; the style sheet says from when on.
  private get isDrawer(): boolean {
    return Boolean(this.props?.is_drawer) && getComputedStyle(this.handle).display !== "none";
  }

  private open(isOpen: boolean): void {
    const tree = treeOf(this.root);
    const column = tree instanceof ShadowRoot ? tree.host.closest("[data-testid=stColumn]") : null;
    const top = (column ?? document.body).getBoundingClientRect().top;
    if (isOpen) this.root.style.setProperty("--top", `${Math.max(0, top)}px`);
    this.root.classList.toggle("open", isOpen);
    this.drawHandle();
    if (!isOpen) return;
    this.body.tabIndex = 0;
    this.body.focus({ preventScroll: true });
  }

  private onKey(event: KeyboardEvent): boolean {
    if (!this.isDrawer) return false;
    if (event.key === "p") this.open(!this.isOpen);
    else if (event.key === "Escape" && this.isOpen) this.open(false);
    else return false;
    return true;
  }

  private drawHandle(): void {
    const title = this.model?.title ? `: ${this.model.title}` : "";
    this.handle.setAttribute("aria-expanded", String(this.isOpen));
    this.handle.title = this.isOpen ? "Close the inspector (p, Esc)" : "Open the inspector (p)";
    const words = this.isOpen ? "Close" : `Inspector${title}`;
    replace(this.handle, words, el("span", { class: "kbd", "aria-hidden": "true" }, "p"));
  }

  private drawBody(model: Inspector): void {
    this.root.dataset.title = model.title;
    if (!model.title) {
      const empty = [el("b", {}, "Nothing selected"), "Click a node in the text or in the graph."];
      replace(this.body, el("div", { class: "state" }, empty));
      return;
    }
    const chips = model.chips.map(([text, tone]) => chip(text, tone));
    const name = el("b", { class: "m" }, model.title);
    const title = el("div", { class: "row title" }, model.kind ? badge(model.kind, 20) : "", name, chips);
    const sections = model.sections.map((section) => sectionOf(section, (piece) => this.follow(piece)));
    replace(this.body, el("div", { class: "content" }, title, sections));
  }

  private follow(piece: Part): void {
    if (piece.node) shareSelection(piece.node, this.root);
    const kind = piece.go ? "go" : piece.node ? "select" : "line";
    this.tell({ kind, node: piece.node, line: piece.line, command: piece.go });
  }
}

export default component(style, (root, tell: Tell<InspectorAction>) => new InspectorPane(root, tell));
