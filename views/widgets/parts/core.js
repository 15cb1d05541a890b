// What every component starts from: mounting, reading the payload, making elements from data, telling Python.
// User text reaches the page through textContent only: `el` and `svg` turn strings into text nodes.

const INSTANCES = new WeakMap();
// Parts of models that several payloads share, by revision, and what waits for them.
const BASES = new Map();
const BASES_KEPT = 3;
let waiting = [];

// A payload is one line of JSON (revision and view) followed by the JSON of the model.
function mount(args, css, create) {
  const host = args.parentElement;
  const bytes = args.data;
  if (!bytes) return;
  watchRows();
  const cut = bytes.indexOf(10);
  const decoder = new TextDecoder();
  const head = JSON.parse(decoder.decode(bytes.subarray(0, cut)));
  if (head.gives) {
    give(head.gives, JSON.parse(decoder.decode(bytes.subarray(cut + 1))));
    return;
  }
  if (head.base && !BASES.has(head.base)) {
    waiting = [...waiting.filter((item) => item.host !== host), { host, resume: () => mount(args, css, create) }];
    return;
  }
  waiting = waiting.filter((item) => item.host !== host);
  let it = INSTANCES.get(host);
  if (!it) {
    const root = el("div", { class: "root" });
    adopt(host, css);
    host.append(root);
    it = { root, args, rev: null, applied: {}, part: null };
    INSTANCES.set(host, it);
    it.part = create(root, (action) => tell(it, action));
  }
  it.args = args;
  it.root.style.height = head.view.height || "auto";
  it.root.style.maxHeight = head.view.max_height || "none";
  if (head.rev !== it.rev) {
    it.rev = head.rev;
    it.part.setModel({ ...BASES.get(head.base), ...JSON.parse(decoder.decode(bytes.subarray(cut + 1))) }, head.view);
  }
  it.part.setView(head.view, (name) => take(it, head.view, name));
  it.root.dataset.rev = head.rev;
}

function give(revision, base) {
  BASES.delete(revision);
  BASES.set(revision, base);
  while (BASES.size > BASES_KEPT) BASES.delete(BASES.keys().next().value);
  for (const { resume } of waiting) resume();
}

// A command of the page, [value, number]; returned once, when its number is first seen.
function take(it, view, name) {
  const command = view[name];
  if (!command || it.applied[name] === command[1]) return undefined;
  it.applied[name] = command[1];
  return command[0];
}

let sequence = Date.now() * 1000;
function tell(it, action) {
  it.args.setStateValue("action", { ...action, seq: ++sequence });
}

