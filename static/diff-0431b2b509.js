const LOOK = {"marks":{"added":{"sign":"+","color":"add","fill":"addBg","token":"addTok"},"removed":{"sign":"−","color":"del","fill":"delBg","token":"delTok"},"changed":{"sign":"~","color":"chg","fill":"chgBg","token":""},"moved":{"sign":"→","color":"mov","fill":"movBg","token":""},"unchanged":{"sign":"=","color":"text3","fill":"","token":""},"ok":{"sign":"✓","color":"ok","fill":"","token":""},"warning":{"sign":"▲","color":"warn","fill":"warnBg","token":""},"error":{"sign":"✕","color":"error","fill":"errorBg","token":""},"note":{"sign":"i","color":"text3","fill":"","token":""},"current":{"sign":"▶","color":"currentBar","fill":"current","token":""}},"kinds":{"tensor":{"letter":"T","shape":"square","color":"cat0"},"tensor0":{"letter":"t","shape":"square, inner square","color":"cat0"},"prim":{"letter":"P","shape":"circle","color":"cat1"},"shape":{"letter":"S","shape":"hexagon","color":"cat2"},"tuple":{"letter":"( )","shape":"pill","color":"cat5"},"closure":{"letter":"λ","shape":"diamond","color":"cat3"},"adt":{"letter":"A","shape":"tag","color":"cat4"},"string":{"letter":"s","shape":"square, cut corner","color":"synString"},"void":{"letter":"∅","shape":"dashed circle","color":"text3"}}};
const LIGHT = {"bg":"#ffffff","canvas":"#fafbfc","chrome":"#f4f6f8","raised":"#e9edf1","line":"#dde2e7","line2":"#bcc5cf","text":"#10161c","text2":"#45505c","text3":"#5f6a76","accent":"#3d4fc4","accentBg":"#e9ecfc","accentOn":"#fefefe","accentFill":"#3c4ec3","current":"#fff4c7","currentBar":"#c48a00","error":"#b2261d","errorBg":"#fdeceb","warn":"#865700","warnBg":"#fff3d8","ok":"#0d7550","add":"#006a78","addBg":"#e0f4f6","addTok":"#b5e4e9","del":"#a53a05","delBg":"#fdeee6","delTok":"#f9cfb8","chg":"#7b5b03","chgBg":"#fdf5dc","mov":"#5d47b8","movBg":"#efecfb","cat0":"#0b66b5","cat0Bg":"#e8f2fb","cat1":"#b84800","cat1Bg":"#fdf0e7","cat2":"#0a744a","cat2Bg":"#e7f5ee","cat3":"#a62f79","cat3Bg":"#fbecf5","cat4":"#4d3a00","cat4Bg":"#f8f3e0","cat5":"#3a1d9c","cat5Bg":"#f1edfc","catNone":"#606b77","catNoneBg":"#f1f3f5","synKeyword":"#7636b5","synName":"#22559f","synString":"#2b6a35","synNumber":"#954500","synType":"#0e666e","synComment":"#616c78","synDecor":"#7a5a00"};
const CSS = ":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}\n:host{color-scheme:inherit}\n*{box-sizing:border-box;margin:0}\n.root{font:13px/1.45 var(--ui);color:var(--text);background:var(--bg);overflow:hidden;display:flex;flex-direction:column;min-height:0;position:relative;-webkit-font-smoothing:antialiased}\n.root[hidden]{display:none}\ncode,pre,.m{font-family:var(--mono);font-size:.92em}\nbutton{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:pointer}\n:focus{outline:none}\n:focus-visible{outline:2px solid var(--accent);outline-offset:1px}\n.row-inset:focus-visible,.ln:focus-visible,tr:focus-visible{outline-offset:-2px}\n.sp{flex:1}\n.btn{display:inline-flex;align-items:center;gap:6px;height:26px;padding:0 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12.5px;white-space:nowrap}\n.btn:hover{background:var(--raised)}\n.btn.p{background:var(--accentFill);border-color:var(--accentFill);color:var(--accentOn);font-weight:600}\n.btn.t{border-color:transparent;background:none;color:var(--text2);padding:0 7px;font-weight:500}\n.btn.t:hover{background:var(--raised)}\n.btn.i{padding:0 7px;min-width:28px;justify-content:center}\n.btn[disabled]{color:var(--text3);cursor:default;background:var(--chrome)}\n.btn.p[disabled]{background:var(--chrome);border-color:var(--line2)}\n.seg{display:inline-flex;height:26px;border:1px solid var(--line2);border-radius:6px;background:var(--bg)}\n.seg button{padding:0 10px;font-size:12px;line-height:24px;color:var(--text2);border-right:1px solid var(--line);white-space:nowrap;font-weight:500}\n.seg button:first-child{border-radius:5px 0 0 5px}.seg button:last-child{border:0;border-radius:0 5px 5px 0}\n.seg [aria-pressed=true],.seg [aria-selected=true],.seg [aria-checked=true]{background:var(--accentBg);color:var(--accent);font-weight:600}\n.kbd{font:600 10.5px/15px var(--mono);border:1px solid var(--line2);border-bottom-width:2px;border-radius:4px;padding:0 4px;color:var(--text2);background:var(--bg)}\n.btn.p .kbd{background:none;color:inherit;border-color:currentColor}\n.pane{display:flex;flex-direction:column;min-height:0;min-width:0;overflow:hidden;flex:1}\n.ph{flex:none;display:flex;align-items:center;gap:8px;height:34px;padding:0 12px;border-bottom:1px solid var(--line);font-size:12px;font-weight:600;color:var(--text2);background:var(--bg);white-space:nowrap;overflow:hidden}\n.ph b{color:var(--text);font-weight:600}.ph .n{font-weight:500;color:var(--text3);overflow:hidden;text-overflow:ellipsis;min-width:0}\n.ph.top{border-top:1px solid var(--line)}\n.tabs{display:flex;flex:0 1 auto;min-width:0;overflow-x:auto;scrollbar-width:none}\n.tab{flex:none;height:34px;line-height:34px;padding:0 2px;margin-right:12px;color:var(--text2);font-weight:500}\n.tab[aria-selected=true]{color:var(--text);font-weight:600;box-shadow:inset 0 -2px var(--accent)}\n.tab:focus-visible{outline-offset:-3px}\n.body{flex:1;min-height:0;overflow:auto;position:relative}\n.pad{padding:10px 12px}\n.code{font:11.5px/19px var(--mono);white-space:pre;tab-size:4}\n.ln{display:flex;min-height:19px;position:relative}\n.ln .g{flex:none;width:44px;text-align:right;padding-right:12px;color:var(--text3);font-size:10.5px;position:relative;user-select:none}\n.ln .t{flex:1;padding-right:8px;min-width:0}\n.ln.cur{background:var(--current)}.ln.cur:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--currentBar);z-index:1}\n.ln.sel{background:var(--accentBg)}.ln.sel:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--accent);z-index:1}\n.ln.added{background:var(--addBg)}.ln.removed{background:var(--delBg)}.ln.changed{background:var(--chgBg)}.ln.moved{background:var(--movBg)}\n.ln.filler{background:repeating-linear-gradient(135deg,transparent 0 5px,var(--chrome) 5px 9px)}\n.ln .s{flex:none;width:16px;text-align:center;font-weight:700;user-select:none}\n.added>.s,.added .sign{color:var(--add)}.removed>.s,.removed .sign{color:var(--del)}.changed>.s,.changed .sign{color:var(--chg)}.moved>.s,.moved .sign{color:var(--mov)}\n.added u{background:var(--addTok)}.removed u{background:var(--delTok)}.changed u{background:var(--chgBg);box-shadow:inset 0 -2px var(--chg)}\nu{text-decoration:none;border-radius:2px}\n.ln.dim .t,.ln.dim .t *{color:var(--text3)}\n.sq-error{text-decoration:underline wavy var(--error) 1px;text-underline-offset:3px}\n.sq-warning{text-decoration:underline wavy var(--warn) 1px;text-underline-offset:3px}\n.sq-note{text-decoration:underline dotted var(--text3) 1px;text-underline-offset:3px}\n.synKeyword{color:var(--synKeyword)}.synName{color:var(--synName)}.synString{color:var(--synString)}.synNumber{color:var(--synNumber)}\n.synType{color:var(--synType)}.synComment{color:var(--synComment)}.synDecor{color:var(--synDecor)}.text2{color:var(--text2)}.text3{color:var(--text3)}\ntable{border-collapse:collapse;width:100%;font-size:12px}\nth{font-weight:500;text-align:left;color:var(--text3);font-size:11px;padding:3px 8px;border-bottom:1px solid var(--line);white-space:nowrap}\ntd{padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}\ntd.m,th.m{font-family:var(--mono);font-size:11.2px}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}\ntr.on td{background:var(--accentBg)}tr.on td:first-child{box-shadow:inset 3px 0 var(--accent)}\ntr[tabindex]{cursor:pointer}tr[tabindex]:hover td{background:var(--chrome)}tr.on[tabindex]:hover td{background:var(--accentBg)}\n.lines>.ln{height:19px}\n.finder{flex:none;gap:6px}\n.finder[hidden]{display:none}\n.find{width:92px;height:22px;padding:0 6px;border:1px solid var(--line);border-radius:4px;background:var(--bg);color:var(--text);font-weight:400}\n.find::placeholder{color:var(--text3)}\n.find:focus-visible{outline-offset:0}\n.hit{background:var(--current);box-shadow:inset 0 0 0 1px var(--currentBar);border-radius:2px}\n.chip{display:inline-flex;align-items:center;gap:5px;height:19px;padding:0 7px;border-radius:5px;font:500 11px/19px var(--ui);background:var(--raised);color:var(--text2);white-space:nowrap}\n.chip.code{font-family:var(--mono);font-size:10.5px;display:inline-flex}\n.chip.ok{color:var(--ok);background:var(--cat2Bg)}.chip.error{color:var(--error);background:var(--errorBg)}.chip.warning{color:var(--warn);background:var(--warnBg)}\n.chip.accent{color:var(--accent);background:var(--accentBg)}.chip.added{color:var(--add);background:var(--addBg)}.chip.removed{color:var(--del);background:var(--delBg)}\n.chip.changed{color:var(--chg);background:var(--chgBg)}.chip.moved{color:var(--mov);background:var(--movBg)}.chip.cat0{color:var(--cat0);background:var(--cat0Bg)}\n.h{font-size:11px;font-weight:600;color:var(--text3);margin:14px 0 5px}\ndl{display:grid;grid-template-columns:74px 1fr;gap:4px 10px;font-size:12px}dt{color:var(--text3)}dd{min-width:0;overflow-wrap:anywhere;margin:0}\n.bd{display:inline-block;vertical-align:-3.5px;flex:none}\n.sym{display:inline-block;vertical-align:-1.5px;flex:none}\n.link{color:var(--accent);cursor:pointer}.link:hover{text-decoration:underline}\n.muted{color:var(--text3)}.sub{color:var(--text2)}.strong{font-weight:550}\n.row{display:flex;align-items:center;gap:8px}\n.error-text{color:var(--error)}.warning-text{color:var(--warn)}.note-text{color:var(--text3)}\n.tip{position:absolute;z-index:20;max-width:420px;padding:7px 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12px;line-height:1.45;pointer-events:none;overflow-wrap:anywhere}\n.tip .hint{color:var(--text2);margin-top:3px}\n.state{position:absolute;inset:0;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:6px;text-align:center;padding:24px;color:var(--text2);font-size:12.5px}\n.state b{font-weight:600;color:var(--text);font-size:13px}\n.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n@media (prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}\n\n.root{border-right:1px solid var(--line)}\n.scrub{flex:none;height:36px;display:flex;align-items:center;gap:10px;padding:0 14px;border-bottom:1px solid var(--line);background:var(--chrome)}\n.scrub .track{flex:1;min-width:0;display:flex;align-items:center;justify-content:space-between;position:relative;height:22px;margin:0 14px}\n.scrub .track:before{content:\"\";position:absolute;left:0;right:0;top:10px;height:2px;background:var(--line2)}\n.scrub .stop{position:relative;width:18px;height:18px;border-radius:50%;margin:0 -9px;display:grid;place-items:center}\n.scrub .stop:before{content:\"\";width:12px;height:12px;border-radius:50%;background:var(--bg);border:2px solid var(--line2)}\n.scrub .stop.changed:before{background:var(--chg);border-color:var(--chg);border-radius:3px;transform:rotate(45deg) scale(.85)}\n.scrub .stop[aria-current]:before{width:16px;height:16px;background:var(--accent);border-color:var(--accent);border-radius:50%;transform:none}\n.scrub .label{font-size:12px;white-space:nowrap}\n.sides{flex:1;min-height:0;overflow:auto;border-bottom:1px solid var(--line);display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);align-content:start;grid-auto-rows:max-content}\n.ph select{font:inherit;height:26px;max-width:200px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);padding:0 6px}\n.half{overflow-x:auto;overflow-y:hidden;padding-bottom:6px;min-width:0}\n.half:first-child{border-right:1px solid var(--line)}\n.half .ln>.g,.half .ln>.s{position:sticky;left:0;background:inherit;z-index:1}.half .ln>.s{left:44px}\n.half .ln:is(.filler,.hatched)>span{background:none}\n.half .ln.hatched{background:repeating-linear-gradient(135deg,transparent 0 5px,var(--chrome) 5px 9px)}\n:where(.half) .ln{background-color:var(--bg)}\n.half .name{padding:4px 14px;font-size:11px;color:var(--text3);position:sticky;left:0;height:24px}\n.half .lines{width:max-content;min-width:100%}\n.half .name{display:flex;gap:8px;align-items:center}\n.name .title{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;min-width:60px;flex:0 1 auto}\n.name .finder{height:20px;margin-left:auto}\n.name .find{height:19px;font:11px var(--ui)}\n.wrap{margin-left:auto;cursor:pointer;flex:none}\n.name .finder:not([hidden])~.wrap{margin-left:0}\n.half .g[data-node]{cursor:pointer}\n.half .g[data-node]:hover{color:var(--accent);text-decoration:underline}\n.fold{display:block;width:100%;min-height:19px;font:11px/19px var(--ui);color:var(--text3);background:var(--chrome);text-align:left;padding-left:60px;white-space:nowrap}\n.fold span{position:sticky;left:60px}\n.fold:hover{color:var(--accent)}\n.fold:focus-visible{outline-offset:-2px}\n.items{flex:1;min-height:0;overflow:auto}\n.items td:first-child{width:44px}\n.items .unlike td{background:var(--delBg)}\n.failed{padding:14px;display:grid;gap:10px;line-height:1.5}\n.failed .sub{color:var(--text2);padding-left:18px}\n.failed .problem{overflow-wrap:anywhere}\n";
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

