const LOOK = {"marks":{"added":{"sign":"+","color":"add","fill":"addBg","token":"addTok"},"removed":{"sign":"−","color":"del","fill":"delBg","token":"delTok"},"changed":{"sign":"~","color":"chg","fill":"chgBg","token":""},"moved":{"sign":"→","color":"mov","fill":"movBg","token":""},"unchanged":{"sign":"=","color":"text3","fill":"","token":""},"ok":{"sign":"✓","color":"ok","fill":"","token":""},"warning":{"sign":"▲","color":"warn","fill":"warnBg","token":""},"error":{"sign":"✕","color":"error","fill":"errorBg","token":""},"note":{"sign":"i","color":"text3","fill":"","token":""},"current":{"sign":"▶","color":"currentBar","fill":"current","token":""}},"kinds":{"tensor":{"letter":"T","shape":"square","color":"cat0"},"tensor0":{"letter":"t","shape":"square, inner square","color":"cat0"},"prim":{"letter":"P","shape":"circle","color":"cat1"},"shape":{"letter":"S","shape":"hexagon","color":"cat2"},"tuple":{"letter":"( )","shape":"pill","color":"cat5"},"closure":{"letter":"λ","shape":"diamond","color":"cat3"},"adt":{"letter":"A","shape":"tag","color":"cat4"},"string":{"letter":"s","shape":"square, cut corner","color":"synString"},"void":{"letter":"∅","shape":"dashed circle","color":"text3"}}};
const LIGHT = {"bg":"#ffffff","canvas":"#fafbfc","chrome":"#f4f6f8","raised":"#e9edf1","line":"#dde2e7","line2":"#bcc5cf","text":"#10161c","text2":"#45505c","text3":"#5f6a76","accent":"#3d4fc4","accentBg":"#e9ecfc","accentOn":"#fefefe","accentFill":"#3c4ec3","current":"#fff4c7","currentBar":"#c48a00","error":"#b2261d","errorBg":"#fdeceb","warn":"#865700","warnBg":"#fff3d8","ok":"#0d7550","add":"#006a78","addBg":"#e0f4f6","addTok":"#b5e4e9","del":"#a53a05","delBg":"#fdeee6","delTok":"#f9cfb8","chg":"#7b5b03","chgBg":"#fdf5dc","mov":"#5d47b8","movBg":"#efecfb","cat0":"#0b66b5","cat0Bg":"#e8f2fb","cat1":"#b84800","cat1Bg":"#fdf0e7","cat2":"#0a744a","cat2Bg":"#e7f5ee","cat3":"#a62f79","cat3Bg":"#fbecf5","cat4":"#4d3a00","cat4Bg":"#f8f3e0","cat5":"#3a1d9c","cat5Bg":"#f1edfc","catNone":"#606b77","catNoneBg":"#f1f3f5","synKeyword":"#7636b5","synName":"#22559f","synString":"#2b6a35","synNumber":"#954500","synType":"#0e666e","synComment":"#616c78","synDecor":"#7a5a00"};
const CSS = ":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}\n:host{color-scheme:inherit}\n*{box-sizing:border-box;margin:0}\n.root{font:13px/1.45 var(--ui);color:var(--text);background:var(--bg);overflow:hidden;display:flex;flex-direction:column;min-height:0;position:relative;-webkit-font-smoothing:antialiased}\n.root[hidden]{display:none}\ncode,pre,.m{font-family:var(--mono);font-size:.92em}\nbutton{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:pointer}\n:focus{outline:none}\n:focus-visible{outline:2px solid var(--accent);outline-offset:1px}\n.row-inset:focus-visible,.ln:focus-visible,tr:focus-visible{outline-offset:-2px}\n.sp{flex:1}\n.btn{display:inline-flex;align-items:center;gap:6px;height:26px;padding:0 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12.5px;white-space:nowrap}\n.btn:hover{background:var(--raised)}\n.btn.p{background:var(--accentFill);border-color:var(--accentFill);color:var(--accentOn);font-weight:600}\n.btn.t{border-color:transparent;background:none;color:var(--text2);padding:0 7px;font-weight:500}\n.btn.t:hover{background:var(--raised)}\n.btn.i{padding:0 7px;min-width:28px;justify-content:center}\n.btn[disabled]{color:var(--text3);cursor:default;background:var(--chrome)}\n.btn.p[disabled]{background:var(--chrome);border-color:var(--line2)}\n.seg{display:inline-flex;height:26px;border:1px solid var(--line2);border-radius:6px;background:var(--bg)}\n.seg button{padding:0 10px;font-size:12px;line-height:24px;color:var(--text2);border-right:1px solid var(--line);white-space:nowrap;font-weight:500}\n.seg button:first-child{border-radius:5px 0 0 5px}.seg button:last-child{border:0;border-radius:0 5px 5px 0}\n.seg [aria-pressed=true],.seg [aria-selected=true],.seg [aria-checked=true]{background:var(--accentBg);color:var(--accent);font-weight:600}\n.kbd{font:600 10.5px/15px var(--mono);border:1px solid var(--line2);border-bottom-width:2px;border-radius:4px;padding:0 4px;color:var(--text2);background:var(--bg)}\n.btn.p .kbd{background:none;color:inherit;border-color:currentColor}\n.pane{display:flex;flex-direction:column;min-height:0;min-width:0;overflow:hidden;flex:1}\n.ph{flex:none;display:flex;align-items:center;gap:8px;height:34px;padding:0 12px;border-bottom:1px solid var(--line);font-size:12px;font-weight:600;color:var(--text2);background:var(--bg);white-space:nowrap;overflow:hidden}\n.ph b{color:var(--text);font-weight:600}.ph .n{font-weight:500;color:var(--text3);overflow:hidden;text-overflow:ellipsis;min-width:0}\n.ph.top{border-top:1px solid var(--line)}\n.tabs{display:flex;flex:0 1 auto;min-width:0;overflow-x:auto;scrollbar-width:none}\n.tab{flex:none;height:34px;line-height:34px;padding:0 2px;margin-right:12px;color:var(--text2);font-weight:500}\n.tab[aria-selected=true]{color:var(--text);font-weight:600;box-shadow:inset 0 -2px var(--accent)}\n.tab:focus-visible{outline-offset:-3px}\n.body{flex:1;min-height:0;overflow:auto;position:relative}\n.pad{padding:10px 12px}\n.code{font:11.5px/19px var(--mono);white-space:pre;tab-size:4}\n.ln{display:flex;min-height:19px;position:relative}\n.ln .g{flex:none;width:44px;text-align:right;padding-right:12px;color:var(--text3);font-size:10.5px;position:relative;user-select:none}\n.ln .t{flex:1;padding-right:8px;min-width:0}\n.ln.cur{background:var(--current)}.ln.cur:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--currentBar);z-index:1}\n.ln.sel{background:var(--accentBg)}.ln.sel:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--accent);z-index:1}\n.ln.added{background:var(--addBg)}.ln.removed{background:var(--delBg)}.ln.changed{background:var(--chgBg)}.ln.moved{background:var(--movBg)}\n.ln.filler{background:repeating-linear-gradient(135deg,transparent 0 5px,var(--chrome) 5px 9px)}\n.ln .s{flex:none;width:16px;text-align:center;font-weight:700;user-select:none}\n.added>.s,.added .sign{color:var(--add)}.removed>.s,.removed .sign{color:var(--del)}.changed>.s,.changed .sign{color:var(--chg)}.moved>.s,.moved .sign{color:var(--mov)}\n.added u{background:var(--addTok)}.removed u{background:var(--delTok)}.changed u{background:var(--chgBg);box-shadow:inset 0 -2px var(--chg)}\nu{text-decoration:none;border-radius:2px}\n.ln.dim .t,.ln.dim .t *{color:var(--text3)}\n.sq-error{text-decoration:underline wavy var(--error) 1px;text-underline-offset:3px}\n.sq-warning{text-decoration:underline wavy var(--warn) 1px;text-underline-offset:3px}\n.sq-note{text-decoration:underline dotted var(--text3) 1px;text-underline-offset:3px}\n.synKeyword{color:var(--synKeyword)}.synName{color:var(--synName)}.synString{color:var(--synString)}.synNumber{color:var(--synNumber)}\n.synType{color:var(--synType)}.synComment{color:var(--synComment)}.synDecor{color:var(--synDecor)}.text2{color:var(--text2)}.text3{color:var(--text3)}\ntable{border-collapse:collapse;width:100%;font-size:12px}\nth{font-weight:500;text-align:left;color:var(--text3);font-size:11px;padding:3px 8px;border-bottom:1px solid var(--line);white-space:nowrap}\ntd{padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}\ntd.m,th.m{font-family:var(--mono);font-size:11.2px}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}\ntr.on td{background:var(--accentBg)}tr.on td:first-child{box-shadow:inset 3px 0 var(--accent)}\ntr[tabindex]{cursor:pointer}tr[tabindex]:hover td{background:var(--chrome)}tr.on[tabindex]:hover td{background:var(--accentBg)}\n.lines>.ln{height:19px}\n.finder{flex:none;gap:6px}\n.finder[hidden]{display:none}\n.find{width:92px;height:22px;padding:0 6px;border:1px solid var(--line);border-radius:4px;background:var(--bg);color:var(--text);font-weight:400}\n.find::placeholder{color:var(--text3)}\n.find:focus-visible{outline-offset:0}\n.hit{background:var(--current);box-shadow:inset 0 0 0 1px var(--currentBar);border-radius:2px}\n.chip{display:inline-flex;align-items:center;gap:5px;height:19px;padding:0 7px;border-radius:5px;font:500 11px/19px var(--ui);background:var(--raised);color:var(--text2);white-space:nowrap}\n.chip.code{font-family:var(--mono);font-size:10.5px;display:inline-flex}\n.chip.ok{color:var(--ok);background:var(--cat2Bg)}.chip.error{color:var(--error);background:var(--errorBg)}.chip.warning{color:var(--warn);background:var(--warnBg)}\n.chip.accent{color:var(--accent);background:var(--accentBg)}.chip.added{color:var(--add);background:var(--addBg)}.chip.removed{color:var(--del);background:var(--delBg)}\n.chip.changed{color:var(--chg);background:var(--chgBg)}.chip.moved{color:var(--mov);background:var(--movBg)}.chip.cat0{color:var(--cat0);background:var(--cat0Bg)}\n.h{font-size:11px;font-weight:600;color:var(--text3);margin:14px 0 5px}\ndl{display:grid;grid-template-columns:74px 1fr;gap:4px 10px;font-size:12px}dt{color:var(--text3)}dd{min-width:0;overflow-wrap:anywhere;margin:0}\n.bd{display:inline-block;vertical-align:-3.5px;flex:none}\n.sym{display:inline-block;vertical-align:-1.5px;flex:none}\n.link{color:var(--accent);cursor:pointer}.link:hover{text-decoration:underline}\n.muted{color:var(--text3)}.sub{color:var(--text2)}.strong{font-weight:550}\n.row{display:flex;align-items:center;gap:8px}\n.error-text{color:var(--error)}.warning-text{color:var(--warn)}.note-text{color:var(--text3)}\n.tip{position:absolute;z-index:20;max-width:420px;padding:7px 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12px;line-height:1.45;pointer-events:none;overflow-wrap:anywhere}\n.tip .hint{color:var(--text2);margin-top:3px}\n.state{position:absolute;inset:0;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:6px;text-align:center;padding:24px;color:var(--text2);font-size:12.5px}\n.state b{font-weight:600;color:var(--text);font-size:13px}\n.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n@media (prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}\n\n.root{border-right:1px solid var(--line)}\n.bar{padding:7px 10px;border-bottom:1px solid var(--line)}\n.stages{flex:1;min-height:0;overflow:auto}\n.stages td{white-space:nowrap}\n.stages .no{padding:4px;min-width:24px}\n.stages .ms{padding-left:0}\n.stages .change{padding:4px 6px 4px 0}\n.stages tr.changed td:nth-child(2){font-weight:600;color:var(--text)}\n.stages td:nth-child(2){color:var(--text2);white-space:normal;width:100%;padding-right:4px}\n.stages .options{font-weight:400;color:var(--text3);display:inline-block}\n.foot{flex:none;border-top:1px solid var(--line);font-size:11.5px;line-height:1.6}\n.ok-text{color:var(--ok)}\n.chip[aria-pressed]{cursor:pointer}\n.hidden-run{font-size:11.5px;color:var(--text3)}\n.conclusion{flex:none;max-height:30%;overflow:auto;border-bottom:1px solid var(--line);font-size:12px;line-height:1.45;white-space:pre-line;overflow-wrap:anywhere}\n.stages tr.suspect td{background:var(--errorBg)}\n";
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

