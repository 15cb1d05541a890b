// The components in a notebook: a widget whose traits are their payloads, and which tells the kernel what they tell.

import { el } from "#shared/dom";
import { openTo } from "#shared/guest";
import type { Arguments } from "#shared/mount";
import stepper from "../pages/run/stepper/index";
import diff from "../widgets/diff/index";
import graph from "../widgets/graph/index";
import { followMode } from "./mode";
import style from "./style.css";

type Part = "graph" | "diff" | "stepper";

/** What anywidget gives of the widget in the kernel. */
interface Widget {
  get(name: "views"): Partial<Record<Part, object>>;
  get(name: "note"): string;
  get(name: Part): DataView;
  on(event: string, listen: () => void): void;
  off(event: string, listen: () => void): void;
  send(content: object): void;
}

/** What a component tells. */
interface Told {
  readonly seq: number;
  readonly earlier?: unknown;
}

const MOUNTS: Readonly<Record<Part, (args: Arguments) => void>> = { stepper, diff, graph };
const PARTS = Object.keys(MOUNTS) as readonly Part[];

/** One place where a widget is shown: its parts below each other, and what the kernel has to say of them. */
class Place {
  private readonly boxes = new Map<Part, HTMLElement>();
  private readonly note = el("pre", { class: "note", role: "status", hidden: true });
  private readonly tree: ShadowRoot;

  constructor(
    private readonly widget: Widget,
    box: HTMLElement,
  ) {
    openTo(box);
    this.tree = box.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    this.tree.adoptedStyleSheets = [sheet];
    this.tree.append(this.note);
  }

  draw(): void {
    const views = this.widget.get("views");
    for (const part of PARTS) {
      const view = views[part];
      const box = this.boxes.get(part) ?? (view && this.begin(part));
      if (box) box.hidden = !view;
      if (box && view) this.show(part, box, view);
    }
    const words = this.widget.get("note");
    this.note.hidden = !words;
    this.note.textContent = words;
  }

  private begin(part: Part): HTMLElement {
    const box = el("div", { class: "part", data: { part } });
    this.boxes.set(part, box);
    this.note.before(...PARTS.flatMap((name) => this.boxes.get(name) ?? []));
    return box;
  }

  private show(part: Part, box: HTMLElement, view: object): void {
    const host = box.shadowRoot?.firstElementChild ?? box.attachShadow({ mode: "open" }).appendChild(el("div"));
    MOUNTS[part]({
      parentElement: host as HTMLElement,
      data: payload(view, this.widget.get(part)),
      isGuest: true,
      // A component tells each action with those before it, for a server that may see the last one only: a kernel sees all.
      setStateValue: (kind, value) => this.tell(part, kind, value as Told),
    });
  }

  private tell(part: Part, kind: string, { earlier: _, ...value }: Told): void {
    this.widget.send({ part, kind, value });
  }
}

/** A payload as components read it: a line about the model, and the model. */
function payload(view: object, model: DataView): Uint8Array {
  const head = new TextEncoder().encode(`${JSON.stringify(view)}\n`);
  const body = new Uint8Array(model.buffer, model.byteOffset, model.byteLength);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

function render({ model, el: parent }: { model: Widget; el: HTMLElement }): () => void {
  const box = parent.appendChild(el("div", { class: "relaxscope" }));
  const place = new Place(model, box);
  const forgetMode = followMode(box);
  const draw = () => place.draw();
  for (const name of ["views", "note"]) model.on(`change:${name}`, draw);
  draw();
  return () => {
    forgetMode();
    for (const name of ["views", "note"]) model.off(`change:${name}`, draw);
  };
}

export default { render };
