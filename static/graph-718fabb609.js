const LOOK = {"marks":{"added":{"sign":"+","color":"add","fill":"addBg","token":"addTok"},"removed":{"sign":"−","color":"del","fill":"delBg","token":"delTok"},"changed":{"sign":"~","color":"chg","fill":"chgBg","token":""},"moved":{"sign":"→","color":"mov","fill":"movBg","token":""},"unchanged":{"sign":"=","color":"text3","fill":"","token":""},"ok":{"sign":"✓","color":"ok","fill":"","token":""},"warning":{"sign":"▲","color":"warn","fill":"warnBg","token":""},"error":{"sign":"✕","color":"error","fill":"errorBg","token":""},"note":{"sign":"i","color":"text3","fill":"","token":""},"current":{"sign":"▶","color":"currentBar","fill":"current","token":""}},"kinds":{"tensor":{"letter":"T","shape":"square","color":"cat0"},"tensor0":{"letter":"t","shape":"square, inner square","color":"cat0"},"prim":{"letter":"P","shape":"circle","color":"cat1"},"shape":{"letter":"S","shape":"hexagon","color":"cat2"},"tuple":{"letter":"( )","shape":"pill","color":"cat5"},"closure":{"letter":"λ","shape":"diamond","color":"cat3"},"adt":{"letter":"A","shape":"tag","color":"cat4"},"string":{"letter":"s","shape":"square, cut corner","color":"synString"},"void":{"letter":"∅","shape":"dashed circle","color":"text3"}}};
const LIGHT = {"bg":"#ffffff","canvas":"#fafbfc","chrome":"#f4f6f8","raised":"#e9edf1","line":"#dde2e7","line2":"#bcc5cf","text":"#10161c","text2":"#45505c","text3":"#5f6a76","accent":"#3d4fc4","accentBg":"#e9ecfc","accentOn":"#fefefe","accentFill":"#3c4ec3","current":"#fff4c7","currentBar":"#c48a00","error":"#b2261d","errorBg":"#fdeceb","warn":"#865700","warnBg":"#fff3d8","ok":"#0d7550","add":"#006a78","addBg":"#e0f4f6","addTok":"#b5e4e9","del":"#a53a05","delBg":"#fdeee6","delTok":"#f9cfb8","chg":"#7b5b03","chgBg":"#fdf5dc","mov":"#5d47b8","movBg":"#efecfb","cat0":"#0b66b5","cat0Bg":"#e8f2fb","cat1":"#b84800","cat1Bg":"#fdf0e7","cat2":"#0a744a","cat2Bg":"#e7f5ee","cat3":"#a62f79","cat3Bg":"#fbecf5","cat4":"#4d3a00","cat4Bg":"#f8f3e0","cat5":"#3a1d9c","cat5Bg":"#f1edfc","catNone":"#606b77","catNoneBg":"#f1f3f5","synKeyword":"#7636b5","synName":"#22559f","synString":"#2b6a35","synNumber":"#954500","synType":"#0e666e","synComment":"#616c78","synDecor":"#7a5a00"};
const CSS = ":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}\n:host{color-scheme:inherit}\n*{box-sizing:border-box;margin:0}\n.root{font:13px/1.45 var(--ui);color:var(--text);background:var(--bg);overflow:hidden;display:flex;flex-direction:column;min-height:0;position:relative;-webkit-font-smoothing:antialiased}\n.root[hidden]{display:none}\ncode,pre,.m{font-family:var(--mono);font-size:.92em}\nbutton{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:pointer}\n:focus{outline:none}\n:focus-visible{outline:2px solid var(--accent);outline-offset:1px}\n.row-inset:focus-visible,.ln:focus-visible,tr:focus-visible{outline-offset:-2px}\n.sp{flex:1}\n.btn{display:inline-flex;align-items:center;gap:6px;height:26px;padding:0 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12.5px;white-space:nowrap}\n.btn:hover{background:var(--raised)}\n.btn.p{background:var(--accentFill);border-color:var(--accentFill);color:var(--accentOn);font-weight:600}\n.btn.t{border-color:transparent;background:none;color:var(--text2);padding:0 7px;font-weight:500}\n.btn.t:hover{background:var(--raised)}\n.btn.i{padding:0 7px;min-width:28px;justify-content:center}\n.btn[disabled]{color:var(--text3);cursor:default;background:var(--chrome)}\n.btn.p[disabled]{background:var(--chrome);border-color:var(--line2)}\n.seg{display:inline-flex;height:26px;border:1px solid var(--line2);border-radius:6px;background:var(--bg)}\n.seg button{padding:0 10px;font-size:12px;line-height:24px;color:var(--text2);border-right:1px solid var(--line);white-space:nowrap;font-weight:500}\n.seg button:first-child{border-radius:5px 0 0 5px}.seg button:last-child{border:0;border-radius:0 5px 5px 0}\n.seg [aria-pressed=true],.seg [aria-selected=true],.seg [aria-checked=true]{background:var(--accentBg);color:var(--accent);font-weight:600}\n.kbd{font:600 10.5px/15px var(--mono);border:1px solid var(--line2);border-bottom-width:2px;border-radius:4px;padding:0 4px;color:var(--text2);background:var(--bg)}\n.btn.p .kbd{background:none;color:inherit;border-color:currentColor}\n.pane{display:flex;flex-direction:column;min-height:0;min-width:0;overflow:hidden;flex:1}\n.ph{flex:none;display:flex;align-items:center;gap:8px;height:34px;padding:0 12px;border-bottom:1px solid var(--line);font-size:12px;font-weight:600;color:var(--text2);background:var(--bg);white-space:nowrap;overflow:hidden}\n.ph b{color:var(--text);font-weight:600}.ph .n{font-weight:500;color:var(--text3);overflow:hidden;text-overflow:ellipsis;min-width:0}\n.ph.top{border-top:1px solid var(--line)}\n.tabs{display:flex;flex:0 1 auto;min-width:0;overflow-x:auto;scrollbar-width:none}\n.tab{flex:none;height:34px;line-height:34px;padding:0 2px;margin-right:12px;color:var(--text2);font-weight:500}\n.tab[aria-selected=true]{color:var(--text);font-weight:600;box-shadow:inset 0 -2px var(--accent)}\n.tab:focus-visible{outline-offset:-3px}\n.body{flex:1;min-height:0;overflow:auto;position:relative}\n.pad{padding:10px 12px}\n.code{font:11.5px/19px var(--mono);white-space:pre;tab-size:4}\n.ln{display:flex;min-height:19px;position:relative}\n.ln .g{flex:none;width:44px;text-align:right;padding-right:12px;color:var(--text3);font-size:10.5px;position:relative;user-select:none}\n.ln .t{flex:1;padding-right:8px;min-width:0}\n.ln.cur{background:var(--current)}.ln.cur:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--currentBar);z-index:1}\n.ln.sel{background:var(--accentBg)}.ln.sel:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--accent);z-index:1}\n.ln.added{background:var(--addBg)}.ln.removed{background:var(--delBg)}.ln.changed{background:var(--chgBg)}.ln.moved{background:var(--movBg)}\n.ln.filler{background:repeating-linear-gradient(135deg,transparent 0 5px,var(--chrome) 5px 9px)}\n.ln .s{flex:none;width:16px;text-align:center;font-weight:700;user-select:none}\n.added>.s,.added .sign{color:var(--add)}.removed>.s,.removed .sign{color:var(--del)}.changed>.s,.changed .sign{color:var(--chg)}.moved>.s,.moved .sign{color:var(--mov)}\n.added u{background:var(--addTok)}.removed u{background:var(--delTok)}.changed u{background:var(--chgBg);box-shadow:inset 0 -2px var(--chg)}\nu{text-decoration:none;border-radius:2px}\n.ln.dim .t,.ln.dim .t *{color:var(--text3)}\n.sq-error{text-decoration:underline wavy var(--error) 1px;text-underline-offset:3px}\n.sq-warning{text-decoration:underline wavy var(--warn) 1px;text-underline-offset:3px}\n.sq-note{text-decoration:underline dotted var(--text3) 1px;text-underline-offset:3px}\n.synKeyword{color:var(--synKeyword)}.synName{color:var(--synName)}.synString{color:var(--synString)}.synNumber{color:var(--synNumber)}\n.synType{color:var(--synType)}.synComment{color:var(--synComment)}.synDecor{color:var(--synDecor)}.text2{color:var(--text2)}.text3{color:var(--text3)}\ntable{border-collapse:collapse;width:100%;font-size:12px}\nth{font-weight:500;text-align:left;color:var(--text3);font-size:11px;padding:3px 8px;border-bottom:1px solid var(--line);white-space:nowrap}\ntd{padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}\ntd.m,th.m{font-family:var(--mono);font-size:11.2px}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}\ntr.on td{background:var(--accentBg)}tr.on td:first-child{box-shadow:inset 3px 0 var(--accent)}\ntr[tabindex]{cursor:pointer}tr[tabindex]:hover td{background:var(--chrome)}tr.on[tabindex]:hover td{background:var(--accentBg)}\n.lines>.ln{height:19px}\n.finder{flex:none;gap:6px}\n.finder[hidden]{display:none}\n.find{width:92px;height:22px;padding:0 6px;border:1px solid var(--line);border-radius:4px;background:var(--bg);color:var(--text);font-weight:400}\n.find::placeholder{color:var(--text3)}\n.find:focus-visible{outline-offset:0}\n.hit{background:var(--current);box-shadow:inset 0 0 0 1px var(--currentBar);border-radius:2px}\n.chip{display:inline-flex;align-items:center;gap:5px;height:19px;padding:0 7px;border-radius:5px;font:500 11px/19px var(--ui);background:var(--raised);color:var(--text2);white-space:nowrap}\n.chip.code{font-family:var(--mono);font-size:10.5px;display:inline-flex}\n.chip.ok{color:var(--ok);background:var(--cat2Bg)}.chip.error{color:var(--error);background:var(--errorBg)}.chip.warning{color:var(--warn);background:var(--warnBg)}\n.chip.accent{color:var(--accent);background:var(--accentBg)}.chip.added{color:var(--add);background:var(--addBg)}.chip.removed{color:var(--del);background:var(--delBg)}\n.chip.changed{color:var(--chg);background:var(--chgBg)}.chip.moved{color:var(--mov);background:var(--movBg)}.chip.cat0{color:var(--cat0);background:var(--cat0Bg)}\n.h{font-size:11px;font-weight:600;color:var(--text3);margin:14px 0 5px}\ndl{display:grid;grid-template-columns:74px 1fr;gap:4px 10px;font-size:12px}dt{color:var(--text3)}dd{min-width:0;overflow-wrap:anywhere;margin:0}\n.bd{display:inline-block;vertical-align:-3.5px;flex:none}\n.sym{display:inline-block;vertical-align:-1.5px;flex:none}\n.link{color:var(--accent);cursor:pointer}.link:hover{text-decoration:underline}\n.muted{color:var(--text3)}.sub{color:var(--text2)}.strong{font-weight:550}\n.row{display:flex;align-items:center;gap:8px}\n.error-text{color:var(--error)}.warning-text{color:var(--warn)}.note-text{color:var(--text3)}\n.tip{position:absolute;z-index:20;max-width:420px;padding:7px 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12px;line-height:1.45;pointer-events:none;overflow-wrap:anywhere}\n.tip .hint{color:var(--text2);margin-top:3px}\n.state{position:absolute;inset:0;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:6px;text-align:center;padding:24px;color:var(--text2);font-size:12.5px}\n.state b{font-weight:600;color:var(--text);font-size:13px}\n.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n@media (prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}\n\n.root{border-right:1px solid var(--line);container-type:inline-size}\n.canvas{flex:1;min-height:0;position:relative;overflow:hidden;background-color:var(--canvas);background-image:radial-gradient(var(--line) .8px,transparent .9px);background-size:16px 16px;cursor:grab;touch-action:none}\n.canvas.drag{cursor:grabbing}\n.canvas:focus-visible{outline-offset:-3px}\n.canvas>svg{position:absolute;inset:0;width:100%;height:100%;display:block}\n.canvas text{font-family:var(--mono);user-select:none;white-space:pre}\n.node{cursor:pointer}\n.node.on-cat0>rect,.node.on-cat0>polygon,.node.on-cat0>path,.node.on-cat0>ellipse{fill:var(--cat0Bg);stroke:var(--cat0)}.node .on-cat0{fill:var(--cat0)}.edge.to-cat0>path{stroke:var(--cat0);stroke-width:1.8}.edge.to-cat0>polygon{stroke:var(--cat0);fill:var(--cat0)}\n.node.on-cat1>rect,.node.on-cat1>polygon,.node.on-cat1>path,.node.on-cat1>ellipse{fill:var(--cat1Bg);stroke:var(--cat1)}.node .on-cat1{fill:var(--cat1)}.edge.to-cat1>path{stroke:var(--cat1);stroke-width:1.8}.edge.to-cat1>polygon{stroke:var(--cat1);fill:var(--cat1)}\n.node.on-cat2>rect,.node.on-cat2>polygon,.node.on-cat2>path,.node.on-cat2>ellipse{fill:var(--cat2Bg);stroke:var(--cat2)}.node .on-cat2{fill:var(--cat2)}.edge.to-cat2>path{stroke:var(--cat2);stroke-width:1.8}.edge.to-cat2>polygon{stroke:var(--cat2);fill:var(--cat2)}\n.node.on-cat3>rect,.node.on-cat3>polygon,.node.on-cat3>path,.node.on-cat3>ellipse{fill:var(--cat3Bg);stroke:var(--cat3)}.node .on-cat3{fill:var(--cat3)}.edge.to-cat3>path{stroke:var(--cat3);stroke-width:1.8}.edge.to-cat3>polygon{stroke:var(--cat3);fill:var(--cat3)}\n.node.on-cat4>rect,.node.on-cat4>polygon,.node.on-cat4>path,.node.on-cat4>ellipse{fill:var(--cat4Bg);stroke:var(--cat4)}.node .on-cat4{fill:var(--cat4)}.edge.to-cat4>path{stroke:var(--cat4);stroke-width:1.8}.edge.to-cat4>polygon{stroke:var(--cat4);fill:var(--cat4)}\n.node.on-cat5>rect,.node.on-cat5>polygon,.node.on-cat5>path,.node.on-cat5>ellipse{fill:var(--cat5Bg);stroke:var(--cat5)}.node .on-cat5{fill:var(--cat5)}.edge.to-cat5>path{stroke:var(--cat5);stroke-width:1.8}.edge.to-cat5>polygon{stroke:var(--cat5);fill:var(--cat5)}\n.node.on-catNone>rect,.node.on-catNone>polygon,.node.on-catNone>path,.node.on-catNone>ellipse{fill:var(--catNoneBg);stroke:var(--catNone);stroke-dasharray:4 2}.node .on-catNone{fill:var(--catNone)}\n.node>.mark{font-size:9px;stroke:var(--canvas);stroke-width:2.6;paint-order:stroke;stroke-linejoin:round}\n.node.selected>rect,.node.selected>path,.node.selected>polygon,.node.selected>ellipse,.node.selected>circle{stroke:var(--accent);stroke-width:2;fill:var(--accentBg);stroke-dasharray:none}\n.node.lit>rect,.node.lit>path,.node.lit>polygon,.node.lit>ellipse,.node.lit>circle{stroke:var(--accent);stroke-width:2}\n.node.hover>rect,.node.hover>path,.node.hover>polygon,.node.hover>ellipse,.node.hover>circle{stroke:var(--accent);stroke-width:2}\n.node.now>rect,.node.now>path,.node.now>polygon,.node.now>ellipse{stroke:var(--currentBar);stroke-width:2;fill:var(--current)}\n.edge.lit>path{stroke:var(--accent);stroke-width:1.8}\n.dimmed .node:not(.lit):not(.selected),.dimmed .edge:not(.lit),.dimmed .cluster{opacity:.45}\n.edge.blocking>path{stroke:var(--error);stroke-width:2.6}\n.edge.blocking>polygon{stroke:var(--error);fill:var(--error)}\n.node.blocked>rect,.node.blocked>path,.node.blocked>polygon,.node.blocked>ellipse{stroke:var(--error);stroke-width:2;fill:var(--errorBg)}\n.node.port.selected>path{fill:var(--accent)}\n.legend[hidden]{display:none}\n.ph select{font:inherit;height:26px;max-width:120px;flex:none;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);padding:0 6px}\n.ph .seg[role=radiogroup]{flex:0 .001 auto;min-width:0;overflow-x:auto;scrollbar-width:none}.seg[role=radiogroup] button{padding:0 8px}\n.show-before .after,.show-after .before{display:none}\n.gtools{position:absolute;right:10px;bottom:10px;display:flex;border:1px solid var(--line2);border-radius:6px;background:var(--bg);cursor:default}\n.gtools button{width:28px;height:26px;line-height:25px;text-align:center;font-size:13px;color:var(--text2);border-right:1px solid var(--line)}\n.gtools button:hover{background:var(--raised)}\n.gtools span{padding:0 8px;line-height:26px;font-size:11.5px;color:var(--text2);min-width:48px;text-align:center;font-variant-numeric:tabular-nums}\n.legend{position:absolute;left:10px;bottom:10px;display:flex;flex-wrap:wrap;gap:4px 14px;padding:5px 10px;border:1px solid var(--line);border-radius:6px;background:var(--bg);font-size:11.5px;color:var(--text2);max-width:calc(100% - 190px);cursor:default}\n.legend i{display:inline-flex;margin-right:5px;font-style:normal;font-weight:700;vertical-align:-1px}\n.find{position:absolute;right:10px;top:10px;display:flex;align-items:center;gap:6px;padding:4px 8px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);font-size:12px}\n.find[hidden]{display:none}\n.find input{width:170px;height:24px;border:1px solid var(--line2);border-radius:4px;padding:0 6px;font:12px var(--ui);color:var(--text);background:var(--bg)}\n.menu{position:absolute;right:10px;top:36px;z-index:10;display:flex;flex-direction:column;border:1px solid var(--line2);border-radius:6px;background:var(--bg);padding:4px}\n.menu[hidden]{display:none}\n.menu button{padding:4px 12px;font-size:12.5px;border-radius:4px}.menu button:hover{background:var(--raised)}\n@container (max-width:800px){.ph select{max-width:98px}}\n@container (max-width:520px){.ph:has(.seg[role=radiogroup]){height:auto;min-height:34px;padding-block:4px;flex-wrap:wrap}.ph .seg[role=radiogroup]{flex:0 1 auto;max-width:100%}}\n";
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