// Signs, badges and symbols: every meaning has a letter or a shape beside its colour. LOOK comes from tokens.json.

const MARK_SIGN = Object.fromEntries(Object.entries(LOOK.marks).map(([name, mark]) => [name, mark.sign]));
const KIND_NAME = {
  tensor: "tensor", tensor0: "rank-0 tensor", prim: "prim value", shape: "shape", tuple: "tuple", closure: "closure", adt: "data value",
  string: "string", dtype: "dtype", object: "object", void: "void", unwritten: "not yet written",
};
const KIND_LOOK = {
  ...LOOK.kinds,
  dtype: { letter: "d", color: "synType" },
  object: { letter: "O", color: "catNone" },
};
const KIND_SHAPE = {
  tensor: () => [svg("rect", { x: 1, y: 1, width: 14, height: 14, rx: 2.5 })],
  tensor0: () => [
    svg("rect", { x: 1, y: 1, width: 14, height: 14, rx: 2.5 }),
    svg("rect", { x: 3, y: 3, width: 10, height: 10, rx: 1, fill: "none", "stroke-width": 0.9 }),
  ],
  prim: () => [svg("circle", { cx: 8, cy: 8, r: 7 })],
  shape: () => [svg("path", { d: "M4.6 1.2h6.8L15 8l-3.6 6.8H4.6L1 8z" })],
  tuple: () => [svg("rect", { x: 0.8, y: 2.4, width: 14.4, height: 11.2, rx: 5.6 })],
  closure: () => [svg("path", { d: "M8 .6 15.4 8 8 15.4.6 8z" })],
  adt: () => [svg("path", { d: "M1 2.5h9.5L15.2 8l-4.7 5.5H1z" })],
  string: () => [svg("path", { d: "M1.5 1.5h9.5l3.5 3.5v9.5h-13z" })],
  dtype: () => [svg("path", { d: "M1.5 1.5h9.5l3.5 3.5v9.5h-13z" })],
  object: () => [svg("rect", { x: 1, y: 1, width: 14, height: 14, rx: 7 })],
  void: () => [svg("circle", { cx: 8, cy: 8, r: 6.8, fill: "none", "stroke-dasharray": "2.2 1.8" })],
};

