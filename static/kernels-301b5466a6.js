// RelaxScope, component kernels: built by tools/build_static.py.
// Sources: f65c5ddf64307ea707eb
function i(n,e={},...t){return me(document.createElement(n),e,t)}function me(n,e,t){for(let[r,o]of Object.entries(e))o==null||o===!1||(typeof o=="function"?n.addEventListener(r,o):r==="style"?Object.assign(n.style,o):r==="data"?Object.assign(n.dataset,o):n.setAttribute(r,o===!0?"":String(o)));return n.append(...p(t)),n}function p(n){return n==null||n===!1?[]:typeof n=="object"&&!(n instanceof Node)?n.flatMap(e=>p(e)):[typeof n=="number"?String(n):n]}function v(n){return n.split("`").map((e,t)=>t%2?i("code",{},e):e)}function g(n){let e=n.getRootNode();return e instanceof ShadowRoot?e:document}var be="data-relaxscope";function N(n){let e=n;for(;e;){let t=e.closest(`[${be}]`);if(t)return t;let r=g(e);e=r instanceof ShadowRoot?r.host:null}return document}function P(n){let e=n.composedPath()[0];return e instanceof Element?/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName)||e instanceof HTMLElement&&e.isContentEditable:!1}function xe(){return document.querySelector("[role=dialog],[aria-modal=true]")!==null}function ve(n){return n.ctrlKey||n.metaKey||n.altKey}var O=new Map;function V(n,e,t){O.set(n,e);let r=o=>{if(!e.isConnected){document.removeEventListener("keydown",r,!0);return}!ye(n,e,o)||P(o)||ve(o)||xe()||t(o)&&y(o)};document.addEventListener("keydown",r,!0)}function ye(n,e,t){let r=N(e);return r===document?O.get(n)===e:t.composedPath().includes(r)}function y(n){n.preventDefault(),n.stopPropagation()}function $(n,e){return Object.hasOwn(e,n.key)&&e[n.key]||0}function I(){window.relaxscopeKeys||(window.relaxscopeKeys=n=>{n.key!=="?"||P(n)||document.querySelector("[role=dialog]")||document.querySelector(".st-key-bar-keys button")?.click()},document.addEventListener("keydown",window.relaxscopeKeys))}function z(n,e,t,r){let o=([a,s])=>i("button",{type:"button",data:{id:a},"aria-pressed":String(a===t),click:()=>r(a)},s);return i("span",{class:"seg",role:"group","aria-label":n},e.map(o))}function G(n,e,t,r,o={}){let a=t&&i("span",{class:"kbd","aria-hidden":"true"},t);return i("button",{type:"button",class:`btn ${e}`,click:r,...o},n,a)}function m(n,e,t={}){return i("button",{type:"button",class:"link",click:e,...t},n)}function W(n,e){return n.tabIndex=0,n.addEventListener("click",e),n.addEventListener("keydown",t=>{t.target!==n||t.key!=="Enter"&&t.key!==" "||(y(t),e(t))}),n}var j={tensor:{letter:"T",color:"cat0"},tensor0:{letter:"t",color:"cat0"},prim:{letter:"P",color:"cat1"},shape:{letter:"S",color:"cat2"},tuple:{letter:"( )",color:"cat5"},closure:{letter:"λ",color:"cat3"},adt:{letter:"A",color:"cat4"},string:{letter:"s",color:"synString"},void:{letter:"∅",color:"text3"}};var F=":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}";var _=`:host{color-scheme:inherit}
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
`;var D="relaxscope-explain";function U(n,e=""){let t={names:n,text:e};return r=>{r.stopPropagation(),r.currentTarget?.dispatchEvent(new CustomEvent(D,{bubbles:!0,detail:t}))}}function q(n,e){n.addEventListener(D,t=>t instanceof CustomEvent&&e(t.detail))}var ke=["sample","module","pipeline"];function Ee(n,e){return n.pathname!==e.pathname?!0:!e.search||!n.search?!1:ke.some(t=>n.searchParams.get(t)!==e.searchParams.get(t))}function Z(){if(window.relaxscopeHistory)return;let n=history.pushState.bind(history);window.relaxscopeHistory=n,history.pushState=(e,t,r)=>!r||Ee(new URL(r,location.href),new URL(location.href))?n(e,t,r):history.replaceState(e,t,r)}var X=".st-key-ctx,.st-key-tour",J=new WeakSet,Y;function Q(){Y??=new ResizeObserver(Te);for(let n of document.querySelectorAll(X))J.has(n)||Y.observe(n),J.add(n)}function Te(){let n=[...document.querySelectorAll(X)],e=n.reduce((t,r)=>t+r.offsetHeight,0);n.length&&document.documentElement.style.setProperty("--bar",`${e}px`)}var Se=3,Me=8,Le=1e3,He=10,ee=Date.now()*1e3;function te(n,e){let t=new k(`${F}
${_}
${n}`,e);return r=>{r.isGuest||Ce(),t.receive(r)}}function Ce(){Z(),I(),Q()}var k=class{constructor(e,t){this.css=e;this.create=t}css;create;instances=new WeakMap;bases=new Map;waiting=[];receive(e){let t=e.data;if(!t)return;let r=t.indexOf(He),o=w(t.subarray(0,r)),a=t.subarray(r+1);o.gives?this.give(o.gives,w(a)):o.base&&!this.bases.has(o.base)?this.wait(e):this.show(e,o,a)}wait(e){this.forget(e.parentElement),this.waiting=[...this.waiting,{host:e.parentElement,resume:()=>this.receive(e)}]}forget(e){this.waiting=this.waiting.filter(t=>t.host!==e)}give(e,t){this.bases.delete(e),this.bases.set(e,t);for(let r of[...this.bases.keys()].slice(0,-Se))this.bases.delete(r);for(let{resume:r}of this.waiting)r()}show(e,t,r){this.forget(e.parentElement);let o=this.instances.get(e.parentElement)??this.start(e);if(o.args=e,o.root.style.height=t.view.height||"auto",o.root.style.maxHeight=t.view.max_height||"none",t.rev!==o.revision){o.revision=t.rev;let a=t.base?this.bases.get(t.base):{};o.part.setModel({...a,...w(r)},t.view)}o.part.setProps(t.view,a=>Re(o.applied,t.view,a)),o.root.dataset.rev=t.rev}start(e){let t=e.parentElement,r=i("div",{class:"root"});Ae(t,this.css),t.append(r);let o=[],a=l=>{let c={...l,seq:++ee};s.args.setStateValue("action",{...c,earlier:o}),JSON.stringify(c).length<=Le&&(o=[...o,c].slice(-Me))},s={root:r,args:e,revision:"",applied:new Map,part:this.create(r,a)};return this.instances.set(t,s),q(r,l=>s.args.setStateValue("explain",{...l,seq:++ee})),s}};function w(n){return JSON.parse(new TextDecoder().decode(n))}function Re(n,e,t){let r=e[t];if(!(!r||n.get(t)===r[1]))return n.set(t,r[1]),r[0]}function Ae(n,e){let t=g(n),r=new CSSStyleSheet;r.replaceSync(e),t.adoptedStyleSheets=[...t.adoptedStyleSheets,r]}var Ke=1e3;function ne(n,e,t){let r=URL.createObjectURL(new Blob([t],{type:e}));i("a",{href:r,download:Be(n)}).click(),window.setTimeout(()=>URL.revokeObjectURL(r),Ke)}function Be(n){return n.replace(/[^\w.-]+/g,"_")||"graph"}function se(n,e,t=`${e}s`){return`${n.toLocaleString("en")} ${n===1?e:t}`}var Ne={kB:1e3,MB:1e6,GB:1e9},re=8,f=new Map,b=new Map;function le(n,e=()=>""){let t=new E(n,e);return[t.isWorthwhile?t.tools:"",n]}var E=class{constructor(e,t){this.table=e;this.rest=t;this.name=e.getAttribute("aria-label")??"";let[r,...o]=e.rows;if(this.heads=[...r?.cells??[]],this.rows=o,this.isWorthwhile=o.length>1,!this.isWorthwhile)return;for(let[s,l]of this.heads.entries())this.offerOrder(s,l);let a=G("CSV","t","",()=>this.save(),{"aria-label":`${this.name} as a CSV file`});this.tools.append(...p([o.length>re?[this.said,this.filter()]:"",a])),o.length<=re&&b.delete(this.name),this.arrange()}table;rest;tools=i("div",{class:"tools-of-table"});isWorthwhile;name;heads;said=i("span",{class:"muted",role:"status"});rows;isWhole=!1;offerOrder(e,t){if(!t.textContent)return;let r=()=>{let o=Pe(f.get(this.name),e);o?f.set(this.name,o):f.delete(this.name),this.arrange()};t.replaceChildren(i("button",{type:"button",class:"sort",click:r},[...t.childNodes]))}filter(){let e=()=>{b.set(this.name,r.value),this.arrange()},t={placeholder:"Rows with…","aria-label":`Rows of ${this.name} with`},r=i("input",{type:"search",class:"find",input:e,data:{focus:`f ${this.name}`},...t});return r.value=b.get(this.name)??"",r}arrange(){let e=f.get(this.name),t=Oe(b.get(this.name)??"");this.mark(e);let r=oe(e||t.length?this.wholeRows():this.rows),o=this.rows[0]?.parentNode,a=0;for(let s of e?ae(r,e):r){let l=Ve(s.map(de).join(`
`),t);a+=Number(l);for(let c of s)c.hidden=!l,o?.append(c)}this.said.textContent=t.length?`${a.toLocaleString("en")} of ${r.length.toLocaleString("en")}`:""}mark(e){for(let[t,r]of this.heads.entries())e?.[0]===t?r.setAttribute("aria-sort",e[1]?"descending":"ascending"):r.removeAttribute("aria-sort")}wholeRows(){if(!this.isWhole){this.isWhole=!0,this.table.dataset.whole="";let e=p(this.rest()).filter(t=>t instanceof HTMLTableRowElement);this.rows=[...this.rows,...e]}return this.rows}save(){let e=this.heads.flatMap((l,c)=>l.textContent?[c]:[]),t=f.get(this.name),r=oe(this.wholeRows()),a=(t?ae(r,t):r).flat().filter(l=>!l.hidden).map(l=>ce(l)),s=this.heads.map(l=>l.textContent??"");ne(`${this.name}.csv`,"text/csv",$e([s,...a].map(l=>e.map(c=>l[c]??""))))}};function oe(n){let e=[];for(let t of n){let r=e.at(-1);r&&("below"in t.dataset||(t.cells[0]?.colSpan??1)>1)?r.push(t):e.push([t])}return e}function ce(n){return[...n.cells].flatMap(e=>[de(e),...Array(e.colSpan-1).fill("")])}function de(n){let e=[...n.querySelectorAll("input")].map(t=>t.value);return[n.textContent??"",...e].join(" ").replace(/\s+/gu," ").trim()}function Pe(n,e){return n?.[0]!==e?[e,!1]:n[1]?void 0:[e,!0]}function ae(n,[e,t]){let r=n.map(a=>[ce(a[0])[e]??"",a]),o=t?-1:1;return r.sort(([a],[s])=>+!a-+!s||o*Ie(a,s)).map(([,a])=>a)}var Oe=n=>n.toLowerCase().split(/\s+/u).filter(Boolean);function Ve(n,e){let t=`${n}
${n.replace(/(?<=\d),(?=\d{3})/gu,"")}`.toLowerCase();return e.every(r=>t.includes(r))}function $e(n){let e=t=>{let r=/^[=+\-@\t\r]/u.test(t)&&!/^[+-]?[\d,]*\.?\d+$/u.test(t)?`'${t}`:t;return/[",\r\n]/u.test(r)?`"${r.replaceAll('"','""')}"`:r};return n.map(t=>`${t.map(e).join(",")}
`).join("")}function Ie(n,e){let[t,r]=[ie(n),ie(e)];return t!==void 0&&r!==void 0&&t!==r?t-r:t===void 0!=(r===void 0)?t===void 0?1:-1:n.localeCompare(e,"en",{numeric:!0})}function ie(n){let e=/^(?:line )?([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)(?: ?(kB|MB|GB))?(?![\w.])/u.exec(n.replace("−","-"));return e?Number(e[1]?.replaceAll(",",""))*(Ne[e[2]??""]??1):void 0}function pe([n,e,t]){let r=e?i("span",{class:e},n):document.createTextNode(n);return t?i("u",{},r):r}var Kt={...j,dtype:{letter:"d",color:"synType"},object:{letter:"O",color:"catNone"}};function T(n,e="",...t){return i("span",{class:`chip ${e}`},n,t)}var ze=4,Ge={always:["ok","✓ always"],proven:["ok","✓ proven"],checked:["warning","▲ checked"]};function M(n,e){return n.parts[e-1]?.[3]??""}function fe(n){let{parts:e,remarks:t,accesses:r}=n.model;return[S("Linked parts","",e.map(o=>Fe(n,o)),["Part","What","From","In the listing"],"Nothing is linked."),S("What the compiler did","",t.map(o=>_e(n,o)),["What","Why","Part"],"No transformation applied."),S("Range checks",je(n.model),r.map(o=>De(n,o)),["Access","In range if","Here","Part"],"This kernel touches no buffer.")]}function We(n,e,t){return m(e,o=>{o.stopPropagation(),n.follow(e)},{title:t,"aria-label":`Line ${e} of the source: ${t}`})}function L(n,e){let t=e.slice(0,ze);return[t.map(([o,a],s)=>[s?", ":"",We(n,o,a)]),e.length>t.length?` and ${e.length-t.length} more`:""]}function je({sizes:n}){return n.length?n.some(([,e])=>e<0)?"For any sizes":`With ${n.map(([e,t])=>`${e} = ${t}`).join(", ")}`:"Sizes are constant"}function H(n,e,...t){let r=i("tr",{data:{part:e||""}},t);return e?W(r,()=>n.pick(e)):r}function C({model:n},e){let t=e?i("b",{class:`tag-text ${M(n,e)}`},e):"";return i("td",{class:"number"},t)}function Fe(n,[e,t,r,,o]){let a=new Map(n.model.origins),s=o.map(l=>[l,a.get(l)??""]);return H(n,e,C(n,e),i("td",{},v(t)),i("td",{class:"nw"},s.length?["from ",L(n,s)]:""),i("td",{class:"r muted nw"},`line ${r}`))}function _e(n,[e,t,r,o]){let a=e==="ok"?"✓":"▲",s=[`remark on a kernel/${t}`,`transformation of kernels/${r.split(":")[0]}`],c=i("td",{class:"nw"},m(T(`${a} ${t}`,e),U(s,r),{title:"Explain this remark"}));return H(n,o,c,i("td",{},v(r)),C(n,o))}function De(n,[e,t,r,o]){let[a,s]=Ge[r],l=i("td",{class:t?"m":"muted"},t||"always"),c=i("td",{class:"nw"},T(s,a));return H(n,o,i("td",{class:"m"},e),l,c,C(n,o))}function S(n,e,t,r,o){let a=r.map(u=>i("th",{},u)),s=i("table",{"aria-label":n},i("tr",{},a),t),[l,c]=t.length?le(s):["",i("p",{class:"none"},o)],x=i("b",{role:"heading","aria-level":"2"},n);return i("section",{class:"pane low"},i("div",{class:"ph"},x,i("span",{class:"n"},e),l),i("div",{class:"body",tabindex:"0",role:"region","aria-label":n},c))}var Ue=6e3;function ue(n,e,t,r){let o=new Map,a=t.lines.slice(0,Ue),s=a.map(A=>{let[,,h,K]=A,d=Je(n,A);if(!h)return d;d.addEventListener("click",()=>r(h,K)),d.dataset.part=String(h);for(let B of[h,...K])o.set(B,[...o.get(B)??[],d]);return d}),l=t.lines.length-a.length;l&&s.push(i("p",{class:"none"},`${l.toLocaleString("en")} more lines: export them.`));let{title:c}=e,x=i("div",{class:"code"},s),u=i("div",{class:"body",tabindex:"0",role:"region","aria-label":c},x);return{section:i("section",{class:"pane",data:{form:c}},qe(e),u),scroll:u,rows:o}}function qe({title:n,extra:e,note:t}){let r=i("b",{role:"heading","aria-level":"2"},n);return i("div",{class:"ph"},r,e,i("span",{class:"sp"}),i("span",{class:"n"},t))}function Je(n,[e,t,r]){let o=r?i("span",{class:"tag","aria-hidden":"true"},r):"",a=`ln ${M(n,r)}${r?" linked":""}`,s=i("span",{class:"g"},o,t);return i("div",{class:a},s,i("span",{class:"t"},e.map(pe)))}function he({scroll:n,rows:e},t,r){let o=e.get(t)??[];for(let s of o)s.classList.add("sel");let[a]=o;a&&!o.some(s=>Ye(n,s))?n.scrollTop=a.offsetTop-n.clientHeight/3:!a&&r&&!t&&(n.scrollTop=0)}function Ye(n,e){let t=n.scrollTop+n.clientHeight;return e.offsetTop>=n.scrollTop&&e.offsetTop+e.offsetHeight<=t}var ge=`.forms{flex:1;min-height:0;display:grid;grid-template-columns:minmax(0,390fr) minmax(0,650fr) minmax(0,400fr);grid-template-rows:minmax(0,1fr) 190px}
.forms .pane{border-right:1px solid var(--line)}
.forms .pane:nth-child(3n){border-right:0}
.forms .low{border-top:1px solid var(--line)}
.forms .body{position:relative}
.forms .body:focus-visible{outline-offset:-3px}
.forms .code{padding:6px 0;width:max-content;min-width:100%;line-height:18px}
.forms .ln{min-height:18px}
.ln.linked{cursor:pointer}
.forms .ln .g{width:56px}
.tag{position:absolute;left:8px;font-weight:700;font-size:10px}
.ln.linked .g:before{content:"";position:absolute;left:0;top:0;bottom:0;width:4px;background:currentColor}
.ln.linked:hover .t{text-decoration:underline dotted var(--text3)}
.ln.cat0{background:var(--cat0Bg)}.ln.cat0 .g{color:var(--cat0)}
.ln.cat1{background:var(--cat1Bg)}.ln.cat1 .g{color:var(--cat1)}
.ln.cat2{background:var(--cat2Bg)}.ln.cat2 .g{color:var(--cat2)}
.ln.cat3{background:var(--cat3Bg)}.ln.cat3 .g{color:var(--cat3)}
.ln.cat4{background:var(--cat4Bg)}.ln.cat4 .g{color:var(--cat4)}
.ln.cat5{background:var(--cat5Bg)}.ln.cat5 .g{color:var(--cat5)}
.ln.sel .t{font-weight:650}
.ln.sel{background:var(--accentBg)}
.ln.sel .t{box-shadow:inset -3px 0 var(--accent)}
.tag-text.cat0{color:var(--cat0)}.tag-text.cat1{color:var(--cat1)}.tag-text.cat2{color:var(--cat2)}
.tag-text.cat3{color:var(--cat3)}.tag-text.cat4{color:var(--cat4)}.tag-text.cat5{color:var(--cat5)}
td.number{width:26px}
td.nw{white-space:nowrap}
td.m{overflow-wrap:anywhere}
.none{padding:9px 12px 11px;font-size:12.5px;color:var(--text2)}
.ph .n .link{font-weight:500}
@media (max-width:1100px){
.forms{grid-template-columns:repeat(6,minmax(0,1fr));grid-template-rows:minmax(0,1fr) minmax(0,1fr) 150px}
.forms .pane{grid-column:span 3}
.forms .pane:nth-child(2){border-right:0}
.forms .pane:nth-child(3){grid-column:span 6;border-top:1px solid var(--line)}
.forms .low{grid-column:span 2}
}
@media (max-width:640px){
.forms{display:block;overflow:auto}
.forms .pane{border-right:0;border-top:1px solid var(--line)}
.forms .pane:first-child{border-top:0}
.forms .body{max-height:46vh}
}
`;function Xe(n,e,t){return((n||(e>0?0:1))-1+e+t)%t+1}var R=class{constructor(e,t){this.root=e;this.tell=t;e.append(this.body),V("kernels",e,r=>this.onKey(r))}root;tell;body=i("div",{class:"forms"});model;part=0;form="optimised";forms=[];setModel(e){this.model=e,this.forms=[]}setProps(e){if(!this.model)return;let t=this.forms.length>0&&e.form===this.form;this.form=e.form,this.part=this.model.parts.some(([r])=>r===e.part)?e.part:0,t||this.draw(this.model),this.mark(!0)}onKey(e){let t=$(e,{j:1,k:-1});if(t)return this.go(t);if(e.key==="l")this.choose(this.form==="lowered"?"optimised":"lowered");else if(e.key==="Escape"&&this.part>0)this.select(0);else return!1;return!0}draw(e){let t={model:e,pick:a=>this.select(a===this.part?0:a),follow:a=>this.tell({kind:"line",part:this.part,form:this.form,line:a})},o=z("Form of the IR",[["lowered","as lowered"],["optimised","optimised"]],this.form,a=>this.choose(a));this.forms=[this.pane(e,"TIR",e.tir,i("code",{class:"n"},e.name),Qe(t)),this.pane(e,"LLVM",e[this.form],o),this.pane(e,"Assembly",e.assembly,i("code",{class:"n"},e.target))],this.body.replaceChildren(...this.forms.map(a=>a.section),...fe(t)),this.root.dataset.form=this.form,this.root.dataset.kernel=e.name}pane(e,t,r,o,a){let s=a??se(r.instruction_count,"instruction");return ue(e,{title:t,extra:o,note:s},r,(l,c)=>{this.select(l===this.part?c[0]??l:l)})}choose(e){this.form=e,this.model&&this.draw(this.model),this.mark(!0),this.tell({kind:"form",form:e,part:this.part})}go(e){let t=this.model?.parts.length??0;return t&&this.select(Xe(this.part,e,t)),t>0}select(e){this.part=e,this.mark(!1),this.tell({kind:"part",part:e,form:this.form})}mark(e){for(let t of this.body.querySelectorAll(".sel,tr.on"))t.classList.remove("sel","on");this.root.dataset.part=String(this.part);for(let t of this.forms)he(t,this.part,e);if(this.part)for(let t of this.body.querySelectorAll(`tr[data-part="${this.part}"]`))t.classList.add("on")}};function Qe(n){let{origins:e}=n.model;return e.length?[e.length>1?"lines ":"line ",L(n,e)]:""}var Qt=te(ge,(n,e)=>new R(n,e));export{Qt as default,Xe as nextPart};
