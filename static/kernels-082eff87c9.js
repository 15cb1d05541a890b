// RelaxScope, component kernels: built by tools/build_static.py.
// Sources: cfbe353b09cd9cec615b
function a(t,e={},...r){return oe(document.createElement(t),e,r)}function oe(t,e,r){for(let[n,o]of Object.entries(e))o==null||o===!1||(typeof o=="function"?t.addEventListener(n,o):n==="style"?Object.assign(t.style,o):n==="data"?Object.assign(t.dataset,o):t.setAttribute(n,o===!0?"":String(o)));return t.append(...K(r)),t}function K(t){return t==null||t===!1?[]:typeof t=="object"&&!(t instanceof Node)?t.flatMap(e=>K(e)):[typeof t=="number"?String(t):t]}function u(t){return t.split("`").map((e,r)=>r%2?a("code",{},e):e)}function f(t){let e=t.getRootNode();return e instanceof ShadowRoot?e:document}var ae="data-relaxscope";function A(t){let e=t;for(;e;){let r=e.closest(`[${ae}]`);if(r)return r;let n=f(e);e=n instanceof ShadowRoot?n.host:null}return document}function C(t){let e=t.composedPath()[0];return e instanceof Element?/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName)||e instanceof HTMLElement&&e.isContentEditable:!1}function ie(){return document.querySelector("[role=dialog],[aria-modal=true]")!==null}function se(t){return t.ctrlKey||t.metaKey||t.altKey}var N=new Map;function B(t,e,r){N.set(t,e);let n=o=>{if(!e.isConnected){document.removeEventListener("keydown",n,!0);return}!le(t,e,o)||C(o)||se(o)||ie()||r(o)&&m(o)};document.addEventListener("keydown",n,!0)}function le(t,e,r){let n=A(e);return n===document?N.get(t)===e:r.composedPath().includes(n)}function m(t){t.preventDefault(),t.stopPropagation()}function P(t,e){return Object.hasOwn(e,t.key)&&e[t.key]||0}function R(){window.relaxscopeKeys||(window.relaxscopeKeys=t=>{t.key!=="?"||C(t)||document.querySelector("[role=dialog]")||document.querySelector(".st-key-bar-keys button")?.click()},document.addEventListener("keydown",window.relaxscopeKeys))}function O(t,e,r,n){let o=([i,s])=>a("button",{type:"button",data:{id:i},"aria-pressed":String(i===r),click:()=>n(i)},s);return a("span",{class:"seg",role:"group","aria-label":t},e.map(o))}function g(t,e,r={}){return a("button",{type:"button",class:"link",click:e,...r},t)}function V(t,e){return t.tabIndex=0,t.addEventListener("click",e),t.addEventListener("keydown",r=>{r.target!==t||r.key!=="Enter"&&r.key!==" "||(m(r),e(r))}),t}var I={tensor:{letter:"T",color:"cat0"},tensor0:{letter:"t",color:"cat0"},prim:{letter:"P",color:"cat1"},shape:{letter:"S",color:"cat2"},tuple:{letter:"( )",color:"cat5"},closure:{letter:"λ",color:"cat3"},adt:{letter:"A",color:"cat4"},string:{letter:"s",color:"synString"},void:{letter:"∅",color:"text3"}};var $=":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}";var z=`:host{color-scheme:inherit}
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
@media (prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}
`;var G="relaxscope-explain";function F(t,e=""){let r={names:t,text:e};return n=>{n.stopPropagation(),n.currentTarget?.dispatchEvent(new CustomEvent(G,{bubbles:!0,detail:r}))}}function D(t,e){t.addEventListener(G,r=>r instanceof CustomEvent&&e(r.detail))}var de=["sample","module","pipeline"];function pe(t,e){return t.pathname!==e.pathname?!0:!e.search||!t.search?!1:de.some(r=>t.searchParams.get(r)!==e.searchParams.get(r))}function W(){if(window.relaxscopeHistory)return;let t=history.pushState.bind(history);window.relaxscopeHistory=t,history.pushState=(e,r,n)=>!n||pe(new URL(n,location.href),new URL(location.href))?t(e,r,n):history.replaceState(e,r,n)}var q=".st-key-ctx,.st-key-tour",_=new WeakSet,j;function U(){j??=new ResizeObserver(fe);for(let t of document.querySelectorAll(q))_.has(t)||j.observe(t),_.add(t)}function fe(){let t=[...document.querySelectorAll(q)],e=t.reduce((r,n)=>r+n.offsetHeight,0);t.length&&document.documentElement.style.setProperty("--bar",`${e}px`)}var ge=3,ue=8,me=1e3,he=10,J=Date.now()*1e3;function Y(t,e){let r=new x(`${$}
${z}
${t}`,e);return n=>{n.isGuest||xe(),r.receive(n)}}function xe(){W(),R(),U()}var x=class{constructor(e,r){this.css=e;this.create=r}css;create;instances=new WeakMap;bases=new Map;waiting=[];receive(e){let r=e.data;if(!r)return;let n=r.indexOf(he),o=h(r.subarray(0,n)),i=r.subarray(n+1);o.gives?this.give(o.gives,h(i)):o.base&&!this.bases.has(o.base)?this.wait(e):this.show(e,o,i)}wait(e){this.forget(e.parentElement),this.waiting=[...this.waiting,{host:e.parentElement,resume:()=>this.receive(e)}]}forget(e){this.waiting=this.waiting.filter(r=>r.host!==e)}give(e,r){this.bases.delete(e),this.bases.set(e,r);for(let n of[...this.bases.keys()].slice(0,-ge))this.bases.delete(n);for(let{resume:n}of this.waiting)n()}show(e,r,n){this.forget(e.parentElement);let o=this.instances.get(e.parentElement)??this.start(e);if(o.args=e,o.root.style.height=r.view.height||"auto",o.root.style.maxHeight=r.view.max_height||"none",r.rev!==o.revision){o.revision=r.rev;let i=r.base?this.bases.get(r.base):{};o.part.setModel({...i,...h(n)},r.view)}o.part.setProps(r.view,i=>be(o.applied,r.view,i)),o.root.dataset.rev=r.rev}start(e){let r=e.parentElement,n=a("div",{class:"root"});ve(r,this.css),r.append(n);let o=[],i=l=>{let c={...l,seq:++J};s.args.setStateValue("action",{...c,earlier:o}),JSON.stringify(c).length<=me&&(o=[...o,c].slice(-ue))},s={root:n,args:e,revision:"",applied:new Map,part:this.create(n,i)};return this.instances.set(r,s),D(n,l=>s.args.setStateValue("explain",{...l,seq:++J})),s}};function h(t){return JSON.parse(new TextDecoder().decode(t))}function be(t,e,r){let n=e[r];if(!(!n||t.get(r)===n[1]))return t.set(r,n[1]),n[0]}function ve(t,e){let r=f(t),n=new CSSStyleSheet;n.replaceSync(e),r.adoptedStyleSheets=[...r.adoptedStyleSheets,n]}function Z(t,e,r=`${e}s`){return`${t.toLocaleString("en")} ${t===1?e:r}`}function X([t,e,r]){let n=e?a("span",{class:e},t):document.createTextNode(t);return r?a("u",{},n):n}var lt={...I,dtype:{letter:"d",color:"synType"},object:{letter:"O",color:"catNone"}};function b(t,e="",...r){return a("span",{class:`chip ${e}`},t,r)}var ye=4,we={always:["ok","✓ always"],proven:["ok","✓ proven"],checked:["warning","▲ checked"]};function y(t,e){return t.parts[e-1]?.[3]??""}function Q(t){let{parts:e,remarks:r,accesses:n}=t.model,o=a("tr",{},["Access","In range if","Here",""].map(i=>a("th",{},i)));return[v("Linked parts","",e.map(i=>Te(t,i)),"","Nothing is linked."),v("What the compiler did","",r.map(i=>Se(t,i)),"","No transformation applied."),v("Range checks",Ee(t.model),n.map(i=>Me(t,i)),o,"This kernel touches no buffer.")]}function ke(t,e,r){return g(e,o=>{o.stopPropagation(),t.follow(e)},{title:r,"aria-label":`Line ${e} of the source: ${r}`})}function w(t,e){let r=e.slice(0,ye);return[r.map(([o,i],s)=>[s?", ":"",ke(t,o,i)]),e.length>r.length?` and ${e.length-r.length} more`:""]}function Ee({sizes:t}){return t.length?t.some(([,e])=>e<0)?"For any sizes":`With ${t.map(([e,r])=>`${e} = ${r}`).join(", ")}`:"Sizes are constant"}function k(t,e,...r){let n=a("tr",{data:{part:e||""}},r);return e?V(n,()=>t.pick(e)):n}function E({model:t},e){let r=e?a("b",{class:`tag-text ${y(t,e)}`},e):"";return a("td",{class:"number"},r)}function Te(t,[e,r,n,,o]){let i=new Map(t.model.origins),s=o.map(l=>[l,i.get(l)??""]);return k(t,e,E(t,e),a("td",{},u(r)),a("td",{class:"nw"},s.length?["from ",w(t,s)]:""),a("td",{class:"r muted nw"},`line ${n}`))}function Se(t,[e,r,n,o]){let i=e==="ok"?"✓":"▲",s=[`remark on a kernel/${r}`,`transformation of kernels/${n.split(":")[0]}`],c=a("td",{class:"nw"},g(b(`${i} ${r}`,e),F(s,n),{title:"Explain this remark"}));return k(t,o,c,a("td",{},u(n)),E(t,o))}function Me(t,[e,r,n,o]){let[i,s]=we[n],l=a("td",{class:r?"m":"muted"},r||"always"),c=a("td",{class:"nw"},b(s,i));return k(t,o,a("td",{class:"m"},e),l,c,E(t,o))}function v(t,e,r,n,o){let i=r.length?a("table",{"aria-label":t},n,r):a("p",{class:"none"},o),s=a("b",{role:"heading","aria-level":"2"},t);return a("section",{class:"pane low"},a("div",{class:"ph"},s,a("span",{class:"n"},e)),a("div",{class:"body",tabindex:"0",role:"region","aria-label":t},i))}var Le=6e3;function ee(t,e,r,n){let o=new Map,i=r.lines.slice(0,Le),s=i.map(M=>{let[,,p,L]=M,d=Ke(t,M);if(!p)return d;d.addEventListener("click",()=>n(p,L)),d.dataset.part=String(p);for(let H of[p,...L])o.set(H,[...o.get(H)??[],d]);return d}),l=r.lines.length-i.length;l&&s.push(a("p",{class:"none"},`${l.toLocaleString("en")} more lines: export them.`));let{title:c}=e,ne=a("div",{class:"code"},s),S=a("div",{class:"body",tabindex:"0",role:"region","aria-label":c},ne);return{section:a("section",{class:"pane",data:{form:c}},He(e),S),scroll:S,rows:o}}function He({title:t,extra:e,note:r}){let n=a("b",{role:"heading","aria-level":"2"},t);return a("div",{class:"ph"},n,e,a("span",{class:"sp"}),a("span",{class:"n"},r))}function Ke(t,[e,r,n]){let o=n?a("span",{class:"tag","aria-hidden":"true"},n):"",i=`ln ${y(t,n)}${n?" linked":""}`,s=a("span",{class:"g"},o,r);return a("div",{class:i},s,a("span",{class:"t"},e.map(X)))}function te({scroll:t,rows:e},r,n){let o=e.get(r)??[];for(let s of o)s.classList.add("sel");let[i]=o;i&&!o.some(s=>Ae(t,s))?t.scrollTop=i.offsetTop-t.clientHeight/3:!i&&n&&!r&&(t.scrollTop=0)}function Ae(t,e){let r=t.scrollTop+t.clientHeight;return e.offsetTop>=t.scrollTop&&e.offsetTop+e.offsetHeight<=r}var re=`.forms{flex:1;min-height:0;display:grid;grid-template-columns:minmax(0,390fr) minmax(0,650fr) minmax(0,400fr);grid-template-rows:minmax(0,1fr) 190px}
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
`;function Ne(t,e,r){return((t||(e>0?0:1))-1+e+r)%r+1}var T=class{constructor(e,r){this.root=e;this.tell=r;e.append(this.body),B("kernels",e,n=>this.onKey(n))}root;tell;body=a("div",{class:"forms"});model;part=0;form="optimised";forms=[];setModel(e){this.model=e,this.forms=[]}setProps(e){if(!this.model)return;let r=this.forms.length>0&&e.form===this.form;this.form=e.form,this.part=this.model.parts.some(([n])=>n===e.part)?e.part:0,r||this.draw(this.model),this.mark(!0)}onKey(e){let r=P(e,{j:1,k:-1});if(r)return this.go(r);if(e.key==="l")this.choose(this.form==="lowered"?"optimised":"lowered");else if(e.key==="Escape"&&this.part>0)this.select(0);else return!1;return!0}draw(e){let r={model:e,pick:i=>this.select(i===this.part?0:i),follow:i=>this.tell({kind:"line",part:this.part,form:this.form,line:i})},o=O("Form of the IR",[["lowered","as lowered"],["optimised","optimised"]],this.form,i=>this.choose(i));this.forms=[this.pane(e,"TIR",e.tir,a("code",{class:"n"},e.name),Be(r)),this.pane(e,"LLVM",e[this.form],o),this.pane(e,"Assembly",e.assembly,a("code",{class:"n"},e.target))],this.body.replaceChildren(...this.forms.map(i=>i.section),...Q(r)),this.root.dataset.form=this.form,this.root.dataset.kernel=e.name}pane(e,r,n,o,i){let s=i??Z(n.instruction_count,"instruction");return ee(e,{title:r,extra:o,note:s},n,(l,c)=>{this.select(l===this.part?c[0]??l:l)})}choose(e){this.form=e,this.model&&this.draw(this.model),this.mark(!0),this.tell({kind:"form",form:e,part:this.part})}go(e){let r=this.model?.parts.length??0;return r&&this.select(Ne(this.part,e,r)),r>0}select(e){this.part=e,this.mark(!1),this.tell({kind:"part",part:e,form:this.form})}mark(e){for(let r of this.body.querySelectorAll(".sel,tr.on"))r.classList.remove("sel","on");this.root.dataset.part=String(this.part);for(let r of this.forms)te(r,this.part,e);if(this.part)for(let r of this.body.querySelectorAll(`tr[data-part="${this.part}"]`))r.classList.add("on")}};function Be(t){let{origins:e}=t.model;return e.length?[e.length>1?"lines ":"line ",w(t,e)]:""}var Ht=Y(re,(t,e)=>new T(t,e));export{Ht as default,Ne as nextPart};