function badge(kind, size = 16) {
  const props = { class: "bd", width: size, height: size, viewBox: "0 0 16 16", role: "img", "aria-label": KIND_NAME[kind] || kind };
  const look = KIND_LOOK[kind];
  if (!look) {
    const empty = svg("rect", { x: 1.5, y: 1.5, width: 13, height: 13, rx: 2.5, fill: "none", stroke: "var(--line2)", "stroke-dasharray": "2 2" });
    return svg("svg", props, empty);
  }
  const fill = /^cat/.test(look.color) ? `var(--${look.color}Bg)` : "var(--raised)";
  const wide = look.letter.length > 1;
  const letter = svg("text", {
    x: 8, y: wide ? 10.4 : 11.1, "text-anchor": "middle", "font-size": wide ? 7 : 8.6, "font-weight": 700, "font-family": "var(--mono)",
    fill: `var(--${look.color})`, "aria-hidden": "true",
  }, look.letter);
  const shape = svg("g", { fill, stroke: `var(--${look.color})`, "stroke-width": 1.2 }, KIND_SHAPE[kind]());
  return svg("svg", props, shape, letter);
}

const CATEGORY_SHAPE = {
  cat0: () => svg("circle", { cx: 6, cy: 6, r: 4.6 }),
  cat1: () => svg("path", { d: "M6 1 11 10.6H1z" }),
  cat2: () => svg("path", { d: "M6 .8 11.2 6 6 11.2.8 6z" }),
  cat3: () => svg("rect", { x: 1.6, y: 1.6, width: 8.8, height: 8.8 }),
  cat4: () => svg("path", { d: "m6 .8 1.5 3.4 3.7.4-2.8 2.5.8 3.6L6 8.9l-3.2 1.8.8-3.6L.8 4.6l3.7-.4z" }),
  cat5: () => svg("path", { d: "M3.4 1.5h5.2L11.2 6 8.6 10.5H3.4L.8 6z" }),
  catNone: () => svg("circle", { cx: 6, cy: 6, r: 4.6, fill: "none", stroke: "var(--catNone)", "stroke-dasharray": "2 1.6" }),
};

