// The graph of the function that runs, beside the registers: what is next in it is marked without the server.

import type { Graph, GraphAction, Dataflow as GraphShown } from "#generated/models";
import { THEME_CSS } from "#generated/theme";
import { UNSEEN } from "#graph/hits";
import { GraphPane } from "#graph/pane";
import { el } from "#shared/dom";
import type { Tell } from "#shared/mount";
import graphStyle from "../../../widgets/graph/style.css";
import baseCss from "../../../widgets/shared/base.css";
import heatStyle from "../../../widgets/shared/heat.css";

export class Dataflow {
  private readonly root = el("div", { class: "root" });
  private pane: GraphPane | undefined;
  private shown: GraphShown | null = null;
  /** The picture that the pane has, to compare with. */
  private drawn = "";
  private selected: string | undefined;
  private line = 0;

  constructor(
    private readonly box: HTMLElement,
    private readonly tell: Tell<GraphAction>,
  ) {}

  /** Whether a key is the graph's, which has the focus, though it means something while stepping too. */
  keeps(event: KeyboardEvent): boolean {
    return (event.key === "n" || event.key === "Escape") && event.composedPath().includes(this.root);
  }

  setModel(next: GraphShown | null): void {
    this.shown = next;
    if (!next) return;
    this.pane ??= this.open();
    // The same picture stays as it was moved.
    const graph = JSON.stringify(next.graph);
    if (graph !== this.drawn) this.pane.setModel(next.graph, next.view);
    this.drawn = graph;
    const isNew = next.selected !== this.selected;
    this.selected = next.selected;
    const view = { ...next.view, current: nodeAt(next.graph, this.line) };
    this.pane.setProps(view, (name) => (isNew && name === "node" ? (next.selected as never) : undefined));
  }

  // Made when it is first looked at: a notebook has no such tab, and many runs are never drawn.
  private open(): GraphPane {
    // The styles of the graph have names that those of the stepper have too.
    const tree = this.box.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`${THEME_CSS}\n${baseCss}\n${heatStyle}\n${graphStyle}\n.root{height:100%;border:0}`);
    tree.adoptedStyleSheets = [sheet];
    tree.append(this.root);
    return new GraphPane(this.root, this.tell);
  }

  /** Marks what a line computes, which is about to run. */
  setLine(line: number): void {
    this.line = line;
    if (this.shown) this.pane?.setCurrent(nodeAt(this.shown.graph, line));
  }
}

/** The node that a line computes: the first call in it, or else the first that has a name, or any; empty for none. */
export function nodeAt({ nodes, unseen }: Pick<Graph, "nodes" | "unseen">, line: number): string {
  const drawn = nodes.map(({ node, line, is_call, name }) => ({ node, line, is_call, name }));
  const folded = unseen.map((item) => ({
    node: item[UNSEEN.node],
    line: item[UNSEEN.line],
    is_call: item[UNSEEN.is_call],
    name: item[UNSEEN.name],
  }));
  const there = [...drawn, ...folded].filter((item) => line > 0 && item.line === line && item.node !== "");
  const found = there.find((item) => item.is_call) ?? there.find((item) => item.name !== "") ?? there[0];
  return found?.node ?? "";
}
