// RelaxScope, component news: built by tools/build_static.py.
// Sources: 26d56f013e3fee0ff2a9
function i(t,e={},...n){return M(document.createElement(t),e,n)}function M(t,e,n){for(let[o,r]of Object.entries(e))r==null||r===!1||(typeof r=="function"?t.addEventListener(o,r):o==="style"?Object.assign(t.style,r):o==="data"?Object.assign(t.dataset,r):t.setAttribute(o,r===!0?"":String(r)));return t.append(...g(n)),t}function g(t){return t==null||t===!1?[]:typeof t=="object"&&!(t instanceof Node)?t.flatMap(e=>g(e)):[typeof t=="number"?String(t):t]}function c(t){let e=t.getRootNode();return e instanceof ShadowRoot?e:document}var h=":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}";var b=`:host{color-scheme:inherit}
*{box-sizing:border-box;margin:0}
.root{font:13px/1.45 var(--ui);color:var(--text);background:var(--bg);overflow:hidden;display:flex;flex-direction:column;min-height:0;position:relative;-webkit-font-smoothing:antialiased}
.root[hidden]{display:none}
code,pre,.m{font-family:var(--mono);font-size:.92em}
button{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:pointer}
:focus{outline:none}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
.row-inset:focus-visible,.ln:focus-visible,tr:focus-visible{outline-offset:-2px}
.sp{flex:1}
.btn{display:inline-flex;align-items:center;gap:6px;height:26px;padding:0 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12.5px;white-space:nowrap}
.btn:hover{background:var(--raised)}
.btn.p{background:var(--accentFill);border-color:var(--accentFill);color:var(--accentOn);font-weight:600}
.btn.t{border-color:transparent;background:none;color:var(--text2);padding:0 7px;font-weight:500}
.btn.t:hover{background:var(--raised)}
.btn.i{padding:0 7px;min-width:28px;justify-content:center}
.btn[disabled]{color:var(--text3);cursor:default;background:var(--chrome)}
.btn.p[disabled]{background:var(--chrome);border-color:var(--line2)}
.seg{display:inline-flex;height:26px;border:1px solid var(--line2);border-radius:6px;background:var(--bg)}
.seg button{padding:0 10px;font-size:12px;line-height:24px;color:var(--text2);border-right:1px solid var(--line);white-space:nowrap;font-weight:500}
.seg button:first-child{border-radius:5px 0 0 5px}.seg button:last-child{border:0;border-radius:0 5px 5px 0}
.seg [aria-pressed=true],.seg [aria-selected=true],.seg [aria-checked=true]{background:var(--accentBg);color:var(--accent);font-weight:600}
.kbd{font:600 10.5px/15px var(--mono);border:1px solid var(--line2);border-bottom-width:2px;border-radius:4px;padding:0 4px;color:var(--text2);background:var(--bg)}
.btn.p .kbd{background:none;color:inherit;border-color:currentColor}
.pane{display:flex;flex-direction:column;min-height:0;min-width:0;overflow:hidden;flex:1}
.ph{flex:none;display:flex;align-items:center;gap:8px;height:34px;padding:0 12px;border-bottom:1px solid var(--line);font-size:12px;font-weight:600;color:var(--text2);background:var(--bg);white-space:nowrap;overflow:hidden}
.ph b{color:var(--text);font-weight:600}.ph .n{font-weight:500;color:var(--text3);overflow:hidden;text-overflow:ellipsis;min-width:0}
.ph.top{border-top:1px solid var(--line)}
.tabs{display:flex;flex:0 1 auto;min-width:0;overflow-x:auto;scrollbar-width:none}
.tab{flex:none;height:34px;line-height:34px;padding:0 2px;margin-right:12px;color:var(--text2);font-weight:500}
.tab[aria-selected=true]{color:var(--text);font-weight:600;box-shadow:inset 0 -2px var(--accent)}
.tab:focus-visible{outline-offset:-3px}
.body{flex:1;min-height:0;overflow:auto;position:relative}
.pad{padding:10px 12px}
.code{font:11.5px/19px var(--mono);white-space:pre;tab-size:4}
.ln{display:flex;min-height:19px;position:relative}
.ln .g{flex:none;width:44px;text-align:right;padding-right:12px;color:var(--text3);font-size:10.5px;position:relative;user-select:none}
.ln .t{flex:1;padding-right:8px;min-width:0}
.ln.cur{background:var(--current)}.ln.cur:before{content:"";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--currentBar);z-index:1}
.ln.sel{background:var(--accentBg)}.ln.sel:before{content:"";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--accent);z-index:1}
.ln.added{background:var(--addBg)}.ln.removed{background:var(--delBg)}.ln.changed{background:var(--chgBg)}.ln.moved{background:var(--movBg)}
.ln.filler{background:repeating-linear-gradient(135deg,transparent 0 5px,var(--chrome) 5px 9px)}
.ln .s{flex:none;width:16px;text-align:center;font-weight:700;user-select:none}
.added>.s,.added .sign{color:var(--add)}.removed>.s,.removed .sign{color:var(--del)}.changed>.s,.changed .sign{color:var(--chg)}.moved>.s,.moved .sign{color:var(--mov)}
.added u{background:var(--addTok)}.removed u{background:var(--delTok)}.changed u{background:var(--chgBg);box-shadow:inset 0 -2px var(--chg)}
u{text-decoration:none;border-radius:2px}
.ln.dim .t,.ln.dim .t *{color:var(--text3)}
.sq-error{text-decoration:underline wavy var(--error) 1px;text-underline-offset:3px}
.sq-warning{text-decoration:underline wavy var(--warn) 1px;text-underline-offset:3px}
.sq-note{text-decoration:underline dotted var(--text3) 1px;text-underline-offset:3px}
.synKeyword{color:var(--synKeyword)}.synName{color:var(--synName)}.synString{color:var(--synString)}.synNumber{color:var(--synNumber)}
.synType{color:var(--synType)}.synComment{color:var(--synComment)}.synDecor{color:var(--synDecor)}.text2{color:var(--text2)}.text3{color:var(--text3)}
table{border-collapse:collapse;width:100%;font-size:12px}
th{font-weight:500;text-align:left;color:var(--text3);font-size:11px;padding:3px 8px;border-bottom:1px solid var(--line);white-space:nowrap}
.tools-of-table{display:flex;align-items:center;justify-content:flex-end;gap:8px;width:max-content;margin-left:auto;padding:2px 8px;background:var(--bg);font-size:12px;font-weight:400}.tools-of-table .btn{height:22px}
.ph+.tools-of-table{margin-top:-28px;position:relative}:is(.ph,.structure-head) .tools-of-table{padding:0}.tools-of-table .find{width:112px}
table[data-whole]+.more{display:none}
.sort{padding:0;border:0;background:none;color:inherit;font:inherit;cursor:pointer}.sort:hover{color:var(--text)}
[aria-sort=ascending] .sort::after{content:" ↑" / ""}[aria-sort=descending] .sort::after{content:" ↓" / ""}
td{padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}
td.m,th.m{font-family:var(--mono);font-size:11.2px}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}
tr.on td{background:var(--accentBg)}tr.on td:first-child{box-shadow:inset 3px 0 var(--accent)}
tr[tabindex]{cursor:pointer}tr[tabindex]:hover td{background:var(--chrome)}tr.on[tabindex]:hover td{background:var(--accentBg)}
.lines>.ln{height:19px}
.ln .part{display:inline-block;height:19px;vertical-align:top;content-visibility:auto;contain-intrinsic-height:19px}
.finder{flex:none;gap:6px}
.finder[hidden]{display:none}
.find{width:92px;height:22px;padding:0 6px;border:1px solid var(--line);border-radius:4px;background:var(--bg);color:var(--text);font-weight:400}
.find::placeholder{color:var(--text3)}
.find:focus-visible{outline-offset:0}
.hit{background:var(--current);box-shadow:inset 0 0 0 1px var(--currentBar);border-radius:2px}
.chip{display:inline-flex;align-items:center;gap:5px;height:19px;padding:0 7px;border-radius:5px;font:500 11px/19px var(--ui);background:var(--raised);color:var(--text2);white-space:nowrap}
.chip.code{font-family:var(--mono);font-size:10.5px;display:inline-flex}
.chip.ok{color:var(--ok);background:var(--cat2Bg)}.chip.error{color:var(--error);background:var(--errorBg)}.chip.warning{color:var(--warn);background:var(--warnBg)}
.chip.accent{color:var(--accent);background:var(--accentBg)}.chip.added{color:var(--add);background:var(--addBg)}.chip.removed{color:var(--del);background:var(--delBg)}
.chip.changed{color:var(--chg);background:var(--chgBg)}.chip.moved{color:var(--mov);background:var(--movBg)}.chip.cat0{color:var(--cat0);background:var(--cat0Bg)}
.h{font-size:11px;font-weight:600;color:var(--text3);margin:14px 0 5px}
dl{display:grid;grid-template-columns:74px 1fr;gap:4px 10px;font-size:12px}dt{color:var(--text3)}dd{min-width:0;overflow-wrap:anywhere;margin:0}
.bd{display:inline-block;vertical-align:-3.5px;flex:none}
.sym{display:inline-block;vertical-align:-1.5px;flex:none}
.link{color:var(--accent);cursor:pointer}.link:hover{text-decoration:underline}
.muted{color:var(--text3)}.sub{color:var(--text2)}.strong{font-weight:550}
.row{display:flex;align-items:center;gap:8px}
.error-text{color:var(--error)}.warning-text{color:var(--warn)}.note-text{color:var(--text3)}
.tip{position:absolute;z-index:20;max-width:min(420px,100% - 16px);padding:7px 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12px;line-height:1.45;pointer-events:none;overflow-wrap:anywhere}
.tip .hint{color:var(--text2);margin-top:3px}
.tip .fault{color:var(--error);margin-top:3px}
.state{position:absolute;inset:0;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:6px;text-align:center;padding:24px;color:var(--text2);font-size:12.5px}
.state b{font-weight:600;color:var(--text);font-size:13px}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (prefers-reduced-motion:reduce){*,:before,:after{transition:none!important;animation:none!important}}
`;function A(t){let e=t.composedPath()[0];return e instanceof Element?/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName)||e instanceof HTMLElement&&e.isContentEditable:!1}function m(){window.relaxscopeKeys||(window.relaxscopeKeys=t=>{t.key!=="?"||A(t)||document.querySelector("[role=dialog]")||document.querySelector(".st-key-bar-keys button")?.click()},document.addEventListener("keydown",window.relaxscopeKeys))}var B="relaxscope-explain";function x(t,e){t.addEventListener(B,n=>n instanceof CustomEvent&&e(n.detail))}var P=["sample","module","pipeline"];function H(t,e){return t.pathname!==e.pathname?!0:!e.search||!t.search?!1:P.some(n=>t.searchParams.get(n)!==e.searchParams.get(n))}function w(){if(window.relaxscopeHistory)return;let t=history.pushState.bind(history);window.relaxscopeHistory=t,history.pushState=(e,n,o)=>!o||H(new URL(o,location.href),new URL(location.href))?t(e,n,o):history.replaceState(e,n,o)}var k=".st-key-ctx,.st-key-tour",v=new WeakSet,y;function E(){y??=new ResizeObserver(L);for(let t of document.querySelectorAll(k))v.has(t)||y.observe(t),v.add(t)}function L(){let t=[...document.querySelectorAll(k)],e=t.reduce((n,o)=>n+o.offsetHeight,0);t.length&&document.documentElement.style.setProperty("--bar",`${e}px`)}var C=3,I=8,K=1e3,R=10,T=Date.now()*1e3;function S(t,e){let n=new f(`${h}
${b}
${t}`,e);return o=>{o.isGuest||O(),n.receive(o)}}function O(){w(),m(),E()}var f=class{constructor(e,n){this.css=e;this.create=n}css;create;instances=new WeakMap;bases=new Map;waiting=[];receive(e){let n=e.data;if(!n)return;let o=n.indexOf(R),r=p(n.subarray(0,o)),a=n.subarray(o+1);r.gives?this.give(r.gives,p(a)):r.base&&!this.bases.has(r.base)?this.wait(e):this.show(e,r,a)}wait(e){this.forget(e.parentElement),this.waiting=[...this.waiting,{host:e.parentElement,resume:()=>this.receive(e)}]}forget(e){this.waiting=this.waiting.filter(n=>n.host!==e)}give(e,n){this.bases.delete(e),this.bases.set(e,n);for(let o of[...this.bases.keys()].slice(0,-C))this.bases.delete(o);for(let{resume:o}of this.waiting)o()}show(e,n,o){this.forget(e.parentElement);let r=this.instances.get(e.parentElement)??this.start(e);if(r.args=e,r.root.style.height=n.view.height||"auto",r.root.style.maxHeight=n.view.max_height||"none",n.rev!==r.revision){r.revision=n.rev;let a=n.base?this.bases.get(n.base):{};r.part.setModel({...a,...p(o)},n.view)}r.part.setProps(n.view,a=>V(r.applied,n.view,a)),r.root.dataset.rev=n.rev}start(e){let n=e.parentElement,o=i("div",{class:"root"});z(n,this.css),n.append(o);let r=[],a=d=>{let l={...d,seq:++T};s.args.setStateValue("action",{...l,earlier:r}),JSON.stringify(l).length<=K&&(r=[...r,l].slice(-I))},s={root:o,args:e,revision:"",applied:new Map,part:this.create(o,a)};return this.instances.set(n,s),x(o,d=>s.args.setStateValue("explain",{...d,seq:++T})),s}};function p(t){return JSON.parse(new TextDecoder().decode(t))}function V(t,e,n){let o=e[n];if(!(!o||t.get(n)===o[1]))return t.set(n,o[1]),o[0]}function z(t,e){let n=c(t),o=new CSSStyleSheet;o.replaceSync(e),n.adoptedStyleSheets=[...n.adoptedStyleSheets,o]}var D="class-news",U=5,u=class{constructor(e,n){this.root=e;this.tell=n;e.append(this.chip)}root;tell;model=null;timer=0;isAsking=!1;waited=0;chip=i("span",{class:"chip accent",role:"status","aria-live":"off"});setModel(e){this.model=e,this.waited=0,this.chip.textContent=e.news.words,clearInterval(this.timer),this.timer=setInterval(()=>{this.ask()},e.seconds*1e3)}setProps(e){}async ask(){if(!this.root.isConnected)return clearInterval(this.timer);if(!(this.isAsking||!this.model)){this.isAsking=!0;try{let e=JSON.stringify(this.model.asker),n=await fetch(new URL(D,document.baseURI),{method:"POST",body:e});n.ok&&this.hear(await n.json())}catch{}finally{this.isAsking=!1}}}hear(e){e.words&&(this.chip.textContent=e.words),e.mark!==this.model?.news.mark&&(this.waited===0&&this.tell({kind:"news"}),this.waited=(this.waited+1)%U)}},ue=S("",(t,e)=>new u(t,e));export{ue as default};