// SVG from text by allow-list: what is not named here does not reach the page.

const SVG_ELEMENTS = new Set(["svg", "g", "path", "polygon", "polyline", "ellipse", "circle", "rect", "line", "text", "tspan", "title", "defs", "marker"]);
const SVG_ATTRIBUTES = new Set(
  ("id class d points x y x1 y1 x2 y2 cx cy r rx ry width height viewBox transform fill stroke stroke-width stroke-dasharray stroke-linejoin " +
    "stroke-linecap fill-opacity stroke-opacity opacity text-anchor font-size font-weight font-family font-style dominant-baseline " +
    "marker-end orient refX refY markerWidth markerHeight").split(" "),
);
const SVG_VALUE = /^[^<>&;{}\\@]*$/;
const SVG_URL = /url\s*\(|javascript:|data:|expression/i;
const TOKEN_OF = new Map(Object.entries(LIGHT).map(([name, value]) => [value, `var(--${name})`]));
const HALO = /^stroke:var\(--(\w+)\);stroke-width:([\d.]+);stroke-linejoin:round;paint-order:stroke;?$/;

function importSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const source = parsed.documentElement;
  if (source.localName !== "svg" || parsed.querySelector("parsererror")) return null;
  return copyElement(source);
}

function copyElement(source) {
  const target = document.createElementNS("http://www.w3.org/2000/svg", source.localName);
  for (const { name, value } of source.attributes) copyAttribute(target, name, value);
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) target.append(document.createTextNode(child.data));
    else if (child.nodeType === Node.ELEMENT_NODE && SVG_ELEMENTS.has(child.localName)) target.append(copyElement(child));
  }
  return target;
}