function adopt(host, css) {
  const tree = host.getRootNode();
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  tree.adoptedStyleSheets = [...tree.adoptedStyleSheets, sheet];
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

function el(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

function svg(tag, props, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

// "a `b` c" with b as code.
function prose(text) {
  return String(text).split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

function later(milliseconds, action) {
  let timer = 0;
  const call = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

// True where a key belongs to something that is typed into.
function isTyping(event) {
  const target = event.composedPath()[0];
  return target instanceof Element && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable);
}

// Listens on the document while the root is on the page; only the newest mounted root of a name gets keys.
const KEY_OWNERS = new Map();
function onKeys(name, root, handle) {
  KEY_OWNERS.set(name, root);
  const listener = (event) => {
    if (!root.isConnected) {
      document.removeEventListener("keydown", listener, true);
      return;
    }
    if (KEY_OWNERS.get(name) !== root || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("[role=dialog],[aria-modal=true]")) return;
    if (handle(event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  document.addEventListener("keydown", listener, true);
}

// Streamlit adds an entry to the history for every query parameter that changes. Only another page, program or
// pipeline is somewhere to go back to: what else changes is written over the entry that there is.
const DESTINATION = ["sample", "module", "pipeline"];
function isElsewhere(to, from) {
  if (to.pathname !== from.pathname) return true;
  // A page opens without parameters and then writes its own.
  if (!from.search || !to.search) return false;
  return DESTINATION.some((name) => to.searchParams.get(name) !== from.searchParams.get(name));
}
function keepHistoryShort() {
  if (window.relaxscopeHistory) return;
  const push = history.pushState.bind(history);
  window.relaxscopeHistory = push;
  history.pushState = (state, title, url) => {
    const isNext = !url || isElsewhere(new URL(url, location.href), new URL(location.href));
    return isNext ? push(state, title, url) : history.replaceState(state, title, url);
  };
}
keepHistoryShort();

// `?` shows the keys: it belongs to the page's bar, which has no key of this kind.
function askForKeys(event) {
  if (event.key !== "?" || isTyping(event) || document.querySelector("[role=dialog]")) return;
  const help = document.querySelector(".st-key-bar-keys button");
  if (help) help.click();
}
if (!window.relaxscopeKeys) {
  window.relaxscopeKeys = askForKeys;
  document.addEventListener("keydown", askForKeys);
}

// Components on the page mark a selection without waiting for the server.
function shareSelection(node, from) {
  window.dispatchEvent(new CustomEvent("relaxscope:select", { detail: { node, from } }));
}
function onSharedSelection(root, handle) {
  const listener = (event) => {
    if (!root.isConnected) window.removeEventListener("relaxscope:select", listener);
    else if (event.detail.from !== root) handle(event.detail.node);
  };
  window.addEventListener("relaxscope:select", listener);
}

// The rows above the panes take what height they need; `--bar` tells the panes.
const ROWS_ABOVE = ".st-key-ctx,.st-key-tour";
const ROWS_SEEN = new WeakSet();
const rowsObserver = new ResizeObserver(() => {
  const rows = [...document.querySelectorAll(ROWS_ABOVE)];
  if (rows.length) document.documentElement.style.setProperty("--bar", `${rows.reduce((sum, row) => sum + row.offsetHeight, 0)}px`);
});
function watchRows() {
  for (const row of document.querySelectorAll(ROWS_ABOVE)) {
    if (!ROWS_SEEN.has(row)) rowsObserver.observe(row);
    ROWS_SEEN.add(row);
  }
}

const isStill = () => matchMedia("(prefers-reduced-motion:reduce)").matches;

// Columns count code points from 1; JavaScript counts UTF-16 units from 0.
function unitOf(text, column) {
  if (!/[\ud800-\udfff]/.test(text)) return Math.min(text.length, column - 1);
  return [...text].slice(0, column - 1).join("").length;
}

function tabs(entries, current, onPick) {
  const tab = ([id, label]) => el("button", { class: "tab", role: "tab", type: "button", "aria-selected": String(id === current), click: () => onPick(id) }, label);
  return el("span", { class: "tabs", role: "tablist" }, entries.map(tab));
}

function segments(label, entries, current, onPick) {
  const group = el("span", { class: "seg", role: "group", "aria-label": label });
  for (const [id, text] of entries) {
    group.append(
      el("button", { type: "button", data: { id }, "aria-pressed": String(id === current), click: () => onPick(id) }, text),
    );
  }
  return group;
}

// The same as a list to choose from, where there is no room.
function choice(label, entries, current, onPick) {
  const pick = el("select", { "aria-label": label, change: () => onPick(pick.value) }, entries.map(([id, text]) => el("option", { value: id, selected: id === current }, text)));
  return pick;
}

function button(text, look, key, onClick, props) {
  return el("button", { type: "button", class: "btn " + look, click: onClick, ...props }, text, key && el("span", { class: "kbd", "aria-hidden": "true" }, key));
}

// A table row that acts as a button.
function pickable(row, onPick) {
  row.tabIndex = 0;
  row.addEventListener("click", onPick);
  row.addEventListener("keydown", (event) => {
    if (event.target === row && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      event.stopPropagation();
      onPick(event);
    }
  });
  return row;
}