function symbol(category, label) {
  const shape = CATEGORY_SHAPE[category];
  if (!shape) return null;
  const name = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg("svg", { class: "sym", width: 12, height: 12, viewBox: "0 0 12 12", fill: `var(--${category})`, ...name }, shape());
}

function severitySign(severity) {
  const name = { error: "error", warning: "warning", note: "note" }[severity];
  return el("span", { class: severity + "-text", role: "img", "aria-label": severity }, MARK_SIGN[name]);
}

function chip(text, tone, ...rest) {
  return el("span", { class: "chip " + (tone || "") }, text, rest);
}

// Lines of code: tokens to spans, and a rough tokenizer for text that Python has not seen yet.

const tokenSpan = ([text, syntax, highlight]) => {
  const span = syntax ? el("span", { class: syntax }, text) : document.createTextNode(text);
  return highlight ? el("u", {}, span) : span;
};

// Cuts tokens at the marks [from, to, class) in UTF-16 units, so that a mark may begin inside a token.
function markedSpans(tokens, marks) {
  if (!marks.length) return tokens.map(tokenSpan);
  const cuts = [...new Set(marks.flatMap(([from, to]) => [from, to]))].sort((a, b) => a - b);
  const out = [];
  let at = 0;
  for (const [text, syntax, highlight] of tokens) {
    let from = 0;
    const inner = cuts.map((cut) => cut - at).filter((cut) => cut > 0 && cut < text.length);
    for (const to of [...inner, text.length]) {
      const piece = tokenSpan([text.slice(from, to), syntax, highlight]);
      const under = marks.find(([start, end]) => at + from >= start && at + to <= end && to > from);
      out.push(under ? el("span", { class: under[2] }, piece) : piece);
      from = to;
    }
    at += text.length;
  }
  return out;
}

