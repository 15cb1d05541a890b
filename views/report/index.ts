// A report that was saved as a file: its graphs, which stand in it as plain pictures, are moved, searched and compared.

import type { Graph, GraphProps } from "#generated/models";
import { GraphPane } from "#graph/pane";
import { el, replace, treeOf } from "#shared/dom";
import { THEME_CSS } from "../widgets/generated/theme";
import style from "../widgets/graph/style.css";
import baseCss from "../widgets/shared/base.css";

/** What stands beside a picture as JSON. */
interface Drawn {
  readonly graph: Omit<Graph, "svg">;
  readonly colours: GraphProps["colours"];
  readonly colour_names: GraphProps["colour_names"];
}

const CSS = `${THEME_CSS}\n${baseCss}\n${style}\n.root{height:100%;border:0}`;
// How far out of sight a graph is drawn already.
const AHEAD = "600px";

/** Puts a graph in the place of a picture, whose text it takes: nothing of the report is there twice. */
function start(host: Element): void {
  const [picture, facts] = [host.querySelector("svg"), host.querySelector("script")?.textContent];
  if (!picture || !facts) return;
  const { graph, ...marks } = JSON.parse(facts) as Drawn;
  const root = el("div", { class: "root" });
  const tree = host.attachShadow({ mode: "open" });
  tree.adoptedStyleSheets = [sheet];
  tree.append(root);
  scrollPast(root);
  const pane = new GraphPane(root, () => undefined);
  const props = { ...propsOf(graph.title), ...marks };
  pane.setModel({ ...graph, svg: textOf(picture) }, props);
  pane.setProps(props, () => undefined);
}

// An id may stand in a page once, so that the pictures of a report have their ids as data.
function textOf(picture: Element): string {
  const copy = document.importNode(picture, true);
  for (const part of copy.querySelectorAll<SVGElement>("[data-id]")) part.id = part.dataset.id ?? "";
  return new XMLSerializer().serializeToString(copy);
}

function propsOf(title: string): GraphProps {
  return {
    title,
    note: "",
    highlight: [],
    current: "",
    tabs: [],
    tab: "",
    steps: [],
    step: "",
    step_keys: false,
    path: [],
    colours: {},
    colour_names: [],
    actions: [],
    can_be_bare: false,
    height: "",
    heat: null,
  };
}

// The wheel is the page's until the graph has the focus, or it is asked to zoom: a long page is scrolled past graphs.
function scrollPast(root: HTMLElement): void {
  const keep = (event: WheelEvent) => {
    const focused = treeOf(root).activeElement;
    if (!event.ctrlKey && !(focused && root.contains(focused))) event.stopPropagation();
  };
  root.addEventListener("wheel", keep, { capture: true });
}

/** Buttons that open and close all parts of a section; without the script each part opens on its own. */
function offerAll(bar: Element): void {
  const parts = () => bar.closest("section")?.querySelectorAll("details") ?? [];
  const all = (label: string, isOpen: boolean) => {
    const click = () => {
      for (const part of parts()) part.open = isOpen;
    };
    return el("button", { type: "button", class: "btn", click }, label);
  };
  replace(bar, all("Open all", true), all("Close all", false));
}

const sheet = new CSSStyleSheet();
sheet.replaceSync(CSS);

const seen = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      start(target);
    }
  },
  { rootMargin: AHEAD },
);

for (const host of document.querySelectorAll(".graph")) seen.observe(host);
for (const bar of document.querySelectorAll(".all")) offerAll(bar);
