// What every component starts from: mounting, reading the payload, telling Python.
//
// A payload is one line of JSON (revision of the model, props, commands) followed by the JSON of the model. A command
// is a value that both the page and the component may change, with a number: it is obeyed once, when its number is new.

import { THEME_CSS } from "#generated/theme";
import baseCss from "./base.css";
import { el, treeOf } from "./dom";
import { onExplain } from "./explain";
import { offerHelp } from "./keys";
import { keepHistoryShort, watchRowsAbove } from "./page";

/** A command as it is sent: its value and its number. */
export type Command<T> = readonly [value: T, number: number];
export type Commands<Values> = { readonly [Name in keyof Values]: Command<Values[Name]> };
/** Gives the value of a command whose number was not seen yet, undefined otherwise. */
export type Take<Values> = <Name extends keyof Values>(name: Name) => Values[Name] | undefined;
export type Tell<Action> = (action: Action) => void;

export interface Component<Model, Props, Values = unknown> {
  setModel(model: Model, props: Props): void;
  setProps(props: Props, take: Take<Values>): void;
}

export interface Arguments {
  readonly parentElement: HTMLElement;
  readonly data: Uint8Array | undefined;
  setStateValue(name: string, value: unknown): void;
  /** The page is another program's: its history and its rows are left alone. */
  readonly isGuest?: boolean;
}

interface SharedProps {
  readonly height?: string;
  readonly max_height?: string;
}

interface Head<Props> {
  readonly rev: string;
  readonly view: Props;
  /** The revision of the fields of the model that are sent apart. */
  readonly base?: string;
  /** This payload is such a part, of this revision. */
  readonly gives?: string;
}

interface Instance<Model, Props, Values> {
  readonly root: HTMLElement;
  readonly applied: Map<PropertyKey, number>;
  readonly part: Component<Model, Props, Values>;
  args: Arguments;
  revision: string;
}

interface Waiting {
  readonly host: HTMLElement;
  readonly resume: () => void;
}

const BASES_KEPT = 3;
// The server may see only the last of several values that follow each other quickly. Each is sent with those before it,
// but for long ones: those are whole texts, which the next one replaces.
const ACTIONS_KEPT = 8;
const LONGEST_KEPT = 1000;
const NEWLINE = 10;
let sequence = Date.now() * 1000;

/** Makes the function that Streamlit calls with each payload of a component. */
export function component<Model, Props extends SharedProps, Values, Action>(
  css: string,
  create: (root: HTMLElement, tell: Tell<Action>) => Component<Model, Props, Values>,
): (args: Arguments) => void {
  const mounter = new Mounter(`${THEME_CSS}\n${baseCss}\n${css}`, create);
  return (args) => {
    if (!args.isGuest) settle();
    mounter.receive(args);
  };
}

function settle(): void {
  keepHistoryShort();
  offerHelp();
  watchRowsAbove();
}

/** The instances of one component on a page, and the parts of models that several of their payloads share. */
class Mounter<Model, Props extends SharedProps, Values, Action> {
  private readonly instances = new WeakMap<HTMLElement, Instance<Model, Props, Values>>();
  private readonly bases = new Map<string, Partial<Model>>();
  private waiting: readonly Waiting[] = [];

  constructor(
    private readonly css: string,
    private readonly create: (root: HTMLElement, tell: Tell<Action>) => Component<Model, Props, Values>,
  ) {}

  receive(args: Arguments): void {
    const bytes = args.data;
    if (!bytes) return;
    const cut = bytes.indexOf(NEWLINE);
    const head = parse<Head<Props>>(bytes.subarray(0, cut));
    const body = bytes.subarray(cut + 1);
    if (head.gives) this.give(head.gives, parse(body));
    else if (head.base && !this.bases.has(head.base)) this.wait(args);
    else this.show(args, head, body);
  }

  private wait(args: Arguments): void {
    this.forget(args.parentElement);
    this.waiting = [...this.waiting, { host: args.parentElement, resume: () => this.receive(args) }];
  }

  private forget(host: HTMLElement): void {
    this.waiting = this.waiting.filter((item) => item.host !== host);
  }

  private give(revision: string, base: Partial<Model>): void {
    this.bases.delete(revision);
    this.bases.set(revision, base);
    for (const oldest of [...this.bases.keys()].slice(0, -BASES_KEPT)) this.bases.delete(oldest);
    for (const { resume } of this.waiting) resume();
  }

  private show(args: Arguments, head: Head<Props>, body: Uint8Array): void {
    this.forget(args.parentElement);
    const it = this.instances.get(args.parentElement) ?? this.start(args);
    it.args = args;
    it.root.style.height = head.view.height || "auto";
    it.root.style.maxHeight = head.view.max_height || "none";
    if (head.rev !== it.revision) {
      it.revision = head.rev;
      const base = head.base ? this.bases.get(head.base) : {};
      it.part.setModel({ ...base, ...parse<Model>(body) }, head.view);
    }
    it.part.setProps(head.view, (name) => take(it.applied, head.view as unknown as Commands<Values>, name));
    it.root.dataset.rev = head.rev;
  }

  private start(args: Arguments): Instance<Model, Props, Values> {
    const host = args.parentElement;
    const root = el("div", { class: "root" });
    adopt(host, this.css);
    host.append(root);
    let told: readonly object[] = [];
    const tell = (action: Action) => {
      const numbered = { ...action, seq: ++sequence };
      it.args.setStateValue("action", { ...numbered, earlier: told });
      if (JSON.stringify(numbered).length <= LONGEST_KEPT) told = [...told, numbered].slice(-ACTIONS_KEPT);
    };
    const it = { root, args, revision: "", applied: new Map<PropertyKey, number>(), part: this.create(root, tell) };
    this.instances.set(host, it);
    onExplain(root, (asked) => it.args.setStateValue("explain", { ...asked, seq: ++sequence }));
    return it;
  }
}

function parse<T>(bytes: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}

function take<Values, Name extends keyof Values>(
  applied: Map<PropertyKey, number>,
  commands: Commands<Values>,
  name: Name,
): Values[Name] | undefined {
  const command = commands[name];
  if (!command || applied.get(name) === command[1]) return undefined;
  applied.set(name, command[1]);
  return command[0];
}

function adopt(host: HTMLElement, css: string): void {
  const tree = treeOf(host);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  tree.adoptedStyleSheets = [...tree.adoptedStyleSheets, sheet];
}
