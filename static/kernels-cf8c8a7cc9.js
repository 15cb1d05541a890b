// RelaxScope, component kernels: built by tools/build_static.py.
// Sources: 525b95a863719efb413e
function i(t,e={},...r){return se(document.createElement(t),e,r)}function se(t,e,r){for(let[n,o]of Object.entries(e))o==null||o===!1||(typeof o=="function"?t.addEventListener(n,o):n==="style"?Object.assign(t.style,o):n==="data"?Object.assign(t.dataset,o):t.setAttribute(n,o===!0?"":String(o)));return t.append(...C(r)),t}function C(t){return t==null||t===!1?[]:typeof t=="object"&&!(t instanceof Node)?t.flatMap(e=>C(e)):[typeof t=="number"?String(t):t]}function h(t){return t.split("`").map((e,r)=>r%2?i("code",{},e):e)}function u(t){let e=t.getRootNode();return e instanceof ShadowRoot?e:document}var le="data-relaxscope";function B(t){let e=t;for(;e;){let r=e.closest(`[${le}]`);if(r)return r;let n=u(e);e=n instanceof ShadowRoot?n.host:null}return document}function N(t){let e=t.composedPath()[0];return e instanceof Element?/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName)||e instanceof HTMLElement&&e.isContentEditable:!1}function ce(){return document.querySelector("[role=dialog],[aria-modal=true]")!==null}function de(t){return t.ctrlKey||t.metaKey||t.altKey}var P=new Map;function R(t,e,r){P.set(t,e);let n=o=>{if(!e.isConnected){document.removeEventListener("keydown",n,!0);return}!pe(t,e,o)||N(o)||de(o)||ce()||r(o)&&x(o)};document.addEventListener("keydown",n,!0)}function pe(t,e,r){let n=B(e);return n===document?P.get(t)===e:r.composedPath().includes(n)}function x(t){t.preventDefault(),t.stopPropagation()}function O(t,e){return Object.hasOwn(e,t.key)&&e[t.key]||0}function V(){window.relaxscopeKeys||(window.relaxscopeKeys=t=>{t.key!=="?"||N(t)||document.querySelector("[role=dialog]")||document.querySelector(".st-key-bar-keys button")?.click()},document.addEventListener("keydown",window.relaxscopeKeys))}function I(t,e,r,n){let o=([a,s])=>i("button",{type:"button",data:{id:a},"aria-pressed":String(a===r),click:()=>n(a)},s);return i("span",{class:"seg",role:"group","aria-label":t},e.map(o))}function g(t,e,r={}){return i("button",{type:"button",class:"link",click:e,...r},t)}function $(t,e){return t.tabIndex=0,t.addEventListener("click",e),t.addEventListener("keydown",r=>{r.target!==t||r.key!=="Enter"&&r.key!==" "||(x(r),e(r))}),t}var z={tensor:{letter:"T",color:"cat0"},tensor0:{letter:"t",color:"cat0"},prim:{letter:"P",color:"cat1"},shape:{letter:"S",color:"cat2"},tuple:{letter:"( )",color:"cat5"},closure:{letter:"λ",color:"cat3"},adt:{letter:"A",color:"cat4"},string:{letter:"s",color:"synString"},void:{letter:"∅",color:"text3"}};var G=":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}";var D=`:host{color-scheme:inherit}
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
.sort{padding:0;border:0;background:none;color:inherit;font:inherit;cursor:pointer}.sort:hover{color:var(--text)}
[aria-sort=ascending] .sort::after{content:" ↑" / ""}[aria-sort=descending] .sort::after{content:" ↓" / ""}
td{padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}
td.m,th.m{font-family:var(--mono);font-size:11.2px}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}
tr.on td{background:var(--accentBg)}tr.on td:first-child{box-shadow:inset 3px 0 var(--accent)}
tr[tabindex]{cursor:pointer}tr[tabindex]:hover td{background:var(--chrome)}tr.on[tabindex]:hover td{background:var(--accentBg)}
.lines>.ln{height:19px}
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
`;var F="relaxscope-explain";function _(t,e=""){let r={names:t,text:e};return n=>{n.stopPropagation(),n.currentTarget?.dispatchEvent(new CustomEvent(F,{bubbles:!0,detail:r}))}}function j(t,e){t.addEventListener(F,r=>r instanceof CustomEvent&&e(r.detail))}var ue=["sample","module","pipeline"];function ge(t,e){return t.pathname!==e.pathname?!0:!e.search||!t.search?!1:ue.some(r=>t.searchParams.get(r)!==e.searchParams.get(r))}function U(){if(window.relaxscopeHistory)return;let t=history.pushState.bind(history);window.relaxscopeHistory=t,history.pushState=(e,r,n)=>!n||ge(new URL(n,location.href),new URL(location.href))?t(e,r,n):history.replaceState(e,r,n)}var J=".st-key-ctx,.st-key-tour",W=new WeakSet,q;function Y(){q??=new ResizeObserver(me);for(let t of document.querySelectorAll(J))W.has(t)||q.observe(t),W.add(t)}function me(){let t=[...document.querySelectorAll(J)],e=t.reduce((r,n)=>r+n.offsetHeight,0);t.length&&document.documentElement.style.setProperty("--bar",`${e}px`)}var he=3,xe=8,be=1e3,ve=10,Z=Date.now()*1e3;function X(t,e){let r=new v(`${G}
${D}
${t}`,e);return n=>{n.isGuest||ye(),r.receive(n)}}function ye(){U(),V(),Y()}var v=class{constructor(e,r){this.css=e;this.create=r}css;create;instances=new WeakMap;bases=new Map;waiting=[];receive(e){let r=e.data;if(!r)return;let n=r.indexOf(ve),o=b(r.subarray(0,n)),a=r.subarray(n+1);o.gives?this.give(o.gives,b(a)):o.base&&!this.bases.has(o.base)?this.wait(e):this.show(e,o,a)}wait(e){this.forget(e.parentElement),this.waiting=[...this.waiting,{host:e.parentElement,resume:()=>this.receive(e)}]}forget(e){this.waiting=this.waiting.filter(r=>r.host!==e)}give(e,r){this.bases.delete(e),this.bases.set(e,r);for(let n of[...this.bases.keys()].slice(0,-he))this.bases.delete(n);for(let{resume:n}of this.waiting)n()}show(e,r,n){this.forget(e.parentElement);let o=this.instances.get(e.parentElement)??this.start(e);if(o.args=e,o.root.style.height=r.view.height||"auto",o.root.style.maxHeight=r.view.max_height||"none",r.rev!==o.revision){o.revision=r.rev;let a=r.base?this.bases.get(r.base):{};o.part.setModel({...a,...b(n)},r.view)}o.part.setProps(r.view,a=>we(o.applied,r.view,a)),o.root.dataset.rev=r.rev}start(e){let r=e.parentElement,n=i("div",{class:"root"});ke(r,this.css),r.append(n);let o=[],a=l=>{let c={...l,seq:++Z};s.args.setStateValue("action",{...c,earlier:o}),JSON.stringify(c).length<=be&&(o=[...o,c].slice(-xe))},s={root:n,args:e,revision:"",applied:new Map,part:this.create(n,a)};return this.instances.set(r,s),j(n,l=>s.args.setStateValue("explain",{...l,seq:++Z})),s}};function b(t){return JSON.parse(new TextDecoder().decode(t))}function we(t,e,r){let n=e[r];if(!(!n||t.get(r)===n[1]))return t.set(r,n[1]),n[0]}function ke(t,e){let r=u(t),n=new CSSStyleSheet;n.replaceSync(e),r.adoptedStyleSheets=[...r.adoptedStyleSheets,n]}function ee(t,e,r=`${e}s`){return`${t.toLocaleString("en")} ${t===1?e:r}`}var Ee={kB:1e3,MB:1e6,GB:1e9},m=new Map;function te(t){let e=t.getAttribute("aria-label")??"",[r,...n]=t.rows;if(!r||n.length<2)return t;let o=[...r.cells],a=()=>{let s=m.get(e);for(let[l,c]of o.entries())s?.[0]===l?c.setAttribute("aria-sort",s[1]?"descending":"ascending"):c.removeAttribute("aria-sort");for(let l of s?Se(n,s):n)l.parentNode?.append(l)};for(let[s,l]of o.entries()){if(!l.textContent)continue;let c=()=>{let p=Te(m.get(e),s);p?m.set(e,p):m.delete(e),a()};l.replaceChildren(i("button",{type:"button",class:"sort",click:c},l.textContent))}return a(),t}function Te(t,e){return t?.[0]!==e?[e,!1]:t[1]?void 0:[e,!0]}function Se(t,[e,r]){let n=t.map(a=>[a.cells[e]?.textContent?.trim()??"",a]),o=r?-1:1;return n.sort(([a],[s])=>+!a-+!s||o*Me(a,s)).map(([,a])=>a)}function Me(t,e){let[r,n]=[Q(t),Q(e)];return r!==void 0&&n!==void 0&&r!==n?r-n:r===void 0!=(n===void 0)?r===void 0?1:-1:t.localeCompare(e,"en",{numeric:!0})}function Q(t){let e=/^(?:line )?([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)(?: ?(kB|MB|GB))?(?![\w.])/u.exec(t.replace("−","-"));return e?Number(e[1]?.replaceAll(",",""))*(Ee[e[2]??""]??1):void 0}function re([t,e,r]){let n=e?i("span",{class:e},t):document.createTextNode(t);return r?i("u",{},n):n}var mt={...z,dtype:{letter:"d",color:"synType"},object:{letter:"O",color:"catNone"}};function y(t,e="",...r){return i("span",{class:`chip ${e}`},t,r)}var Le=4,He={always:["ok","✓ always"],proven:["ok","✓ proven"],checked:["warning","▲ checked"]};function k(t,e){return t.parts[e-1]?.[3]??""}function ne(t){let{parts:e,remarks:r,accesses:n}=t.model,o=i("tr",{},["Access","In range if","Here",""].map(a=>i("th",{},a)));return[w("Linked parts","",e.map(a=>Ce(t,a)),"","Nothing is linked."),w("What the compiler did","",r.map(a=>Be(t,a)),"","No transformation applied."),w("Range checks",Ae(t.model),n.map(a=>Ne(t,a)),o,"This kernel touches no buffer.")]}function Ke(t,e,r){return g(e,o=>{o.stopPropagation(),t.follow(e)},{title:r,"aria-label":`Line ${e} of the source: ${r}`})}function E(t,e){let r=e.slice(0,Le);return[r.map(([o,a],s)=>[s?", ":"",Ke(t,o,a)]),e.length>r.length?` and ${e.length-r.length} more`:""]}function Ae({sizes:t}){return t.length?t.some(([,e])=>e<0)?"For any sizes":`With ${t.map(([e,r])=>`${e} = ${r}`).join(", ")}`:"Sizes are constant"}function T(t,e,...r){let n=i("tr",{data:{part:e||""}},r);return e?$(n,()=>t.pick(e)):n}function S({model:t},e){let r=e?i("b",{class:`tag-text ${k(t,e)}`},e):"";return i("td",{class:"number"},r)}function Ce(t,[e,r,n,,o]){let a=new Map(t.model.origins),s=o.map(l=>[l,a.get(l)??""]);return T(t,e,S(t,e),i("td",{},h(r)),i("td",{class:"nw"},s.length?["from ",E(t,s)]:""),i("td",{class:"r muted nw"},`line ${n}`))}function Be(t,[e,r,n,o]){let a=e==="ok"?"✓":"▲",s=[`remark on a kernel/${r}`,`transformation of kernels/${n.split(":")[0]}`],c=i("td",{class:"nw"},g(y(`${a} ${r}`,e),_(s,n),{title:"Explain this remark"}));return T(t,o,c,i("td",{},h(n)),S(t,o))}function Ne(t,[e,r,n,o]){let[a,s]=He[n],l=i("td",{class:r?"m":"muted"},r||"always"),c=i("td",{class:"nw"},y(s,a));return T(t,o,i("td",{class:"m"},e),l,c,S(t,o))}function w(t,e,r,n,o){let a=i("table",{"aria-label":t},n,r),s=r.length?n?te(a):a:i("p",{class:"none"},o),l=i("b",{role:"heading","aria-level":"2"},t);return i("section",{class:"pane low"},i("div",{class:"ph"},l,i("span",{class:"n"},e)),i("div",{class:"body",tabindex:"0",role:"region","aria-label":t},s))}var Pe=6e3;function oe(t,e,r,n){let o=new Map,a=r.lines.slice(0,Pe),s=a.map(H=>{let[,,f,K]=H,d=Oe(t,H);if(!f)return d;d.addEventListener("click",()=>n(f,K)),d.dataset.part=String(f);for(let A of[f,...K])o.set(A,[...o.get(A)??[],d]);return d}),l=r.lines.length-a.length;l&&s.push(i("p",{class:"none"},`${l.toLocaleString("en")} more lines: export them.`));let{title:c}=e,p=i("div",{class:"code"},s),L=i("div",{class:"body",tabindex:"0",role:"region","aria-label":c},p);return{section:i("section",{class:"pane",data:{form:c}},Re(e),L),scroll:L,rows:o}}function Re({title:t,extra:e,note:r}){let n=i("b",{role:"heading","aria-level":"2"},t);return i("div",{class:"ph"},n,e,i("span",{class:"sp"}),i("span",{class:"n"},r))}function Oe(t,[e,r,n]){let o=n?i("span",{class:"tag","aria-hidden":"true"},n):"",a=`ln ${k(t,n)}${n?" linked":""}`,s=i("span",{class:"g"},o,r);return i("div",{class:a},s,i("span",{class:"t"},e.map(re)))}function ae({scroll:t,rows:e},r,n){let o=e.get(r)??[];for(let s of o)s.classList.add("sel");let[a]=o;a&&!o.some(s=>Ve(t,s))?t.scrollTop=a.offsetTop-t.clientHeight/3:!a&&n&&!r&&(t.scrollTop=0)}function Ve(t,e){let r=t.scrollTop+t.clientHeight;return e.offsetTop>=t.scrollTop&&e.offsetTop+e.offsetHeight<=r}var ie=`.forms{flex:1;min-height:0;display:grid;grid-template-columns:minmax(0,390fr) minmax(0,650fr) minmax(0,400fr);grid-template-rows:minmax(0,1fr) 190px}
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
`;function $e(t,e,r){return((t||(e>0?0:1))-1+e+r)%r+1}var M=class{constructor(e,r){this.root=e;this.tell=r;e.append(this.body),R("kernels",e,n=>this.onKey(n))}root;tell;body=i("div",{class:"forms"});model;part=0;form="optimised";forms=[];setModel(e){this.model=e,this.forms=[]}setProps(e){if(!this.model)return;let r=this.forms.length>0&&e.form===this.form;this.form=e.form,this.part=this.model.parts.some(([n])=>n===e.part)?e.part:0,r||this.draw(this.model),this.mark(!0)}onKey(e){let r=O(e,{j:1,k:-1});if(r)return this.go(r);if(e.key==="l")this.choose(this.form==="lowered"?"optimised":"lowered");else if(e.key==="Escape"&&this.part>0)this.select(0);else return!1;return!0}draw(e){let r={model:e,pick:a=>this.select(a===this.part?0:a),follow:a=>this.tell({kind:"line",part:this.part,form:this.form,line:a})},o=I("Form of the IR",[["lowered","as lowered"],["optimised","optimised"]],this.form,a=>this.choose(a));this.forms=[this.pane(e,"TIR",e.tir,i("code",{class:"n"},e.name),ze(r)),this.pane(e,"LLVM",e[this.form],o),this.pane(e,"Assembly",e.assembly,i("code",{class:"n"},e.target))],this.body.replaceChildren(...this.forms.map(a=>a.section),...ne(r)),this.root.dataset.form=this.form,this.root.dataset.kernel=e.name}pane(e,r,n,o,a){let s=a??ee(n.instruction_count,"instruction");return oe(e,{title:r,extra:o,note:s},n,(l,c)=>{this.select(l===this.part?c[0]??l:l)})}choose(e){this.form=e,this.model&&this.draw(this.model),this.mark(!0),this.tell({kind:"form",form:e,part:this.part})}go(e){let r=this.model?.parts.length??0;return r&&this.select($e(this.part,e,r)),r>0}select(e){this.part=e,this.mark(!1),this.tell({kind:"part",part:e,form:this.form})}mark(e){for(let r of this.body.querySelectorAll(".sel,tr.on"))r.classList.remove("sel","on");this.root.dataset.part=String(this.part);for(let r of this.forms)ae(r,this.part,e);if(this.part)for(let r of this.body.querySelectorAll(`tr[data-part="${this.part}"]`))r.classList.add("on")}};function ze(t){let{origins:e}=t.model;return e.length?[e.length>1?"lines ":"line ",E(t,e)]:""}var Ot=X(ie,(t,e)=>new M(t,e));export{Ot as default,$e as nextPart};