// Ids and classes may hold any text: they are only compared, and set as attribute values.
function copyAttribute(target, name, value) {
  if (name === "id") target.dataset.id = value;
  else if (name === "style") copyHalo(target, value);
  else if (!SVG_ATTRIBUTES.has(name)) return;
  else if (name === "class") target.setAttribute("class", value);
  else if (SVG_VALUE.test(value) && !SVG_URL.test(value)) target.setAttribute(name, TOKEN_OF.get(value.toLowerCase()) || value);
}

// The one style that presenters write: a halo behind a label.
function copyHalo(target, value) {
  const halo = HALO.exec(value);
  if (!halo) return;
  target.style.stroke = `var(--${halo[1]})`;
  target.style.strokeWidth = halo[2];
  target.style.paintOrder = "stroke";
}

// How much larger a PNG is than its SVG, and the pixels of its longer side at the most.
const PNG_SCALE = 2;
const PNG_SIDE = 8000;

// For a file: token values written out, presentation of the component left behind.
function exportSvg(picture) {
  const copy = picture.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const [, , width, height] = (copy.getAttribute("viewBox") || "").split(/[\s,]+/);
  if (height) Object.entries({ width, height }).forEach(([name, value]) => copy.setAttribute(name, value));
  copy.removeAttribute("style");
  copy.querySelectorAll(".view").forEach((group) => group.removeAttribute("transform"));
  const text = new XMLSerializer().serializeToString(copy);
  const concrete = text.replace(/var\(--(\w+)\)/g, (whole, name) => (name === "mono" ? "monospace" : LIGHT[name] || whole));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${concrete}`;
}

// Draws an SVG of `exportSvg` twice as large, on the light background that its colours are made for.
async function downloadPng(name, text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(PNG_SCALE, PNG_SIDE / Math.max(image.width, image.height));
  const canvas = el("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = LIGHT.bg;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(name, "image/png", blob));
}

function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = el("a", { href: url, download: name.replace(/[^\w.-]+/g, "_") || "graph" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// What a graph of compiler regions has besides: steps to scrub through, ports in the legend, the path between two regions.

const CATEGORY_SYMBOL = { cat0: "●", cat1: "▲", cat2: "◆", cat3: "■", cat4: "★", cat5: "⬢", catNone: "?" };

function portSign(sign) {
  if (sign !== "port" && sign !== "open") return null;
  const look = sign === "port" ? { fill: "currentColor" } : { fill: "none", stroke: "var(--error)", "stroke-width": 1.4 };
  return svg("svg", { width: 16, height: 11, viewBox: "0 0 16 11", "aria-hidden": "true" },
    svg("path", { d: "M0 3H16", stroke: sign === "port" ? "currentColor" : "var(--error)", "stroke-width": 1.4 }), svg("path", { d: "M3.5 3a4.5 4.5 0 0 0 9 0z", ...look }));
}

// One of the steps is chosen; the arrows lead to the others.
function stepper(entries, current, onPick) {
  const ids = entries.map(([id]) => id);
  const onKey = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = ids[ids.indexOf(current) + by];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onPick(next);
  };
  return el("span", { class: "seg", role: "radiogroup", "aria-label": "Steps", keydown: onKey }, entries.map(([id, text]) =>
    el("button", { type: "button", role: "radio", data: { id }, "aria-checked": String(id === current), tabindex: id === current ? 0 : -1, click: () => onPick(id) }, text)));
}

// Marks what lies between two sets of nodes, by way of the nodes of a third set and of ports; `path` holds the three.
function markPath(model, groups, picture, path) {
  if (!picture) return;
  for (const item of picture.querySelectorAll(".blocking,.blocked")) item.classList.remove("blocking", "blocked");
  if (!path.length) return;
  const [starts, between, ends] = path.map((nodes) => new Set(nodes));
  const idsOf = (nodes) => model.nodes.filter((info) => info.node && nodes.has(info.node)).map((info) => info.id);
  const isPort = (id) => groups.get(id) && groups.get(id).classList.contains("port");
  const [from, over, to] = [starts, between, ends].map((nodes) => new Set(idsOf(nodes)));
  const may = (id) => from.has(id) || over.has(id) || to.has(id) || isPort(id);
  const reach = (first, a, b) => {
    const seen = new Set(first);
    for (const id of seen) for (const edge of model.edges) if (edge[a] === id && may(edge[b])) seen.add(edge[b]);
    return seen;
  };
  const [down, up] = [reach(from, 0, 1), reach(to, 1, 0)];
  model.edges.forEach(([source, target], number) => {
    const isOn = down.has(source) && up.has(target) && down.has(target) && up.has(source);
    const isInside = (from.has(source) && from.has(target)) || (to.has(source) && to.has(target));
    const edge = isOn && !isInside && picture.querySelector(`[data-id="e${number}"]`);
    if (edge) edge.classList.add("blocking");
  });
  for (const id of over) if (!isPort(id)) groups.get(id).classList.add("blocked");
}

// What classes say in a style sheet, as attributes: a file has no style sheet.
const BLOCKING = { stroke: "var(--error)", "stroke-width": "2.6" };
const SHAPES = ["rect", "polygon", "path", "ellipse"];
const WRITTEN = [
  [".edge.blocking>path", BLOCKING],
  [".edge.blocking>polygon", { stroke: "var(--error)", fill: "var(--error)" }],
  [shapesOf(".node.blocked"), { stroke: "var(--error)", "stroke-width": "2", fill: "var(--errorBg)" }],
  ...Object.keys(CATEGORY_SYMBOL).flatMap((name) => [
    [shapesOf(`.node.on-${name}`), { fill: `var(--${name}Bg)`, stroke: `var(--${name})` }],
    [`.node .mark.on-${name}`, { fill: `var(--${name})`, "font-size": "9", "font-family": "var(--mono)" }],
    [`.edge.to-${name}>path`, { stroke: `var(--${name})`, "stroke-width": "1.8" }],
    [`.edge.to-${name}>polygon`, { stroke: `var(--${name})`, fill: `var(--${name})` }],
  ]),
];

function shapesOf(selector) {
  return SHAPES.map((name) => `${selector}>${name}`).join();
}

function writeStyles(picture) {
  for (const [selector, attributes] of WRITTEN)
    for (const item of picture.querySelectorAll(selector)) for (const [name, value] of Object.entries(attributes)) item.setAttribute(name, value);
}

// Fills nodes in the colour of their category with its symbol at the corner; edges between two categories have the second one's.
function markColours(model, groups, picture, colours) {
  if (!picture) return;
  for (const item of picture.querySelectorAll(".mark")) item.remove();
  const of = new Map();
  for (const info of model.nodes) {
    const element = groups.get(info.id);
    const colour = colours[info.node] || "";
    for (const name of [...element.classList]) if (name.startsWith("on-")) element.classList.remove(name);
    if (!colour) continue;
    of.set(info.id, colour);
    element.classList.add(`on-${colour}`);
    const shape = element.querySelector("rect,polygon,path,ellipse");
    const box = shape && shape.getBBox();
    if (box) element.append(svg("text", { class: `mark on-${colour}`, x: box.x + box.width, y: box.y + 3, "text-anchor": "middle", "aria-hidden": "true" }, CATEGORY_SYMBOL[colour]));
  }
  model.edges.forEach(([source, target], number) => {
    const [from, to] = [of.get(source), of.get(target)];
    const edge = picture.querySelector(`[data-id="e${number}"]`);
    if (!edge) return;
    for (const name of [...edge.classList]) if (name.startsWith("to-cat")) edge.classList.remove(name);
    if (from && to && from !== to) edge.classList.add(`to-${to}`);
  });
}

// Where parts of a picture are, and how it has to lie so that they are seen.

const MARGIN = 12;
// The buttons and the legend below the picture.
const BELOW = 44;

// Where elements are, in the coordinates of the picture that lies as `at` says.
function boundsOf(canvas, at, elements) {
  const outer = canvas.getBoundingClientRect();
  const boxes = elements.map((element) => element.getBoundingClientRect()).filter((found) => found.width || found.height);
  const edge = (name, pick, start, shift) => (pick(...boxes.map((found) => found[name])) - start - shift) / at.k;
  return { left: edge("left", Math.min, outer.left, at.x), right: edge("right", Math.max, outer.left, at.x), top: edge("top", Math.min, outer.top, at.y), bottom: edge("bottom", Math.max, outer.top, at.y) };
}

function isInSight(canvas, at, { left, right, top, bottom }) {
  return left * at.k + at.x > 0 && right * at.k + at.x < canvas.clientWidth && top * at.k + at.y > 0 && bottom * at.k + at.y < canvas.clientHeight;
}

// How a picture in `box` lies with a part of it in the middle of the canvas, as near as its borders let it.
function centred(canvas, box, { left, right, top, bottom }, k) {
  const along = (middle, start, size, room) => {
    if (size * k <= room) return (room - size * k) / 2 - start * k;
    return Math.min(MARGIN - start * k, Math.max(room - MARGIN - (start + size) * k, room / 2 - middle * k));
  };
  return { k, x: along((left + right) / 2, box[0], box[2], canvas.clientWidth), y: along((top + bottom) / 2, box[1], box[3], canvas.clientHeight - BELOW) };
}

function topmost(elements) {
  const tops = elements.map((element) => [element.getBoundingClientRect().top, element]);
  return tops.length ? tops.reduce((best, next) => (next[0] < best[0] ? next : best))[1] : null;
}

// Graph: a picture laid out in Python; here it is moved, searched, marked and exported.

const ZOOM_STEP = 1.25;
const PAN_STEP = 60;
// Text is too small to read under the first scale; a picture that would be opens, and marks are shown, in the second.
const SMALL = 0.6;
const READABLE = 0.8;
// A path that is longer than the pane is shown whole down to this scale.
const SMALL_PATH = 0.25;
const MARK_COLOR = { added: "add", removed: "del", changed: "chg", moved: "mov", unchanged: "text3" };
const LINE_SIGN = { line: "──", dash: "╌╌", dot: "····" };
// More functions are a list to choose from: the one that is shown would be out of sight.
const TABS_SHOWN = 4;
const SIDES = [["before", "Before"], ["both", "Both"], ["after", "After"]];

function createGraph(root, tell) {
  const head = el("div", { class: "ph" });
  const menu = el("div", { class: "menu", hidden: true });
  const percent = el("span", { "aria-live": "off" }, "100%");
  const tools = el("div", { class: "gtools" },
    el("button", { type: "button", "aria-label": "Zoom out", title: "Zoom out (-)", click: () => zoom(1 / ZOOM_STEP) }, "−"),
    el("button", { type: "button", "aria-label": "Zoom in", title: "Zoom in (+)", click: () => zoom(ZOOM_STEP) }, "+"),
    el("button", { type: "button", "aria-label": "Fit", title: "Fit (Space)", click: fit }, "⤢"), percent);
  const legend = el("div", { class: "legend" });
  const search = el("input", { type: "search", "aria-label": "Search the graph", placeholder: "Name, type, function", input: onSearch, keydown: onSearchKey });
  const hits = el("span", { class: "muted" });
  const find = el("div", { class: "find", hidden: true }, search, hits);
  const tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  const canvas = el("div", { class: "canvas", tabindex: "0", role: "application", "aria-roledescription": "graph" });
  root.append(head, menu, canvas, tip);
  let model = null;
  let view = {};
  let side = "both";
  let selected = "";
  let picture = null;
  let group = null;
  let box = [0, 0, 1, 1];
  let at = { x: 0, y: 0, k: 1 };
  // What places the picture again when the pane gets another size; nothing once the user moved it.
  let arrange = home;
  let way = "";
  let groups = new Map();
  let infos = new Map();
  let order = [];
  let found = [];
  let hovered = "";

  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("pointerdown", onPointerDown);
  canvas.addEventListener("pointermove", onHover);
  canvas.addEventListener("pointerleave", () => setHover(null));
  canvas.addEventListener("dblclick", (event) => openGroup(nodeOf(event)));
  canvas.addEventListener("keydown", onKey);
  new ResizeObserver(() => arrange && arrange()).observe(canvas);
  onSharedSelection(root, (node) => markSelected(node, true));
  onKeys("graph steps", root, (event) => Boolean(view.steps && view.steps.length && view.step_keys) && stepBy({ j: 1, k: -1 }[event.key]));
  onKeys("graph search", root, (event) => event.key === "/" && Boolean(picture) && (openSearch(), true));
  return { setModel, setView };

  function setModel(next) {
    model = next;
    infos = new Map(model.nodes.map((info) => [info.id, info]));
    picture = model.svg ? importSvg(model.svg) : null;
    groups = new Map();
    order = [];
    canvas.replaceChildren();
    canvas.setAttribute("aria-label", `${model.title || "graph"}, ${model.node_count} nodes. Arrows move, plus and minus zoom, n and p choose, Enter opens.`);
    root.dataset.nodes = String(model.nodes.length);
    if (!picture) {
      canvas.append(el("div", { class: "state" }, el("b", {}, model.empty_title), el("span", {}, prose(model.empty_text))));
      return;
    }
    wrap();
    for (const node of picture.querySelectorAll("g.node")) register(node);
    drawLegend();
    canvas.append(picture, legend, tools, find);
    way = "";
    home();
    markSelected(selected, false);
  }

  function wrap() {
    const [x, y, width, height] = (picture.getAttribute("viewBox") || "0 0 100 100").split(/[\s,]+/).map(Number);
    box = [x, y, width, height];
    group = svg("g", { class: "view" }, [...picture.childNodes]);
    for (const name of ["width", "height", "viewBox"]) picture.removeAttribute(name);
    picture.replaceChildren(group);
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", model.title || "graph");
  }

  function register(node) {
    const id = node.dataset.id;
    const info = infos.get(id);
    if (!info) return;
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", [info.mark === "unchanged" ? "" : info.mark, info.title, info.subtitle].filter(Boolean).join(", "));
    groups.set(id, node);
    order.push(id);
  }

  function setView(next, take) {
    view = next;
    const wantedSide = take("side");
    if (wantedSide) side = wantedSide;
    const wanted = take("node");
    if (wanted !== undefined) markSelected(wanted, true);
    const lit = new Set(view.highlight || []);
    for (const [id, node] of groups) node.classList.toggle("lit", lit.has(infos.get(id).node) || lit.has(id));
    for (const [id, node] of groups) node.classList.toggle("now", Boolean(view.current) && infos.get(id).node === view.current);
    canvas.classList.toggle("dimmed", lit.size > 0 || found.length > 0);
    markPath(model, groups, picture, view.path || []);
    showPath();
    markColours(model, groups, picture, view.colours || {});
    showSide();
    drawHead();
    drawLegend();
  }

  function stepBy(by) {
    if (!by) return false;
    const ids = view.steps.map(([id]) => id);
    const next = ids[ids.indexOf(view.step) + by];
    if (next !== undefined) pickStep(next);
    return true;
  }

  function pickStep(id) {
    view = { ...view, step: id };
    drawHead();
    tell({ kind: "step", command: id, node: selected, side });
  }

  function drawHead() {
    const pickTab = (id) => tell({ kind: "tab", command: id, node: selected, side });
    const names = view.steps && view.steps.length ? [stepper(view.steps, view.step, pickStep), view.tabs.length > 1 ? choice("Function", view.tabs, view.tab, pickTab) : ""] : view.tabs.length > TABS_SHOWN ? choice("Function", view.tabs, view.tab, pickTab) : view.tabs.length ? tabs(view.tabs, view.tab || view.tabs[0][0], pickTab) : el("b", {}, view.title || model.title || "Graph");
    const note = model.is_folded ? `${model.node_count.toLocaleString("en")} nodes. Shown folded` : view.note || "";
    const pick = (id) => {
      side = id;
      showSide();
      drawHead();
      tell({ kind: "side", side, node: selected });
    };
    const focused = head.contains(root.getRootNode().activeElement);
    head.replaceChildren(
      ...[names].flat(),
      note ? el("span", { class: "n" }, note) : "",
      el("span", { class: "sp" }),
      ...(model.is_compare ? [segments("Sides", SIDES, side, pick)] : []),
      ...view.actions.map(([id, label]) => button(label, "t", "", () => tell({ kind: "command", command: id, node: selected, side }))),
      ...(model.svg && !(view.steps && view.steps.length) ? [button("Search", "t", "/", openSearch, { title: "Search the graph (/)" })] : []),
      ...(model.svg ? [button("Export", "t", "", toggleMenu, { "aria-haspopup": "true" })] : []),
    );
    const pressed = focused && head.querySelector("[aria-checked=true]");
    if (pressed) pressed.focus();
    const current = head.querySelector("[role=radiogroup] [aria-checked=true]");
    if (current) current.parentNode.scrollLeft = current.offsetLeft + current.offsetWidth - current.parentNode.clientWidth;
    const stem = (model.title || "graph").replace("@", "");
    const entries = [["SVG file", () => download(`${stem}.svg`, "image/svg+xml", exportSvg(exportable()))]];
    entries.push(["PNG file", () => downloadPng(`${stem}.png`, exportSvg(exportable()))]);
    if (model.dot) entries.push(["DOT file", () => download(`${stem}.dot`, "text/vnd.graphviz", model.dot)]);
    if (model.dot) entries.push(["Copy DOT", () => navigator.clipboard.writeText(model.dot)]);
    menu.replaceChildren(...entries.map(([label, act]) => el("button", { type: "button", click: () => { menu.hidden = true; act(); } }, label)));
  }

  function exportable() {
    const copy = picture.cloneNode(true);
    copy.setAttribute("viewBox", box.join(" "));
    writeStyles(copy);
    return copy;
  }

  function toggleMenu() {
    menu.hidden = !menu.hidden;
    if (!menu.hidden) menu.firstChild.focus();
  }

  function drawLegend() {
    const names = (view.colour_names || []).map(([sign, text]) => ({ sign, text }));
    legend.hidden = !model.legend.length && !names.length;
    legend.replaceChildren(...[...names, ...model.legend].map(({ sign, text }) => {
      if (MARK_COLOR[sign]) return el("span", { style: { color: `var(--${MARK_COLOR[sign]})` } }, el("b", {}, MARK_SIGN[sign]), " ", text);
      return el("span", {}, el("i", {}, LINE_SIGN[sign] || symbol(sign) || portSign(sign) || sign), text);
    }), ...(view.path && view.path.length ? [el("span", { class: "error-text" }, el("i", {}, "━"), "blocking path")] : []));
  }

  function showSide() {
    canvas.classList.toggle("show-before", side === "before");
    canvas.classList.toggle("show-after", side === "after");
    root.dataset.side = side;
  }

  function place() {
    group.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.k})`);
    percent.textContent = Math.round(at.k * 100) + "%";
    tip.hidden = true;
  }

  function fit() {
    if (!picture || !canvas.clientWidth) return;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight - BELOW;
    const k = Math.min((width - 24) / box[2], (height - 24) / box[3], 1.38);
    at = { k, x: (width - box[2] * k) / 2 - box[0] * k, y: (height - box[3] * k) / 2 - box[1] * k };
    arrange = fit;
    place();
  }

  function home() {
    fit();
    arrange = home;
    if (!picture || at.k >= SMALL) return;
    const first = order.find((id) => !["", "unchanged"].includes(infos.get(id).mark || "")) || selectedId();
    const start = groups.get(first) || topmost([...groups.values()]);
    if (start) lie(centred(canvas, box, boundsOf(canvas, at, [start]), READABLE));
    arrange = home;
  }

  function lie(next) {
    at = next;
    arrange = null;
    place();
  }

  // Another path is brought into sight.
  function showPath() {
    const next = JSON.stringify(view.path || []);
    if (next === way) return;
    way = next;
    if (picture) reveal(...picture.querySelectorAll(".blocking,.blocked"));
  }

  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const k = Math.min(6, Math.max(0.05, at.k * factor));
    lie({ k, x: x - ((x - at.x) * k) / at.k, y: y - ((y - at.y) * k) / at.k });
  }

  function pan(dx, dy) {
    lie({ ...at, x: at.x + dx, y: at.y + dy });
  }

  function onWheel(event) {
    if (!picture || event.target.closest(".find,.menu")) return;
    event.preventDefault();
    const rect = canvas.getBoundingClientRect();
    if (event.shiftKey) pan(-event.deltaY, 0);
    else zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - rect.left, event.clientY - rect.top);
  }

  function onPointerDown(event) {
    if (!picture || event.button !== 0 || event.target.closest(".gtools,.legend,.find")) return;
    const start = { x: event.clientX, y: event.clientY, ...{ ax: at.x, ay: at.y } };
    const pressed = nodeOf(event);
    let moved = false;
    const move = (e) => {
      const [dx, dy] = [e.clientX - start.x, e.clientY - start.y];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      canvas.classList.add("drag");
      lie({ ...at, x: start.ax + dx, y: start.ay + dy });
    };
    const up = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      canvas.classList.remove("drag");
      if (!moved && pressed) choose(pressed);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  }

  function nodeOf(event) {
    const node = event.target.closest && event.target.closest("g.node");
    return node && groups.has(node.dataset.id) ? node.dataset.id : "";
  }

  function choose(id) {
    const info = infos.get(id);
    const node = side === "before" ? info.before_node || info.node : info.node || info.before_node;
    if (!node) return;
    markSelected(node, false);
    shareSelection(node, root);
    tell({ kind: "select", node, side });
  }

  function isNode(info, node) {
    return node !== "" && (info.node === node || info.before_node === node);
  }

  function markSelected(node, isFromOutside) {
    selected = node;
    root.dataset.selected = node;
    for (const [id, element] of groups) {
      const isOn = isNode(infos.get(id), node);
      element.classList.toggle("selected", isOn);
      if (isOn && isFromOutside) reveal(element);
    }
  }

  // Moves only if something is out of sight or too small to read.
  function reveal(...elements) {
    if (!elements.length || !canvas.clientWidth) return;
    const bounds = boundsOf(canvas, at, elements);
    if (isInSight(canvas, at, bounds) && at.k >= SMALL) return;
    if (!isStill()) {
      group.style.transition = "transform 160ms";
      setTimeout(() => (group.style.transition = ""), 200);
    }
    const whole = Math.min((canvas.clientWidth * 0.9) / (bounds.right - bounds.left), (canvas.clientHeight * 0.8) / (bounds.bottom - bounds.top));
    lie(centred(canvas, box, bounds, Math.max(SMALL_PATH, Math.min(at.k < SMALL ? READABLE : at.k, whole))));
  }

  function selectedId() {
    return order.find((id) => isNode(infos.get(id), selected)) || "";
  }

  function onKey(event) {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || !picture) return;
    const act = {
      ArrowLeft: () => pan(PAN_STEP, 0), ArrowRight: () => pan(-PAN_STEP, 0), ArrowUp: () => pan(0, PAN_STEP), ArrowDown: () => pan(0, -PAN_STEP),
      "+": () => zoom(ZOOM_STEP), "=": () => zoom(ZOOM_STEP), "-": () => zoom(1 / ZOOM_STEP), 0: fit, " ": fit, "/": openSearch,
      n: () => move(1), p: () => move(-1), Enter: () => openGroup(selectedId()), Escape: clear,
    }[event.key];
    if (!act || event.target.closest("button")) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  function move(by) {
    const among = found.length ? found : order.filter((id) => side === "both" || ["both", side].includes(infos.get(id).side));
    if (!among.length) return;
    const next = among[(among.indexOf(selectedId()) + by + among.length) % among.length];
    choose(next);
    reveal(groups.get(next));
  }

  function openGroup(id) {
    const info = infos.get(id);
    if (info && info.group) tell({ kind: "open", command: info.group, node: selected, side });
  }

  function clear() {
    find.hidden = true;
    search.value = "";
    onSearch();
    markSelected("", false);
    shareSelection("", root);
    tell({ kind: "select", node: "", side });
  }

  function openSearch() {
    find.hidden = false;
    search.focus();
  }

  function onSearch() {
    const wanted = search.value.trim().toLowerCase();
    found = wanted ? order.filter((id) => [infos.get(id).title, infos.get(id).subtitle, infos.get(id).function].join(" ").toLowerCase().includes(wanted)) : [];
    for (const [id, node] of groups) node.classList.toggle("lit", found.includes(id));
    canvas.classList.toggle("dimmed", wanted !== "");
    hits.textContent = wanted ? `${found.length} found` : "";
  }

  function onSearchKey(event) {
    event.stopPropagation();
    if (event.key === "Escape") {
      find.hidden = true;
      search.value = "";
      onSearch();
      canvas.focus();
    } else if (event.key === "Enter" && found.length) {
      move(event.shiftKey ? -1 : 1);
    }
  }

  function onHover(event) {
    if (event.buttons) return;
    setHover(nodeOf(event), event);
  }

  function setHover(id, event) {
    if (id !== hovered) {
      for (const [key, on] of [[hovered, false], [id, true]]) if (groups.has(key)) groups.get(key).classList.toggle("hover", on);
      hovered = id;
    }
    const info = infos.get(id);
    tip.hidden = !info;
    if (!info) return;
    const place_ = [info.function && `@${info.function}`, info.line && `line ${info.line}`].filter(Boolean).join(", ");
    tip.replaceChildren(el("b", { class: "m" }, info.title), info.subtitle && el("div", { class: "m sub" }, info.subtitle), place_ && el("div", { class: "muted" }, place_));
    const home = root.getBoundingClientRect();
    tip.style.left = Math.min(event.clientX - home.left + 14, home.width - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY - home.top + 16, home.height - tip.offsetHeight - 8) + "px";
  }
}

export default function (args) {
  mount(args, CSS, createGraph);
}