const PYTHON_WORDS = "and as assert break class continue def del elif else except finally for from global if import in is lambda not or pass raise return try while with yield True False None";
const RELAY_WORDS = "def fn let if else match match? type free_var extern ref ref_read ref_write True False _";
const RULES = {
  tvmscript: {
    words: new Set(PYTHON_WORDS.split(" ")),
    pattern: /(#.*$)|("""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(@[\w.]+)|(\b\d[\w.]*(?:e[+-]?\d+)?)|([A-Za-z_]\w*)|(\s+|[^\w\s])/g,
    types: /^(?:R|T|I|relax|tir|tvm|Tensor|Tuple|Object|Shape|Prim|Callable)$/,
  },
  relay: {
    words: new Set(RELAY_WORDS.split(" ")),
    pattern: /(\/\*[^]*?(?:\*\/|$)|\/\/.*$|#(?!\[).*$)|("(?:[^"\\]|\\.)*"?)|(@[\w.?]+|%[\w.?]+|#\[[^\]]*\]?|meta\[[\w.]+\]\[\d+\])|(\b\d[\w.]*(?:e[+-]?\d+)?)|(match\?|[A-Za-z_][\w?]*(?:\.[A-Za-z_][\w?]*)*)|(\s+|[^\w\s])/g,
    types: /^(?:Tensor|(?:bfloat|float|uint|int)\d+(?:x\d+)?|bool|[A-Z]\w*)$/,
  },
};

// Globals have a colour, and locals have none; what else begins with a sign is `#[version]` or `meta[...]`.
const RELAY_SIGNS = { "@": "synName", "%": "" };

// One line; strings and comments that go over several lines are coloured only where they start.
function tokenize(line, language) {
  const rules = RULES[language];
  if (!rules) return [[line, "", false]];
  const out = [];
  let previous = "";
  for (const match of line.matchAll(rules.pattern)) {
    const [text, comment, string, decorator, number, word] = match;
    let syntax = "";
    if (comment) syntax = "synComment";
    else if (string) syntax = "synString";
    else if (decorator) syntax = language !== "relay" ? "synDecor" : RELAY_SIGNS[text[0]] ?? "synDecor";
    else if (number) syntax = "synNumber";
    else if (word) syntax = wordSyntax(word, previous, rules);
    if (word) previous = word;
    else if (text.trim()) previous = "";
    out.push([text, syntax, false]);
  }
  return out;
}

function wordSyntax(word, previous, rules) {
  if (previous === "def" || previous === "class") return "synName";
  if (rules.words.has(word)) return "synKeyword";
  return rules.types.test(word) ? "synType" : "";
}

// Pipeline: the stages, unchanged ones hidden and counted.

const VERDICT_SIGN = { reference: ["•", "muted"], same: ["✓", "ok-text"], different: ["✕", "error-text"], "stops alike": ["!", "warning-text"], "not comparable": ["?", "warning-text"] };

function createPipeline(root, tell) {
  const head = el("div", { class: "ph" });
  const bar = el("div", { class: "row bar" });
  const conclusion = el("div", { class: "pad conclusion" });
  const stages = el("div", { class: "stages" });
  const key = (name) => el("span", { class: "kbd" }, name);
  const foot = el("div", { class: "pad muted foot" }, key("j"), " ", key("k"), " next and previous pass", el("br"), key("d"), " text, graph, both");
  root.append(head, bar, conclusion, stages, foot);
  let model = null;
  let view = {};
  let current = 0;
  let isHiding = true;
  onKeys("pipeline", root, onKey);
  return { setModel, setView };

  function setModel(next) {
    model = next;
  }

  function setView(next, take) {
    view = next;
    const wanted = take("stage");
    if (wanted !== undefined) current = wanted;
    draw();
  }

  function isHidden(stage) {
    return stage.index !== current && (isFollower(stage.index) || isUnchanged(stage));
  }

  function isUnchanged(stage) {
    return isHiding && !stage.is_changed && !isSuspect(stage.index) && !stage.problems.length && stage.index !== current && stage.index !== 0 && stage.index !== model.stages.length - 1;
  }

  function isSuspect(index) {
    return view.suspects.includes(index);
  }

  // A stage that only shows the difference, or the reason, that another one brought.
  function isFollower(index) {
    const found = view.verdicts.find(([stage]) => stage === index);
    return isHiding && Boolean(found) && found[3] >= 0 && !isSuspect(index);
  }

  function draw() {
    root.dataset.stage = String(current);
    const took = model.seconds > 0 ? `, ${milliseconds(model.seconds)} ms` : "";
    const count = model.stages.length;
    head.replaceChildren(el("b", {}, "Pipeline"), el("span", { class: "n" }, `${count} stage${count === 1 ? "" : "s"}${took}`), el("span", { class: "sp" }),
      ...view.actions.map(([id, label]) => button(label, "t", "", () => tell({ kind: "command", command: id, stage: current }))));
    bar.replaceChildren(el("button", { type: "button", class: "chip" + (isHiding ? " accent" : ""), "aria-pressed": String(isHiding), click: toggle }, "Hide unchanged ", key("u")));
    conclusion.hidden = !view.conclusion;
    conclusion.replaceChildren(...prose(view.conclusion));
    const rows = [];
    let [run, followed] = [0, ""];
    const flush = () => {
      if (run) rows.push(el("tr", {}, el("td"), el("td", { colspan: 3, class: "hidden-run" }, `${run} ${followed || "unchanged"}, hidden`)));
      [run, followed] = [0, ""];
    };
    for (const stage of model.stages) {
      const following = isFollower(stage.index) ? followsWhat(stage.index) : "";
      if (isHidden(stage)) {
        if (following !== followed) flush();
        followed = following;
        run += 1;
        continue;
      }
      flush();
      rows.push(stageRow(stage));
    }
    flush();
    stages.replaceChildren(el("table", { "aria-label": "Stages" }, el("tr", {}, el("th", { class: "r no" }, "#"), el("th", {}, "Pass"), el("th", { class: "r change" }, "Change"), el("th", { class: "r ms" }, view.verdicts.length ? "Result" : "ms")), rows));
  }

  function stageRow(stage) {
    const isFailed = stage.problems.some((problem) => problem.severity === "error");
    const row = el("tr", { class: (stage.index === current ? "on " : "") + (isSuspect(stage.index) || isFailed ? "suspect " : "") + (stage.is_changed ? "changed" : ""), "aria-current": stage.index === current ? "step" : null, data: { stage: stage.index } },
      el("td", { class: "m muted r no" }, String(stage.index)), el("td", { title: stage.name }, nameOf(stage.name), markOf(stage, isFailed)), el("td", { class: "r change" }, changeOf(stage)),
      view.verdicts.length ? verdictCell(stage.index) : el("td", { class: "m muted r ms" }, stage.seconds >= 0 && stage.index > 0 ? milliseconds(stage.seconds) : ""));
    return pickable(row, () => go(stage.index));
  }

  // A long name breaks before a capital; the options of a pass stand behind it, muted.
  function nameOf(text) {
    const cut = text.indexOf("(");
    const name = cut < 0 ? text : text.slice(0, cut);
    return [name.split(/(?=[A-Z][a-z])/).map((part) => [el("wbr"), part]), cut < 0 ? "" : el("span", { class: "options" }, text.slice(cut))];
  }

  // A count of lines in at most four characters: 1.5k.
  function brief(count) {
    return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 9950 ? 1 : 0)}k`;
  }

  function markOf(stage, isFailed) {
    if (isFailed) return [" ", chip("failed", "error")];
    if (!isSuspect(stage.index)) return "";
    return [" ", chip(view.suspects.length === 1 ? "first difference" : "suspect", "error")];
  }

  function followsWhat(index) {
    const [, verdict, , follows] = view.verdicts.find(([stage]) => stage === index);
    return verdict === "different" ? `with the difference of ${follows}` : `${verdict} as ${follows}`;
  }

  function verdictCell(index) {
    const [, verdict, words] = view.verdicts.find(([stage]) => stage === index) || [index, "not comparable", "This stage was not reached."];
    const [sign, tone] = VERDICT_SIGN[verdict];
    return el("td", { class: "r ms", title: words }, el("span", { class: tone, role: "img", "aria-label": `Result: ${verdict}${words ? `, ${words}` : ""}` }, sign));
  }

  function changeOf(stage) {
    const worst = ["error", "warning"].find((severity) => stage.problems.some((p) => p.severity === severity));
    const signs = worst ? [severitySign(worst), " "] : [];
    if (stage.is_changed) signs.push(el("span", { class: "chip changed code", title: stage.change || `${stage.added_count.toLocaleString("en")} lines added, ${stage.removed_count.toLocaleString("en")} removed` }, stage.change ? `~ ${stage.change}` : `+${brief(stage.added_count)} −${brief(stage.removed_count)}`));
    else if (stage.index > 0 && worst !== "error") signs.push(el("span", { class: "muted m", role: "img", "aria-label": "unchanged" }, "="));
    return signs;
  }

  function milliseconds(seconds) {
    const value = seconds * 1000;
    return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1);
  }

  function toggle() {
    isHiding = !isHiding;
    draw();
  }

  function go(index) {
    if (index === current) return;
    current = index;
    draw();
    tell({ kind: "stage", stage: index });
  }

  function move(by) {
    const shown = model.stages.filter((stage) => !isHidden(stage)).map((stage) => stage.index);
    const next = shown[shown.indexOf(current) + by];
    if (next !== undefined) go(next);
  }

  function onKey(event) {
    const act = { j: () => move(1), k: () => move(-1), u: toggle, d: () => tell({ kind: "command", command: "view", stage: current }) }[event.key];
    if (!act || !model) return false;
    act();
    return true;
  }
}

export default function (args) {
  mount(args, CSS, createPipeline);
}