// Rows of one height, of which only those near the visible part are in the page: a long text scrolls as a short one.

const ROW_HEIGHT = 19;
// So many rows are there above and below the visible ones, and by so many the middle may be off.
const ROWS_AROUND = 80;
const ROWS_SLACK = 30;

// `make(index)` gives the element of a row; `box` scrolls, `lines` holds the rows.
function createRows(box, lines, make) {
  let count = 0;
  let shown = new Map();
  let from = 0;
  let to = 0;
  // Kept, for asking the box for them would cost a layout.
  let top = 0;
  let height = 0;
  box.addEventListener("scroll", () => {
    top = box.scrollTop;
    draw();
  }, { passive: true });
  new ResizeObserver(([entry]) => {
    height = entry.contentRect.height;
    draw();
  }).observe(box);
  return { set, refresh, reveal, shown: () => shown };

  // `columns` is the length of the longest row, so that the width stays while rows come and go.
  function set(next, columns) {
    count = next;
    lines.style.minWidth = `max(100%,${columns + 12}ch)`;
    refresh();
  }

  // Makes all rows anew.
  function refresh() {
    shown = new Map();
    lines.replaceChildren();
    [from, to] = wanted();
    place(from, to);
    lines.append(...fresh(from, to));
  }

  function wanted() {
    const first = Math.floor(top / ROW_HEIGHT) - ROWS_AROUND;
    const last = Math.ceil((top + height) / ROW_HEIGHT) + ROWS_AROUND;
    return [Math.max(0, Math.min(first, count - ROWS_AROUND)), Math.min(count, Math.max(last, ROWS_AROUND))];
  }

  function draw() {
    const [first, last] = wanted();
    const isNear = Math.abs(first - from) < ROWS_SLACK && Math.abs(last - to) < ROWS_SLACK;
    if (isNear && (first > 0 || from === 0) && (last < count || to === count)) return;
    if (first >= to || last <= from) {
      refresh();
      return;
    }
    for (const [index, row] of shown) {
      if (index >= first && index < last) continue;
      row.remove();
      shown.delete(index);
    }
    const [before, behind] = [fresh(first, Math.min(from, last)), fresh(Math.max(to, first), last)];
    [from, to] = [first, last];
    place(first, last);
    lines.prepend(...before);
    lines.append(...behind);
  }

  function fresh(first, last) {
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const row = make(index);
      shown.set(index, row);
      rows.push(row);
    }
    return rows;
  }

  function place(first, last) {
    lines.style.paddingTop = `${first * ROW_HEIGHT}px`;
    lines.style.paddingBottom = `${Math.max(0, count - last) * ROW_HEIGHT}px`;
  }

  function reveal(index) {
    const y = index * ROW_HEIGHT;
    const seen = height || box.clientHeight;
    if (y >= top + 4 && y <= top + seen - 40) return;
    top = Math.min(Math.max(0, y - seen * 0.45), Math.max(0, count * ROW_HEIGHT - seen + ROW_HEIGHT));
    draw();
    box.scrollTop = top;
  }
}

