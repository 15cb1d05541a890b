// RelaxScope, component palette: built by tools/build_static.py.
// Sources: 3cc9095eda2cf9df31e4
function s(t,e={},...o){return D(document.createElement(t),e,o)}function D(t,e,o){for(let[n,r]of Object.entries(e))r==null||r===!1||(typeof r=="function"?t.addEventListener(n,r):n==="style"?Object.assign(t.style,r):n==="data"?Object.assign(t.dataset,r):t.setAttribute(n,r===!0?"":String(r)));return t.append(...u(o)),t}function u(t){return t==null||t===!1?[]:typeof t=="object"&&!(t instanceof Node)?t.flatMap(e=>u(e)):[typeof t=="number"?String(t):t]}function y(t,...e){t.replaceChildren(...u(e).filter(o=>o!==""))}function c(t){let e=t.getRootNode();return e instanceof ShadowRoot?e:document}function z(t){let e=t.composedPath()[0];return e instanceof Element?/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName)||e instanceof HTMLElement&&e.isContentEditable:!1}function p(t){t.preventDefault(),t.stopPropagation()}function w(){window.relaxscopeKeys||(window.relaxscopeKeys=t=>{t.key!=="?"||z(t)||document.querySelector("[role=dialog]")||document.querySelector(".st-key-bar-keys button")?.click()},document.addEventListener("keydown",window.relaxscopeKeys))}function f(t,e,o,n,r={}){let i=o&&s("span",{class:"kbd","aria-hidden":"true"},o);return s("button",{type:"button",class:`btn ${e}`,click:n,...r},t,i)}var k=":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}";var E=`:host{color-scheme:inherit}
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
`;var q="relaxscope-explain";function T(t,e){t.addEventListener(q,o=>o instanceof CustomEvent&&e(o.detail))}var U=["sample","module","pipeline"];function j(t,e){return t.pathname!==e.pathname?!0:!e.search||!t.search?!1:U.some(o=>t.searchParams.get(o)!==e.searchParams.get(o))}function A(){if(window.relaxscopeHistory)return;let t=history.pushState.bind(history);window.relaxscopeHistory=t,history.pushState=(e,o,n)=>!n||j(new URL(n,location.href),new URL(location.href))?t(e,o,n):history.replaceState(e,o,n)}var C=".st-key-ctx,.st-key-tour",S=new WeakSet,M;function L(){M??=new ResizeObserver(G);for(let t of document.querySelectorAll(C))S.has(t)||M.observe(t),S.add(t)}function G(){let t=[...document.querySelectorAll(C)],e=t.reduce((o,n)=>o+n.offsetHeight,0);t.length&&document.documentElement.style.setProperty("--bar",`${e}px`)}var W=3,_=8,F=1e3,J=10,P=Date.now()*1e3;function N(t,e){let o=new h(`${k}
${E}
${t}`,e);return n=>{n.isGuest||X(),o.receive(n)}}function X(){A(),w(),L()}var h=class{constructor(e,o){this.css=e;this.create=o}css;create;instances=new WeakMap;bases=new Map;waiting=[];receive(e){let o=e.data;if(!o)return;let n=o.indexOf(J),r=g(o.subarray(0,n)),i=o.subarray(n+1);r.gives?this.give(r.gives,g(i)):r.base&&!this.bases.has(r.base)?this.wait(e):this.show(e,r,i)}wait(e){this.forget(e.parentElement),this.waiting=[...this.waiting,{host:e.parentElement,resume:()=>this.receive(e)}]}forget(e){this.waiting=this.waiting.filter(o=>o.host!==e)}give(e,o){this.bases.delete(e),this.bases.set(e,o);for(let n of[...this.bases.keys()].slice(0,-W))this.bases.delete(n);for(let{resume:n}of this.waiting)n()}show(e,o,n){this.forget(e.parentElement);let r=this.instances.get(e.parentElement)??this.start(e);if(r.args=e,r.root.style.height=o.view.height||"auto",r.root.style.maxHeight=o.view.max_height||"none",o.rev!==r.revision){r.revision=o.rev;let i=o.base?this.bases.get(o.base):{};r.part.setModel({...i,...g(n)},o.view)}r.part.setProps(o.view,i=>Y(r.applied,o.view,i)),r.root.dataset.rev=o.rev}start(e){let o=e.parentElement,n=s("div",{class:"root"});Z(o,this.css),o.append(n);let r=[],i=l=>{let d={...l,seq:++P};a.args.setStateValue("action",{...d,earlier:r}),JSON.stringify(d).length<=F&&(r=[...r,d].slice(-_))},a={root:n,args:e,revision:"",applied:new Map,part:this.create(n,i)};return this.instances.set(o,a),T(n,l=>a.args.setStateValue("explain",{...l,seq:++P})),a}};function g(t){return JSON.parse(new TextDecoder().decode(t))}function Y(t,e,o){let n=e[o];if(!(!n||t.get(o)===n[1]))return t.set(o,n[1]),n[0]}function Z(t,e){let o=c(t),n=new CSSStyleSheet;n.replaceSync(e),o.adoptedStyleSheets=[...o.adoptedStyleSheets,n]}var Q="button,a[href],summary,[role=button],[role=tab],[role=menuitem],[role=switch],[role=radio]",H="input:not([type=hidden]),select,textarea,[role=combobox],[role=textbox]",ee=`${Q},${H}`,te="[data-testid=stMain],[data-testid=stPopoverBody]",O=80,oe="[aria-hidden=true],[data-testid=stIconMaterial],svg,style";function K(t){let e=new Map,o=[...document.querySelectorAll(te)].flatMap(n=>R(n,t));for(let n of o){let r=re(n);if(!r||!ne(n))continue;let i=ie(n,r),a=`${r}
${i}`;e.has(a)||e.set(a,{label:r,where:i,run:()=>se(n)})}return[...e.values()]}function R(t,e){return[...t.querySelectorAll("*")].flatMap(o=>{if(o===e)return[];let n=o instanceof HTMLElement&&o.matches(ee)?[o]:[];return o.shadowRoot?[...n,...R(o.shadowRoot,e)]:n})}function ne(t){return!t.matches(":disabled,[aria-disabled=true],[tabindex='-1']:not([role=tab]):not([role=radio])")&&t.checkVisibility({visibilityProperty:!0})&&t.getClientRects().length>0}function re(t){return((t.getAttribute("aria-label")??ae(t)??"")||m(t)||t.title||t.getAttribute("placeholder")||"").replace(/\s+/g," ").trim().slice(0,O)}function ae(t){return t instanceof HTMLInputElement&&t.labels?.[0]?m(t.labels[0]):void 0}function m(t){return t instanceof Text?t.data:!(t instanceof Element)||t.matches(oe)?"":[...t.childNodes].map(m).join(" ")}function ie(t,e){for(let o=B(t);o;o=B(o)){let n=o.getAttribute("aria-label");if(n&&n!==e)return n.split(/[.,]/,1)[0]?.slice(0,O)??""}return""}function B(t){let e=c(t);return t.parentElement??(e instanceof ShadowRoot?e.host:null)}function se(t){t.focus(),(!t.matches(H)||t.matches("[type=checkbox],[type=radio]"))&&t.click()}var le="The page is loaded anew, and this screen has more than its address holds: that is lost. Go on?";function b(){let t=document.querySelector(".stApp");return t!==null&&getComputedStyle(t).colorScheme==="dark"}function I(t){if(!!new URL(location.href).searchParams.has("left_out")&&!window.confirm(le))return;let o=JSON.stringify(b()?"Light":"Dark"),n=location.pathname.replace(/[^/]*$/,"");try{for(let r of["",...t])localStorage.setItem(`stActiveTheme-${n}${r}-v2`,o)}catch{return}location.reload()}var V=`.bar{flex-direction:row;gap:0;background:none}
.bar>.btn{font-size:15px;padding:0;width:30px}
@media (max-width:1180px){.bar>.btn{display:none}}
dialog{width:min(620px,92vw);max-height:70vh;margin:12vh auto auto;padding:0;border:1px solid var(--line2);border-radius:10px;background:var(--bg);color:var(--text);overflow:hidden}
dialog[open]{display:flex;flex-direction:column}
dialog::backdrop{background:rgb(0 0 0/.35)}
.head{display:flex;align-items:center;gap:10px;padding:10px 14px;border-bottom:1px solid var(--line)}
input{flex:1;min-width:0;height:28px;border:0;background:none;color:var(--text);font:15px/1.4 var(--ui)}
input:focus-visible{outline:none}
input::placeholder{color:var(--text3)}
.count{flex:none;color:var(--text3);font-size:12px}
ul{list-style:none;padding:6px;overflow:auto;min-height:0}
li{display:flex;gap:12px;align-items:baseline;padding:5px 8px;border-radius:6px;cursor:pointer}
li[aria-selected=true]{background:var(--accentBg);box-shadow:inset 3px 0 var(--accent)}
li:hover:not(.more){background:var(--raised)}
.name{min-width:0;overflow-wrap:anywhere}
.where{margin-left:auto;flex:none;max-width:45%;color:var(--text2);font-size:12px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.more{color:var(--text3);cursor:default}
`;var x=100,ce={page:"page",lesson:"lesson",document:"guide",sample:"program"},pe={ArrowDown:1,ArrowUp:-1,PageDown:8,PageUp:-8},v=class{constructor(e,o){this.root=e;this.tell=o;e.setAttribute("class","root row bar"),e.append(f("⌘","t i","",()=>this.open(),{"aria-label":"Do or open",title:"Everything that can be done or opened, by its name: Ctrl K"}),this.mode,this.dialog),document.addEventListener("keydown",this.onOpen,!0)}root;tell;targets=[];pages=[];all=[];found=[];at=0;list=s("ul",{id:"choices",role:"listbox","aria-label":"Choices"});count=s("span",{class:"count",role:"status"});input=s("input",{type:"text",role:"combobox",autocomplete:"off",spellcheck:"false",placeholder:"Do or open …","aria-label":"What to do or to open","aria-controls":"choices","aria-expanded":"true",input:()=>this.search(),keydown:e=>this.onKey(e)});mode=f("◐","t i","",()=>I(this.pages),{});dialog=s("dialog",{"aria-label":"Everything that can be done or opened",click:e=>this.onClick(e)},s("div",{class:"head"},this.input,this.count),this.list);setModel(e){this.targets=e.targets.map(o=>this.choiceOf(o)),this.pages=e.targets.flatMap(([o,n])=>o==="page"?[n]:[])}setProps(e){let o=b()?"Light colours":"Dark colours";this.mode.setAttribute("aria-label",o),this.mode.title=o}choiceOf([e,o,n]){return{label:n,where:ce[e],run:()=>this.tell({kind:e,name:o})}}onOpen=e=>{if(!this.root.isConnected){document.removeEventListener("keydown",this.onOpen,!0);return}(e.ctrlKey||e.metaKey)&&!e.altKey&&!e.shiftKey&&e.key.toLowerCase()==="k"&&(p(e),this.dialog.open?this.dialog.close():this.open())};open(){this.all=[...K(this.root),...this.targets],this.input.value="",this.dialog.showModal(),this.search(),this.input.focus()}search(){this.found=ue(this.all,this.input.value),this.at=0;let e=this.found.length;this.count.textContent=e===1?"1 choice":`${e.toLocaleString("en")} choices`,this.draw()}draw(){let e=(i,a)=>s("li",{id:`choice-${a}`,role:"option","aria-selected":String(a===this.at),data:{index:a}},s("span",{class:"name"},i.label),s("span",{class:"where"},i.where)),o=this.found.length-x,n=o>0&&s("li",{class:"more",role:"presentation"},`${o} more: type more of the name`),r=s("li",{class:"more",role:"presentation"},"Nothing has these words in its name");y(this.list,this.found.length?this.found.slice(0,x).map(e):r,n),this.found.length?this.input.setAttribute("aria-activedescendant",`choice-${this.at}`):this.input.removeAttribute("aria-activedescendant"),this.list.querySelector("[aria-selected=true]")?.scrollIntoView({block:"nearest"})}onKey(e){let o=Math.min(this.found.length,x)-1,n=pe[e.key];if(n!==void 0)this.at=Math.max(0,Math.min(o,this.at+n)),this.draw();else if(e.key==="Enter")this.choose(this.at);else{e.stopPropagation();return}p(e)}onClick(e){e.target===this.dialog&&this.dialog.close();let o=e.target instanceof Element?e.target.closest("[role=option]"):null;o&&this.choose(Number(o.dataset.index))}choose(e){let o=this.found[e];o&&(this.dialog.close(),o.run())}};function ue(t,e){let o=e.toLowerCase().split(/\s+/).filter(Boolean),n=o.join(" "),r=a=>{let l=a.label.toLowerCase();return o.every(d=>`${l} ${a.where.toLowerCase()}`.includes(d))?l.startsWith(n)?0:` ${l}`.includes(` ${n}`)?1:2:3};return t.map(a=>[r(a),a]).filter(([a])=>a<3).sort(([a],[l])=>a-l).map(([,a])=>a)}var We=N(V,(t,e)=>new v(t,e));export{We as default};
