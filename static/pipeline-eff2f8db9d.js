// RelaxScope, component pipeline: built by tools/build_static.py.
// Sources: e6c74ae32450a627f73b
function i(e,t={},...n){return Q(document.createElement(e),t,n)}function Q(e,t,n){for(let[r,o]of Object.entries(t))o==null||o===!1||(typeof o=="function"?e.addEventListener(r,o):r==="style"?Object.assign(e.style,o):r==="data"?Object.assign(e.dataset,o):e.setAttribute(r,o===!0?"":String(o)));return e.append(...m(n)),e}function m(e){return e==null||e===!1?[]:typeof e=="object"&&!(e instanceof Node)?e.flatMap(t=>m(t)):[typeof e=="number"?String(e):e]}function l(e,...t){e.replaceChildren(...m(t).filter(n=>n!==""))}function S(e){return e.split("`").map((t,n)=>n%2?i("code",{},t):t)}function T(e){let t=e.getRootNode();return t instanceof ShadowRoot?t:document}function L(e){let t=e.composedPath()[0];return t instanceof Element?/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)||t instanceof HTMLElement&&t.isContentEditable:!1}function ee(){return document.querySelector("[role=dialog],[aria-modal=true]")!==null}function te(e){return e.ctrlKey||e.metaKey||e.altKey}var M=new Map;function H(e,t,n){M.set(e,t);let r=o=>{if(!t.isConnected){document.removeEventListener("keydown",r,!0);return}M.get(e)!==t||L(o)||te(o)||ee()||n(o)&&x(o)};document.addEventListener("keydown",r,!0)}function x(e){e.preventDefault(),e.stopPropagation()}function P(e,t){let n=Object.hasOwn(t,e.key)?t[e.key]:void 0;return n?.(),n!==void 0}function B(){window.relaxscopeKeys||(window.relaxscopeKeys=e=>{e.key!=="?"||L(e)||document.querySelector("[role=dialog]")||document.querySelector(".st-key-bar-keys button")?.click()},document.addEventListener("keydown",window.relaxscopeKeys))}function N(e,t,n,r,o={}){let a=n&&i("span",{class:"kbd","aria-hidden":"true"},n);return i("button",{type:"button",class:`btn ${t}`,click:r,...o},e,a)}function R(e,t){return e.tabIndex=0,e.addEventListener("click",t),e.addEventListener("keydown",n=>{n.target!==e||n.key!=="Enter"&&n.key!==" "||(x(n),t(n))}),e}var A={added:"+",removed:"−",changed:"~",moved:"→",unchanged:"=",ok:"✓",warning:"▲",error:"✕",note:"i",current:"▶"},K={tensor:{letter:"T",color:"cat0"},tensor0:{letter:"t",color:"cat0"},prim:{letter:"P",color:"cat1"},shape:{letter:"S",color:"cat2"},tuple:{letter:"( )",color:"cat5"},closure:{letter:"λ",color:"cat3"},adt:{letter:"A",color:"cat4"},string:{letter:"s",color:"synString"},void:{letter:"∅",color:"text3"}};var C=":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}";var O=`:host{color-scheme:inherit}
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
.tip{position:absolute;z-index:20;max-width:420px;padding:7px 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12px;line-height:1.45;pointer-events:none;overflow-wrap:anywhere}
.tip .hint{color:var(--text2);margin-top:3px}
.state{position:absolute;inset:0;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:6px;text-align:center;padding:24px;color:var(--text2);font-size:12.5px}
.state b{font-weight:600;color:var(--text);font-size:13px}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}
`;var re=["sample","module","pipeline"];function oe(e,t){return e.pathname!==t.pathname?!0:!t.search||!e.search?!1:re.some(n=>e.searchParams.get(n)!==t.searchParams.get(n))}function z(){if(window.relaxscopeHistory)return;let e=history.pushState.bind(history);window.relaxscopeHistory=e,history.pushState=(t,n,r)=>!r||oe(new URL(r,location.href),new URL(location.href))?e(t,n,r):history.replaceState(t,n,r)}var $=".st-key-ctx,.st-key-tour",V=new WeakSet,I;function _(){I??=new ResizeObserver(ie);for(let e of document.querySelectorAll($))V.has(e)||I.observe(e),V.add(e)}function ie(){let e=[...document.querySelectorAll($)],t=e.reduce((n,r)=>n+r.offsetHeight,0);e.length&&document.documentElement.style.setProperty("--bar",`${t}px`)}var ae=3,se=10,de=Date.now()*1e3;function D(e,t){z(),B();let n=new v(`${C}
${O}
${e}`,t);return r=>n.receive(r)}var v=class{constructor(t,n){this.css=t;this.create=n}css;create;instances=new WeakMap;bases=new Map;waiting=[];receive(t){let n=t.data;if(!n)return;_();let r=n.indexOf(se),o=b(n.subarray(0,r)),a=n.subarray(r+1);o.gives?this.give(o.gives,b(a)):o.base&&!this.bases.has(o.base)?this.wait(t):this.show(t,o,a)}wait(t){this.forget(t.parentElement),this.waiting=[...this.waiting,{host:t.parentElement,resume:()=>this.receive(t)}]}forget(t){this.waiting=this.waiting.filter(n=>n.host!==t)}give(t,n){this.bases.delete(t),this.bases.set(t,n);for(let r of[...this.bases.keys()].slice(0,-ae))this.bases.delete(r);for(let{resume:r}of this.waiting)r()}show(t,n,r){this.forget(t.parentElement);let o=this.instances.get(t.parentElement)??this.start(t);if(o.args=t,o.root.style.height=n.view.height||"auto",o.root.style.maxHeight=n.view.max_height||"none",n.rev!==o.revision){o.revision=n.rev;let a=n.base?this.bases.get(n.base):{};o.part.setModel({...a,...b(r)},n.view)}o.part.setProps(n.view,a=>le(o.applied,n.view,a)),o.root.dataset.rev=n.rev}start(t){let n=t.parentElement,r=i("div",{class:"root"});ce(n,this.css),n.append(r);let o=s=>a.args.setStateValue("action",{...s,seq:++de}),a={root:r,args:t,revision:"",applied:new Map,part:this.create(r,o)};return this.instances.set(n,a),a}};function b(e){return JSON.parse(new TextDecoder().decode(e))}function le(e,t,n){let r=t[n];if(!(!r||e.get(n)===r[1]))return e.set(n,r[1]),r[0]}function ce(e,t){let n=T(e),r=new CSSStyleSheet;r.replaceSync(t),n.adoptedStyleSheets=[...n.adoptedStyleSheets,r]}var pe=A;var Ie={...K,dtype:{letter:"d",color:"synType"},object:{letter:"O",color:"catNone"}};function j(e){return i("span",{class:`${e}-text`,role:"img","aria-label":e},pe[e])}function y(e,t="",...n){return i("span",{class:`chip ${t}`},e,n)}function p(e,t){return e.verdicts.find(([n])=>n===t)}function c(e,t){return e.suspects.includes(t)}function w(e){return e.problems.some(t=>t.severity==="error")}function G(e,t){return t.index!==e.current&&(U(e,t.index)||ge(e,t))}function ge({model:e,props:t,isHiding:n},r){let o=r.index===0||r.index===e.stages.length-1;return n&&!r.is_changed&&!c(t,r.index)&&!r.problems.length&&!o}function U({props:e,isHiding:t},n){let r=p(e,n);return t&&r!==void 0&&r[3]>=0&&!c(e,n)}function fe(e,t){let n=p(e,t);if(!n)return"";let[,r,,o]=n;return r==="different"?`with the difference of ${o}`:`${r} as ${o}`}function q(e){let t=[],[n,r]=[0,""],o=()=>{n&&t.push({hidden:n,words:`${n} ${r||"unchanged"}, hidden`}),[n,r]=[0,""]};for(let a of e.model.stages){if(G(e,a)){let s=U(e,a.index)?fe(e.props,a.index):"";s!==r&&o(),r=s,n+=1;continue}o(),t.push({stage:a})}return o(),t}function F(e,t){let n=e.model.stages.filter(r=>!G(e,r)).map(r=>r.index);return n[n.indexOf(e.current)+t]}function W(e){let t=e.indexOf("(");return{words:(t<0?e:e.slice(0,t)).split(/(?=[A-Z][a-z])/),options:t<0?"":e.slice(t)}}function k(e){return e<1e3?String(e):`${(e/1e3).toFixed(e<9950?1:0)}k`}function g(e){let t=e*1e3;return t>=100?Math.round(t).toLocaleString("en"):t.toFixed(1)}function J(e){return["error","warning"].find(t=>e.problems.some(n=>n.severity===t))}var ue={reference:["•","muted"],same:["✓","ok-text"],different:["✕","error-text"],"stops alike":["!","warning-text"],"not comparable":["?","warning-text"]};function X(e,t){let n=e.props.verdicts.length?"Result":"ms",r=i("tr",{},i("th",{class:"r no"},"#"),i("th",{},"Pass"),i("th",{class:"r change"},"Change"),i("th",{class:"r ms"},n));return i("table",{"aria-label":"Stages"},r,q(e).map(o=>he(e,o,t)))}function he(e,t,n){if(!("stage"in t))return i("tr",{},i("td"),i("td",{colspan:3,class:"hidden-run"},t.words));let{stage:r}=t,o=r.index===e.current,a=c(e.props,r.index)||w(r),s=(o?"on ":"")+(a?"suspect ":"")+(r.is_changed?"changed":""),u=i("td",{title:r.name},me(r.name),xe(e,r)),d=r.seconds>=0&&r.index>0?g(r.seconds):"",h=e.props.verdicts.length?be(e,r.index):i("td",{class:"m muted r ms"},d),Z=i("tr",{class:s,"aria-current":o?"step":null,data:{stage:r.index}},i("td",{class:"m muted r no"},r.index),u,i("td",{class:"r change"},ve(r)),h);return R(Z,()=>n(r.index))}function me(e){let{words:t,options:n}=W(e);return[t.map(r=>[i("wbr"),r]),n?i("span",{class:"options"},n):""]}function xe({props:e},t){return w(t)?[" ",y("failed","error")]:c(e,t.index)?[" ",y(e.suspects.length===1?"first difference":"suspect","error")]:""}function be({props:e},t){let[,n,r]=p(e,t)??[t,"not comparable","This stage was not reached."],[o,a]=ue[n],s=`Result: ${n}${r?`, ${r}`:""}`;return i("td",{class:"r ms",title:r},i("span",{class:a,role:"img","aria-label":s},o))}function ve(e){let t=J(e),n=t?[j(t)," "]:[];if(e.is_changed){let[r,o]=[e.added_count,e.removed_count],a=e.change||`${r.toLocaleString("en")} lines added, ${o.toLocaleString("en")} removed`,s=e.change?`~ ${e.change}`:`+${k(r)} −${k(o)}`;n.push(i("span",{class:"chip changed code",title:a},s))}else e.index>0&&t!=="error"&&n.push(i("span",{class:"muted m",role:"img","aria-label":"unchanged"},"="));return n}var Y=`.root{border-right:1px solid var(--line)}
.bar{padding:7px 10px;border-bottom:1px solid var(--line)}
.stages{flex:1;min-height:0;overflow:auto}
.stages td{white-space:nowrap}
.stages .no{padding:4px;min-width:24px}
.stages .ms{padding-left:0}
.stages .change{padding:4px 6px 4px 0}
.stages tr.changed td:nth-child(2){font-weight:600;color:var(--text)}
.stages td:nth-child(2){color:var(--text2);white-space:normal;width:100%;padding-right:4px}
.stages .options{font-weight:400;color:var(--text3);display:inline-block}
.foot{flex:none;border-top:1px solid var(--line);font-size:11.5px;line-height:1.6}
.ok-text{color:var(--ok)}
.chip[aria-pressed]{cursor:pointer}
.hidden-run{font-size:11.5px;color:var(--text3)}
.conclusion{flex:none;max-height:30%;overflow:auto;border-bottom:1px solid var(--line);font-size:12px;line-height:1.45;white-space:pre-line;overflow-wrap:anywhere}
.stages tr.suspect td{background:var(--errorBg)}
`;var f=e=>i("span",{class:"kbd"},e),E=class{constructor(t,n){this.root=t;this.tell=n;let r=[f("j")," ",f("k")," next and previous pass",i("br"),f("d")," text, graph, both"];t.append(this.head,this.bar,this.conclusion,this.stages,i("div",{class:"pad muted foot"},r)),H("pipeline",t,o=>this.onKey(o))}root;tell;head=i("div",{class:"ph"});bar=i("div",{class:"row bar"});conclusion=i("div",{class:"pad conclusion"});stages=i("div",{class:"stages"});model;props;current=0;isHiding=!0;setModel(t){this.model=t}setProps(t,n){this.props=t,this.current=n("stage")??this.current,this.draw()}listing(){let{model:t,props:n,current:r,isHiding:o}=this;return t&&n&&{model:t,props:n,current:r,isHiding:o}}draw(){let t=this.listing();if(!t)return;let{model:n,props:r}=t;this.root.dataset.stage=String(this.current);let o=n.seconds>0?`, ${g(n.seconds)} ms`:"",a=n.stages.length,s=r.actions.map(([d,h])=>N(h,"t","",()=>this.command(d))),u=i("span",{class:"n"},`${a} stage${a===1?"":"s"}${o}`);l(this.head,i("b",{},"Pipeline"),u,i("span",{class:"sp"}),s),l(this.bar,this.hideButton()),this.conclusion.hidden=!r.conclusion,l(this.conclusion,S(r.conclusion)),l(this.stages,X(t,d=>this.go(d)))}hideButton(){let t=`chip${this.isHiding?" accent":""}`,n={"aria-pressed":String(this.isHiding),click:()=>this.toggle()};return i("button",{type:"button",class:t,...n},"Hide unchanged ",f("u"))}command(t){this.tell({kind:"command",command:t,stage:this.current})}toggle(){this.isHiding=!this.isHiding,this.draw()}go(t){t!==this.current&&(this.current=t,this.draw(),this.tell({kind:"stage",stage:t}))}move(t){let n=this.listing(),r=n&&F(n,t);r!==void 0&&this.go(r)}onKey(t){return this.model?P(t,{j:()=>this.move(1),k:()=>this.move(-1),u:()=>this.toggle(),d:()=>this.command("view")}):!1}},et=D(Y,(e,t)=>new E(e,t));export{et as default};