// Looks for words in all lines of a text; the browser's own search sees only the lines that are in the page.

const FIND_DELAY = 120;
// A shorter text is whole in the page.
const FIND_LINES = 150;

// `texts()` gives the lines, `reveal(index)` shows one, `redraw` makes the rows in sight anew.
function createFind(root, label, { texts, reveal, redraw }) {
  let wanted = "";
  let found = [];
  let place = -1;
  const input = el("input", { type: "search", class: "find", placeholder: "Find", "aria-label": `Find in ${label}`, title: "Enter leads to the next line with it, Shift and Enter to the one before" });
  const count = el("span", { class: "n", role: "status" });
  const element = el("span", { class: "row finder" }, count, input);
  const search = later(FIND_DELAY, look);
  input.addEventListener("input", search);
  input.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onFind, true);
  return { element, reset, marks };

  function reset() {
    element.hidden = texts().length < FIND_LINES;
    found = [];
    wanted = input.value = "";
    say();
  }

  function look() {
    wanted = input.value;
    found = [];
    if (wanted) texts().forEach((text, index) => placesIn(text).length && found.push(index));
    place = -1;
    redraw();
    step(1);
  }

  // A word without capitals is found in any case.
  function placesIn(text) {
    const whole = wanted === wanted.toLowerCase() ? text.toLowerCase() : text;
    const places = [];
    for (let at = whole.indexOf(wanted); at >= 0; at = whole.indexOf(wanted, at + wanted.length)) places.push(at);
    return places;
  }

  // What is found in a line, for `markedSpans`.
  function marks(text) {
    return wanted ? placesIn(text).map((at) => [at, at + wanted.length, "hit"]) : [];
  }

  function step(by) {
    if (found.length) {
      place = place < 0 ? 0 : (place + by + found.length) % found.length;
      reveal(found[place]);
    }
    say();
  }

  function say() {
    count.textContent = !wanted ? "" : found.length ? `${place + 1} of ${found.length.toLocaleString("en")} lines` : "not found";
  }

  function onKey(event) {
    event.stopPropagation();
    if (event.key === "Escape") {
      input.value = "";
      look();
      input.blur();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (input.value === wanted) step(event.shiftKey ? -1 : 1);
    else search.cancel(), look();
  }

  // The listener ends with its component.
  function onFind(event) {
    if (!root.isConnected) {
      document.removeEventListener("keydown", onFind, true);
      return;
    }
    if (event.defaultPrevented || element.hidden || !(event.ctrlKey || event.metaKey) || event.key !== "f" || document.querySelector("[role=dialog],[aria-modal=true]")) return;
    event.preventDefault();
    input.focus();
    input.select();
  }
}

// Long lines on several rows: where a line breaks, and the tokens of a part of it.

const WRAP_HANG = 4;
// A pane that is narrower is scrolled sideways: lines of a few characters cannot be read.
const WRAP_LEAST = 24;
// A line breaks behind one of these if it comes in the last part of the row, else where the row ends.
const WRAP_BREAK = /[\s,(\[{=]/;
const WRAP_LAST_PART = 0.5;
// Of a line on more rows, those behind the first ones are folded but for what is marked.
const WRAP_ROWS = 8;
const WRAP_FIRST_ROWS = 2;

// Gives the parts [from, to, columns of indentation] of a line.
function wrapped(text, columns) {
  if (text.length <= columns) return [[0, text.length, 0]];
  const hang = Math.min(text.search(/\S|$/) + WRAP_HANG, Math.floor(columns / 3));
  const parts = [];
  for (let from = 0; from < text.length; ) {
    const room = columns - (from ? hang : 0);
    let to = Math.min(text.length, from + room);
    if (to < text.length) {
      let at = to;
      while (at > from + room * WRAP_LAST_PART && !WRAP_BREAK.test(text[at - 1])) at -= 1;
      if (at > from + room * WRAP_LAST_PART) to = at;
      while (text[to] === " ") to += 1;
    }
    parts.push([from, to, from ? hang : 0]);
    from = to;
  }
  return parts;
}

// Gives what is shown of two lines, each its tokens and parts, on `count` rows: [row, 0], or the first row and the number of a fold.
function shownRows(count, sides, isOpen) {
  const rows = Array.from({ length: count }, (_, row) => [row, 0]);
  if (count <= WRAP_ROWS || isOpen) return rows;
  const isMarked = (row) => sides.some(([tokens, parts]) => parts[row] && tokensBetween(tokens, parts[row][0], parts[row][1]).some(([, , highlight]) => highlight));
  const out = [];
  for (const [row] of rows) {
    const last = out[out.length - 1];
    if (row < WRAP_FIRST_ROWS || isMarked(row)) out.push([row, 0]);
    else if (last[1]) last[1] += 1;
    else out.push([row, 1]);
  }
  return out;
}

function tokensBetween(tokens, from, to) {
  const out = [];
  let at = 0;
  for (const [text, ...look] of tokens) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece) out.push([piece, ...look]);
    at += text.length;
  }
  return out;
}

// How many characters of code fit into so many pixels.
function columnsIn(root, width) {
  const ruler = el("span", { class: "code", "aria-hidden": "true", style: { position: "absolute", visibility: "hidden" } }, "0".repeat(100));
  root.append(ruler);
  const columns = Math.floor((width * 100) / ruler.getBoundingClientRect().width);
  ruler.remove();
  return Math.max(WRAP_LEAST, columns);
}

// Two texts side by side with the pass's head, and its rewrites and remarks.

const VALUE_SIGN = { same: ["✓", ""], different: ["✕", "removed"], "stops alike": ["!", "warning"], "not comparable": ["?", "warning"] };
// Pixels of a side beside its text: number, sign, padding and the bar that scrolls.
const BESIDE_TEXT = 86;
// Places in a line: its number, its mark, its tokens and the node that it leads to.
const [TOKENS, NODE] = [2, 3];
// In a narrower pane the views are a list to choose from.
const TABS_WIDTH = 620;
// Room behind a change that was behind the right edge, and how many marks of a side are looked at for it.
const CHANGE_MARGIN = 60;
const MARKS_SEEN = 200;
const REMARK_TONE = { applied: "added", missed: "warning", note: "" };

function createDiff(root, tell) {
  const head = el("div", { class: "ph" });
  const scrub = el("div", { class: "scrub" });
  const body = el("div", { class: "pane", style: { flex: "1" } });
  root.append(head, scrub, body);
  let model = null;
  let view = {};
  let selected = "";
  let open = new Set();
  let halves = [];
  let items = [];
  let isWrapping = true;
  let columns = 0;
  new ResizeObserver(() => view.tabs && drawHead()).observe(root);
  new ResizeObserver(() => isWrapping && halves.length && roomFor() !== columns && drawLines()).observe(root);
  onKeys("diff", root, (event) => event.key === "w" && halves.length > 0 && (toggleWrap(), true));
  onSharedSelection(root, (node) => mark(node, true));
  return { setModel, setView };

  function setModel(next) {
    model = next;
    open = new Set();
  }

  function setView(next, take) {
    const isDrawn = next.tab !== "values" && view.tab === next.tab && body.firstChild && root.dataset.drawn === root.dataset.rev && view.problems.length === next.problems.length;
    view = next;
    const wanted = take("node");
    if (wanted !== undefined) selected = wanted;
    drawHead();
    drawScrub();
    if (!isDrawn) drawBody();
    mark(selected, wanted !== undefined);
  }

  function drawHead() {
    head.hidden = !view.title;
    head.replaceChildren(el("b", {}, view.title), el("span", { class: "n" }, view.summary), el("span", { class: "sp" }),
      view.tabs.length ? (root.clientWidth < TABS_WIDTH ? choice : segments)("View", view.tabs, view.tab, (id) => tell({ kind: "tab", command: id, node: selected })) : "");
  }

  function drawScrub() {
    scrub.hidden = !view.stages.length;
    if (!view.stages.length) return;
    const go = (index) => tell({ kind: "stage", stage: index, node: selected });
    const place = view.stages.findIndex(([index]) => index === view.stage);
    const near = (by) => view.stages[place + by];
    const arrow = (text, label, by) => button(text, "i", "", () => near(by) && go(near(by)[0]), { "aria-label": label, disabled: !near(by) });
    scrub.replaceChildren(
      arrow("‹", "Stage before", -1),
      el("div", { class: "track", role: "group", "aria-label": "Stages" }, view.stages.map(([index, name, isChanged]) => el("button", {
        type: "button", class: "stop" + (isChanged ? " changed" : ""), title: `${index} ${name}${isChanged ? ", changed" : ""}`,
        "aria-label": `Stage ${index}, ${name}${isChanged ? ", changed" : ", unchanged"}`, "aria-current": index === view.stage ? "step" : null, click: () => go(index),
      }))),
      arrow("›", "Stage after", 1),
      el("span", { class: "muted label" }, `stage ${view.stage} of ${view.stages[view.stages.length - 1][0]}`));
  }

  function drawBody() {
    root.dataset.drawn = root.dataset.rev || "";
    halves = [];
    const draw = { rewrites: drawRewrites, remarks: drawRemarks, values: drawValues, graph: () => [] }[view.tab] || drawSides;
    body.replaceChildren(...draw());
    body.hidden = view.tab === "graph";
  }

  // A pass that failed left nothing to compare: why it failed stands in place of the texts.
  function drawFailed() {
    const lines = view.problems.map((item) => el("div", { class: "problem" }, severitySign(item.severity), " ", el("code", { title: item.explanation }, item.code), " ",
      item.line ? el("span", { class: "muted" }, `line ${item.line}, column ${item.column}: `) : "", prose(item.message), item.hint ? el("div", { class: "sub" }, prose(item.hint)) : ""));
    return [el("div", { class: "items body", role: "region", "aria-label": "Why the pass failed", tabindex: "0" }, el("div", { class: "failed" }, el("b", {}, `${view.title} failed`), lines,
      el("p", { class: "muted" }, "The pipeline stopped here. The module is as it was before this pass, and the passes behind it were not run.")))];
  }

  function drawSides() {
    if (view.problems.some((item) => item.severity === "error")) return drawFailed();
    const sides = el("div", { class: "sides" });
    for (const which of [0, 1]) {
      const lines = el("div", { class: "code lines" });
      const title = which ? model.after_title : model.before_title;
      const half = el("div", { class: "half", role: "region", "aria-label": title, tabindex: "0" }, el("div", { class: "name" }, el("span", { class: "title", title }, title)), lines);
      const side = { lines, which, texts: [] };
      side.rows = createRows(sides, lines, (place) => drawItem(side, place));
      side.find = createFind(root, title, { texts: () => side.texts, reveal: side.rows.reveal, redraw: side.rows.refresh });
      half.firstChild.append(side.find.element);
      if (which) half.firstChild.append(wrapButton());
      halves.push(side);
      sides.append(half);
    }
    drawLines();
    for (const { find } of halves) find.reset();
    requestAnimationFrame(showChange);
    if (model.is_unchanged && !model.rows.length) return [el("div", { class: "items" }, el("div", { class: "state" }, el("b", {}, "Unchanged"), "This pass leaves the module as it is."))];
    return [sides];
  }

  function wrapButton() {
    return el("button", { type: "button", class: "chip wrap", "aria-pressed": "true", title: "Long lines on several rows (w)", click: toggleWrap }, "Wrap ", el("span", { class: "kbd", "aria-hidden": "true" }, "w"));
  }

  function toggleWrap() {
    isWrapping = !isWrapping;
    drawLines();
    mark(selected, false);
    requestAnimationFrame(showChange);
  }

  function roomFor() {
    return columnsIn(root, root.clientWidth / 2 - BESIDE_TEXT);
  }

  // Lists what is shown: a row of the model and which part of its wrapped lines, or its first row and the count of a fold.
  function drawLines() {
    const folds = new Map(model.folds.filter(([first]) => !open.has(first)).map((fold) => [fold[0], fold[1]]));
    items = [];
    columns = isWrapping ? roomFor() : 0;
    for (let row = 0; row < model.rows.length; row += folds.get(row) || 1) {
      const count = folds.get(row) || 0;
      if (count) items.push([row, count, 0, 0]);
      else for (const shown of rowsOf(row)) items.push([row, 0, ...shown]);
    }
    for (const half of halves) {
      half.texts = items.map(([row, count, part]) => (count || part ? "" : textOf(model.rows[row][half.which])));
      half.rows.set(items.length, isWrapping ? 0 : half.texts.reduce((longest, text) => Math.max(longest, text.length), 0));
    }
    const button = halves[1].lines.parentNode.querySelector(".wrap");
    button.classList.toggle("accent", isWrapping);
    button.setAttribute("aria-pressed", String(isWrapping));
  }

  function textOf(line) {
    return line ? line[TOKENS].map(([text]) => text).join("") : "";
  }

  function rowsOf(row) {
    const sides = model.rows[row].map((line) => [line ? line[TOKENS] : [], partsOf(line)]);
    return shownRows(Math.max(...sides.map(([, parts]) => parts.length)), sides, open.has(`line ${row}`));
  }

  function partsOf(line) {
    return wrapped(textOf(line), isWrapping ? columns : Infinity);
  }

  function drawItem(half, place) {
    const [row, count, part, hidden] = items[place];
    const fold = (key, words) => el("button", { type: "button", class: "fold", "aria-expanded": "false", click: () => expand(key) }, el("span", {}, `⋯ ${words}`));
    if (hidden) return fold(`line ${row}`, `${hidden} more rows of this line`);
    if (!count) return drawLine(model.rows[row][half.which], half.find, part);
    return fold(row, `${count.toLocaleString("en")} unchanged lines`);
  }

  // If all changes of a text are behind its right edge, the nearest one is brought into sight.
  function showChange() {
    for (const { lines } of halves) {
      const half = lines.parentNode;
      const edge = half.getBoundingClientRect().right;
      const behind = [...lines.querySelectorAll(".ln u")].slice(0, MARKS_SEEN).map((mark) => mark.getBoundingClientRect().right - edge);
      half.scrollLeft = behind.length && Math.min(...behind) > 0 ? half.scrollLeft + Math.min(...behind) + CHANGE_MARGIN : half.scrollLeft;
    }
  }

  // A fold is known by its first row, one of a long line by `line` and its row.
  function expand(key) {
    open.add(key);
    drawLines();
    mark(selected, false);
  }

  function drawLine(line, find, part) {
    if (!line) return el("div", { class: part ? "ln hatched" : "ln filler", "aria-hidden": "true" }, el("span", { class: "g" }), el("span", { class: "s" }), el("span", { class: "t" }));
    const [count, change, tokens, node] = line;
    const isPlain = change === "unchanged";
    const parts = partsOf(line);
    const [from, to, hang] = parts[part] || [0, 0, 0];
    const isFirst = part === 0 && count > 0;
    const number = el("span", { class: "g", data: node && isFirst ? { node } : {} }, isFirst ? String(count) : part < parts.length ? "↪" : "");
    if (node && isFirst) number.addEventListener("click", () => choose(node, count));
    const sign = isPlain || !isFirst ? "" : MARK_SIGN[change];
    const hits = find.marks(textOf(line)).map(([start, end, look]) => [start - from, end - from, look]);
    const look = (isPlain ? "" : change) + (node && node === selected ? " sel" : "");
    return el("div", { class: "ln " + look, data: { line: count, node } }, number,
      el("span", { class: "s" }, sign && el("span", { role: "img", "aria-label": change }, sign)), el("span", { class: "t", style: { paddingLeft: hang ? `${hang}ch` : "" } }, markedSpans(tokensBetween(tokens, from, to), hits)));
  }

  function choose(node, line) {
    mark(node, false);
    shareSelection(node, root);
    tell({ kind: "select", node, line });
  }

  function mark(node, isFromOutside) {
    selected = node;
    root.dataset.selected = node;
    const isIts = ([row, count]) => !count && model.rows[row].some((line) => line && line[NODE] === node);
    const place = node && isFromOutside && halves.length ? items.findIndex(isIts) : -1;
    if (place >= 0) halves[0].rows.reveal(place);
    for (const { lines } of halves) for (const row of lines.children) row.classList.toggle("sel", node !== "" && row.dataset.node === node);
  }

  function drawRewrites() {
    const rows = view.rewrites.map((item) => pickable(el("tr", { class: item.node && item.node === selected ? "on" : "" },
      el("td", { class: "m muted r" }, String(item.number)), el("td", { class: "m" }, item.before), el("td", { class: "m" }, item.after), el("td", { class: "muted" }, item.rule), el("td", { class: "muted r" }, item.line ? `line ${item.line}` : "")),
      () => item.node && tell({ kind: "select", node: item.node, line: item.line })));
    return [list("Rewrites", ["#", "Before", "After", "Rule", ""], rows, "No rewrites", "This pass replaced nothing.")];
  }

  function drawRemarks() {
    const rows = view.remarks.map((item) => pickable(el("tr", {},
      el("td", { class: "m muted r" }, String(item.number)), el("td", {}, chip(item.kind, REMARK_TONE[item.kind])), el("td", {}, prose(item.message)), el("td", { class: "muted r" }, item.line ? `line ${item.line}` : "")),
      () => item.nodes.length && tell({ kind: "select", node: item.nodes[0], line: item.line })));
    return [list("Remarks", ["#", "Kind", "Remark", ""], rows, "No remarks", "This pass said nothing about what it did.")];
  }

  function drawValues() {
    const rows = view.values.map((item) => el("tr", { class: item.verdict === "different" ? "unlike" : "" },
      el("td", {}, chip(`${VALUE_SIGN[item.verdict][0]} ${item.verdict}`, VALUE_SIGN[item.verdict][1])), el("td", { class: "m" }, item.name), el("td", { class: "m muted" }, item.type), el("td", {}, item.words), el("td", { class: "muted r" }, item.line ? String(item.line) : "")));
    return [view.values_note ? el("div", { class: "pad muted" }, view.values_note) : "", list("Values", ["Verdict", "Binding", "Type", "Difference", "Line"], rows, "No values", "Neither of the two runs bound a value.")];
  }

  function list(label, names, rows, emptyTitle, emptyText) {
    if (!rows.length) return el("div", { class: "items body" }, el("div", { class: "state" }, el("b", {}, emptyTitle), emptyText));
    return el("div", { class: "items", role: "region", "aria-label": `${label} of this stage`, tabindex: "0" }, el("table", { "aria-label": label }, el("tr", {}, names.map((name) => el("th", {}, name))), rows));
  }
}

export default function (args) {
  mount(args, CSS, createDiff);
}
