const LOOK = {"marks":{"added":{"sign":"+","color":"add","fill":"addBg","token":"addTok"},"removed":{"sign":"−","color":"del","fill":"delBg","token":"delTok"},"changed":{"sign":"~","color":"chg","fill":"chgBg","token":""},"moved":{"sign":"→","color":"mov","fill":"movBg","token":""},"unchanged":{"sign":"=","color":"text3","fill":"","token":""},"ok":{"sign":"✓","color":"ok","fill":"","token":""},"warning":{"sign":"▲","color":"warn","fill":"warnBg","token":""},"error":{"sign":"✕","color":"error","fill":"errorBg","token":""},"note":{"sign":"i","color":"text3","fill":"","token":""},"current":{"sign":"▶","color":"currentBar","fill":"current","token":""}},"kinds":{"tensor":{"letter":"T","shape":"square","color":"cat0"},"tensor0":{"letter":"t","shape":"square, inner square","color":"cat0"},"prim":{"letter":"P","shape":"circle","color":"cat1"},"shape":{"letter":"S","shape":"hexagon","color":"cat2"},"tuple":{"letter":"( )","shape":"pill","color":"cat5"},"closure":{"letter":"λ","shape":"diamond","color":"cat3"},"adt":{"letter":"A","shape":"tag","color":"cat4"},"string":{"letter":"s","shape":"square, cut corner","color":"synString"},"void":{"letter":"∅","shape":"dashed circle","color":"text3"}}};
const LIGHT = {"bg":"#ffffff","canvas":"#fafbfc","chrome":"#f4f6f8","raised":"#e9edf1","line":"#dde2e7","line2":"#bcc5cf","text":"#10161c","text2":"#45505c","text3":"#5f6a76","accent":"#3d4fc4","accentBg":"#e9ecfc","accentOn":"#fefefe","accentFill":"#3c4ec3","current":"#fff4c7","currentBar":"#c48a00","error":"#b2261d","errorBg":"#fdeceb","warn":"#865700","warnBg":"#fff3d8","ok":"#0d7550","add":"#006a78","addBg":"#e0f4f6","addTok":"#b5e4e9","del":"#a53a05","delBg":"#fdeee6","delTok":"#f9cfb8","chg":"#7b5b03","chgBg":"#fdf5dc","mov":"#5d47b8","movBg":"#efecfb","cat0":"#0b66b5","cat0Bg":"#e8f2fb","cat1":"#b84800","cat1Bg":"#fdf0e7","cat2":"#0a744a","cat2Bg":"#e7f5ee","cat3":"#a62f79","cat3Bg":"#fbecf5","cat4":"#4d3a00","cat4Bg":"#f8f3e0","cat5":"#3a1d9c","cat5Bg":"#f1edfc","catNone":"#606b77","catNoneBg":"#f1f3f5","synKeyword":"#7636b5","synName":"#22559f","synString":"#2b6a35","synNumber":"#954500","synType":"#0e666e","synComment":"#616c78","synDecor":"#7a5a00"};
const CSS = ":host{--bg:light-dark(#ffffff,#14171b);--canvas:light-dark(#fafbfc,#16191e);--chrome:light-dark(#f4f6f8,#1b1f25);--raised:light-dark(#e9edf1,#272d35);--line:light-dark(#dde2e7,#2b323a);--line2:light-dark(#bcc5cf,#48525e);--text:light-dark(#10161c,#e6eaef);--text2:light-dark(#45505c,#b6c0cb);--text3:light-dark(#5f6a76,#8f9ba8);--accent:light-dark(#3d4fc4,#9dabff);--accentBg:light-dark(#e9ecfc,#242b4a);--accentOn:light-dark(#fefefe,#fefefe);--accentFill:light-dark(#3c4ec3,#5566dd);--current:light-dark(#fff4c7,#383012);--currentBar:light-dark(#c48a00,#f0c14a);--error:light-dark(#b2261d,#ff8f85);--errorBg:light-dark(#fdeceb,#3b1f1f);--warn:light-dark(#865700,#efbe5b);--warnBg:light-dark(#fff3d8,#362b14);--ok:light-dark(#0d7550,#5fd0a0);--add:light-dark(#006a78,#5fd2df);--addBg:light-dark(#e0f4f6,#11323a);--addTok:light-dark(#b5e4e9,#1a5560);--del:light-dark(#a53a05,#ff9f70);--delBg:light-dark(#fdeee6,#3a2419);--delTok:light-dark(#f9cfb8,#6b3a22);--chg:light-dark(#7b5b03,#e5c25c);--chgBg:light-dark(#fdf5dc,#332c16);--mov:light-dark(#5d47b8,#bba9ff);--movBg:light-dark(#efecfb,#2a2547);--cat0:light-dark(#0b66b5,#5aaeff);--cat0Bg:light-dark(#e8f2fb,#15273a);--cat1:light-dark(#b84800,#ff9450);--cat1Bg:light-dark(#fdf0e7,#36231a);--cat2:light-dark(#0a744a,#5ed39b);--cat2Bg:light-dark(#e7f5ee,#142d24);--cat3:light-dark(#a62f79,#f38ac8);--cat3Bg:light-dark(#fbecf5,#371f30);--cat4:light-dark(#4d3a00,#f6e7a0);--cat4Bg:light-dark(#f8f3e0,#302a17);--cat5:light-dark(#3a1d9c,#d8cbff);--cat5Bg:light-dark(#f1edfc,#282241);--catNone:light-dark(#606b77,#909ca9);--catNoneBg:light-dark(#f1f3f5,#22272e);--synKeyword:light-dark(#7636b5,#cb9ff5);--synName:light-dark(#22559f,#8abaf9);--synString:light-dark(#2b6a35,#92d19c);--synNumber:light-dark(#954500,#f2b375);--synType:light-dark(#0e666e,#72d1d7);--synComment:light-dark(#616c78,#98a4b1);--synDecor:light-dark(#7a5a00,#dfc26a);--mono:var(--st-code-font,ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace);--ui:var(--st-font,Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Ubuntu, Cantarell, 'Helvetica Neue', Arial, sans-serif)}\n:host{color-scheme:inherit}\n*{box-sizing:border-box;margin:0}\n.root{font:13px/1.45 var(--ui);color:var(--text);background:var(--bg);overflow:hidden;display:flex;flex-direction:column;min-height:0;position:relative;-webkit-font-smoothing:antialiased}\n.root[hidden]{display:none}\ncode,pre,.m{font-family:var(--mono);font-size:.92em}\nbutton{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:pointer}\n:focus{outline:none}\n:focus-visible{outline:2px solid var(--accent);outline-offset:1px}\n.row-inset:focus-visible,.ln:focus-visible,tr:focus-visible{outline-offset:-2px}\n.sp{flex:1}\n.btn{display:inline-flex;align-items:center;gap:6px;height:26px;padding:0 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12.5px;white-space:nowrap}\n.btn:hover{background:var(--raised)}\n.btn.p{background:var(--accentFill);border-color:var(--accentFill);color:var(--accentOn);font-weight:600}\n.btn.t{border-color:transparent;background:none;color:var(--text2);padding:0 7px;font-weight:500}\n.btn.t:hover{background:var(--raised)}\n.btn.i{padding:0 7px;min-width:28px;justify-content:center}\n.btn[disabled]{color:var(--text3);cursor:default;background:var(--chrome)}\n.btn.p[disabled]{background:var(--chrome);border-color:var(--line2)}\n.seg{display:inline-flex;height:26px;border:1px solid var(--line2);border-radius:6px;background:var(--bg)}\n.seg button{padding:0 10px;font-size:12px;line-height:24px;color:var(--text2);border-right:1px solid var(--line);white-space:nowrap;font-weight:500}\n.seg button:first-child{border-radius:5px 0 0 5px}.seg button:last-child{border:0;border-radius:0 5px 5px 0}\n.seg [aria-pressed=true],.seg [aria-selected=true],.seg [aria-checked=true]{background:var(--accentBg);color:var(--accent);font-weight:600}\n.kbd{font:600 10.5px/15px var(--mono);border:1px solid var(--line2);border-bottom-width:2px;border-radius:4px;padding:0 4px;color:var(--text2);background:var(--bg)}\n.btn.p .kbd{background:none;color:inherit;border-color:currentColor}\n.pane{display:flex;flex-direction:column;min-height:0;min-width:0;overflow:hidden;flex:1}\n.ph{flex:none;display:flex;align-items:center;gap:8px;height:34px;padding:0 12px;border-bottom:1px solid var(--line);font-size:12px;font-weight:600;color:var(--text2);background:var(--bg);white-space:nowrap;overflow:hidden}\n.ph b{color:var(--text);font-weight:600}.ph .n{font-weight:500;color:var(--text3);overflow:hidden;text-overflow:ellipsis;min-width:0}\n.ph.top{border-top:1px solid var(--line)}\n.tabs{display:flex;flex:0 1 auto;min-width:0;overflow-x:auto;scrollbar-width:none}\n.tab{flex:none;height:34px;line-height:34px;padding:0 2px;margin-right:12px;color:var(--text2);font-weight:500}\n.tab[aria-selected=true]{color:var(--text);font-weight:600;box-shadow:inset 0 -2px var(--accent)}\n.tab:focus-visible{outline-offset:-3px}\n.body{flex:1;min-height:0;overflow:auto;position:relative}\n.pad{padding:10px 12px}\n.code{font:11.5px/19px var(--mono);white-space:pre;tab-size:4}\n.ln{display:flex;min-height:19px;position:relative}\n.ln .g{flex:none;width:44px;text-align:right;padding-right:12px;color:var(--text3);font-size:10.5px;position:relative;user-select:none}\n.ln .t{flex:1;padding-right:8px;min-width:0}\n.ln.cur{background:var(--current)}.ln.cur:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--currentBar);z-index:1}\n.ln.sel{background:var(--accentBg)}.ln.sel:before{content:\"\";position:absolute;left:0;top:0;bottom:0;width:3px;background:var(--accent);z-index:1}\n.ln.added{background:var(--addBg)}.ln.removed{background:var(--delBg)}.ln.changed{background:var(--chgBg)}.ln.moved{background:var(--movBg)}\n.ln.filler{background:repeating-linear-gradient(135deg,transparent 0 5px,var(--chrome) 5px 9px)}\n.ln .s{flex:none;width:16px;text-align:center;font-weight:700;user-select:none}\n.added>.s,.added .sign{color:var(--add)}.removed>.s,.removed .sign{color:var(--del)}.changed>.s,.changed .sign{color:var(--chg)}.moved>.s,.moved .sign{color:var(--mov)}\n.added u{background:var(--addTok)}.removed u{background:var(--delTok)}.changed u{background:var(--chgBg);box-shadow:inset 0 -2px var(--chg)}\nu{text-decoration:none;border-radius:2px}\n.ln.dim .t,.ln.dim .t *{color:var(--text3)}\n.sq-error{text-decoration:underline wavy var(--error) 1px;text-underline-offset:3px}\n.sq-warning{text-decoration:underline wavy var(--warn) 1px;text-underline-offset:3px}\n.sq-note{text-decoration:underline dotted var(--text3) 1px;text-underline-offset:3px}\n.synKeyword{color:var(--synKeyword)}.synName{color:var(--synName)}.synString{color:var(--synString)}.synNumber{color:var(--synNumber)}\n.synType{color:var(--synType)}.synComment{color:var(--synComment)}.synDecor{color:var(--synDecor)}.text2{color:var(--text2)}.text3{color:var(--text3)}\ntable{border-collapse:collapse;width:100%;font-size:12px}\nth{font-weight:500;text-align:left;color:var(--text3);font-size:11px;padding:3px 8px;border-bottom:1px solid var(--line);white-space:nowrap}\ntd{padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}\ntd.m,th.m{font-family:var(--mono);font-size:11.2px}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}\ntr.on td{background:var(--accentBg)}tr.on td:first-child{box-shadow:inset 3px 0 var(--accent)}\ntr[tabindex]{cursor:pointer}tr[tabindex]:hover td{background:var(--chrome)}tr.on[tabindex]:hover td{background:var(--accentBg)}\n.lines>.ln{height:19px}\n.finder{flex:none;gap:6px}\n.finder[hidden]{display:none}\n.find{width:92px;height:22px;padding:0 6px;border:1px solid var(--line);border-radius:4px;background:var(--bg);color:var(--text);font-weight:400}\n.find::placeholder{color:var(--text3)}\n.find:focus-visible{outline-offset:0}\n.hit{background:var(--current);box-shadow:inset 0 0 0 1px var(--currentBar);border-radius:2px}\n.chip{display:inline-flex;align-items:center;gap:5px;height:19px;padding:0 7px;border-radius:5px;font:500 11px/19px var(--ui);background:var(--raised);color:var(--text2);white-space:nowrap}\n.chip.code{font-family:var(--mono);font-size:10.5px;display:inline-flex}\n.chip.ok{color:var(--ok);background:var(--cat2Bg)}.chip.error{color:var(--error);background:var(--errorBg)}.chip.warning{color:var(--warn);background:var(--warnBg)}\n.chip.accent{color:var(--accent);background:var(--accentBg)}.chip.added{color:var(--add);background:var(--addBg)}.chip.removed{color:var(--del);background:var(--delBg)}\n.chip.changed{color:var(--chg);background:var(--chgBg)}.chip.moved{color:var(--mov);background:var(--movBg)}.chip.cat0{color:var(--cat0);background:var(--cat0Bg)}\n.h{font-size:11px;font-weight:600;color:var(--text3);margin:14px 0 5px}\ndl{display:grid;grid-template-columns:74px 1fr;gap:4px 10px;font-size:12px}dt{color:var(--text3)}dd{min-width:0;overflow-wrap:anywhere;margin:0}\n.bd{display:inline-block;vertical-align:-3.5px;flex:none}\n.sym{display:inline-block;vertical-align:-1.5px;flex:none}\n.link{color:var(--accent);cursor:pointer}.link:hover{text-decoration:underline}\n.muted{color:var(--text3)}.sub{color:var(--text2)}.strong{font-weight:550}\n.row{display:flex;align-items:center;gap:8px}\n.error-text{color:var(--error)}.warning-text{color:var(--warn)}.note-text{color:var(--text3)}\n.tip{position:absolute;z-index:20;max-width:420px;padding:7px 10px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);font-size:12px;line-height:1.45;pointer-events:none;overflow-wrap:anywhere}\n.tip .hint{color:var(--text2);margin-top:3px}\n.state{position:absolute;inset:0;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:6px;text-align:center;padding:24px;color:var(--text2);font-size:12.5px}\n.state b{font-weight:600;color:var(--text);font-size:13px}\n.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n@media (prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}\n\n.root{container-type:inline-size}\n.split{flex:1;min-height:0;display:grid;grid-template-columns:minmax(0,1fr) 520px}\n@container (max-width:1340px){.split{grid-template-columns:minmax(0,1fr) 450px}}\n@container (max-width:1100px){.split{grid-template-columns:minmax(0,1fr) 380px}.toolbar .kbd{display:none}}\n.split>.pane:first-child{border-right:1px solid var(--line)}\n.toolbar{flex:none;display:flex;flex-wrap:wrap;align-items:center;gap:4px 7px;min-height:40px;padding:4px 12px;border-bottom:1px solid var(--line);background:var(--chrome);white-space:nowrap}\n.toolbar .time{margin-left:8px;font-variant-numeric:tabular-nums;min-width:92px;text-align:right}\n@container (max-width:1340px){.toolbar .stepby{display:none}.toolbar{gap:5px}.toolbar .btn{padding:0 7px}}\n.listing{flex:1 1 0;min-height:60px;overflow:auto;padding:6px 0;position:relative}\n.listing.source{flex:1.35 1 0}\n.listing,.upper,.lower,.strip{contain:layout paint}\n.listing:focus-visible{outline-offset:-2px}\n.lines{width:max-content;min-width:100%}\n.can-break{cursor:pointer}\n.can-break:hover:after{content:\"\";position:absolute;left:7px;top:4.5px;width:10px;height:10px;border-radius:50%;box-shadow:inset 0 0 0 1px var(--line2)}\n.ln.cursor .t{box-shadow:inset 0 -1px var(--line2)}\n.iv{font-size:10.5px;color:var(--text2);background:var(--raised);border-radius:4px;padding:1px 6px;margin-left:14px;white-space:nowrap}\n.iv.new{background:var(--addBg);color:var(--add);box-shadow:inset 0 0 0 1px var(--add)}\n.ln.dim .t .iv{color:var(--text2)}\n.bp{position:absolute;left:7px;top:4.5px;width:10px;height:10px;border-radius:50%;background:var(--error);color:var(--bg);font:700 10.5px/10px var(--ui);text-align:center;z-index:2}\n.bp.off{background:none;box-shadow:inset 0 0 0 1.5px var(--error);color:var(--error)}\ntd .bp{position:static;display:inline-block;vertical-align:-1px;padding:0}\n.ar{position:absolute;left:6px;top:0;color:var(--currentBar);font-size:12px}\n.arrow{width:24px;color:var(--accent)}\n.ex{position:absolute;right:3px;top:4px;bottom:4px;width:3px;border-radius:2px;background:var(--ok)}\n.exkey{display:inline-block;width:3px;height:11px;background:var(--ok);border-radius:2px;vertical-align:-1px}\n.now{flex:none;padding:9px 14px;border-top:1px solid var(--line);font-size:12.5px;background:var(--bg);min-height:37px;max-height:92px;overflow:auto;color:var(--text2)}\n.now b{font-weight:600;color:var(--text)}\n.now.error{background:var(--errorBg);color:var(--text)}\n.strip{flex:none;min-height:94px;background:var(--chrome);border-top:1px solid var(--line);padding-top:5px;cursor:pointer;touch-action:none;overflow:hidden}\n.strip:focus-visible{outline-offset:-3px}\n.strip svg{display:block}\n.upper{flex:0 1 auto;min-height:0;overflow:auto}\n.lower{flex:none;max-height:40%;overflow:auto;border-top:1px solid var(--line)}\n.lower .ph.top:first-child{border-top:0}\n.side .ph{position:static}\n.side table+.ph.top,.side .ph.top.tight{margin-top:-1px}\n.registers td{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}\n.registers{table-layout:fixed}\n.registers th:nth-child(1){width:28px}.registers th:nth-child(2){width:50px}.registers th:nth-child(3){width:84px}.registers th:nth-child(4){width:132px}\n@container (max-width:1340px){.registers th:nth-child(2){width:44px}.registers th:nth-child(3){width:74px}.registers th:nth-child(4){width:118px}}\n.legend div{display:flex;flex-wrap:wrap;gap:3px 14px;font-size:11.5px;color:var(--text2)}\n.legend-entry{display:inline-flex;align-items:center;gap:5px}\n.registers .legend td{white-space:normal}\n.kind{width:28px;padding-right:2px}\n.frame td{background:var(--chrome);font-size:11.5px}\n.new{margin-left:6px}\n.flash td{animation:flash 600ms ease-out}\n@keyframes flash{from{background:var(--addTok)}to{background:var(--bg)}}\n.opened td{padding:5px 8px 8px}\n.inside{border-left:2px solid var(--cat3);padding-left:10px;font-size:11.5px;display:flex;flex-direction:column;gap:3px}\n.inside .label{width:56px}.inside .row.top{align-items:flex-start}\n.heat-box{overflow:auto}\n.heat-row{display:flex;gap:2px;margin-bottom:2px}\n.cell{flex:none;width:var(--cell);height:22px;line-height:22px;border-radius:3px;text-align:center;font-family:var(--mono);font-size:11px;color:var(--text)}\n.cell.odd{box-shadow:inset 0 0 0 1px var(--error);color:var(--error)}\n.cut{font-size:11.5px;margin-top:4px}\n.long{padding:10px 12px;white-space:pre-wrap;overflow-wrap:anywhere;max-height:180px;overflow:auto;font-size:11.5px}\n.out{padding:8px 12px;white-space:pre-wrap;overflow-wrap:anywhere}\n.out .link{margin-right:10px}\n.points td{vertical-align:middle}\n.points td.m,.points td.r{white-space:nowrap}\n.points .cond{width:38%;padding-block:2px}\n.points input{width:100%;height:22px;padding:0 6px;border:1px solid var(--line);border-radius:4px;background:var(--bg);color:var(--text)}\n.points input::placeholder{color:var(--text3);font-family:var(--ui)}\n.points input:focus-visible{outline-offset:0}\n.points input[aria-invalid]{border-color:var(--error)}\n.points tr:has(+.problem) td{border-bottom:0}\n.points .problem td{padding-top:0;background:none}\n@container (max-width:760px){\n.split{display:block}\n.split>.pane:first-child{border-right:0;border-bottom:1px solid var(--line)}\n.listing.source{flex:none;height:300px}.listing.instructions{flex:none;height:170px}\n.lower{max-height:none}\n}\n@media (max-width:760px){.root{height:auto!important}}\n.change{flex:none;padding:8px 12px;display:flex;flex-direction:column;gap:6px;border-bottom:1px solid var(--line);background:var(--chrome)}\n.change-line{display:flex;flex-wrap:wrap;align-items:center;gap:4px 6px;font-size:12px}\n.change input[type=text]{height:26px;padding:0 8px;border:1px solid var(--line2);border-radius:6px;background:var(--bg);color:var(--text);min-width:0}\n.change [data-focus=change-place]{flex:0 1 108px}\n.change [data-focus=change-value]{flex:1 1 130px}\n.change input::placeholder{color:var(--text3)}\n.change .btn.t{height:22px;font-size:11px;border-color:var(--line)}\n.change .file{cursor:pointer}\n.change .file:focus-within{outline:2px solid var(--accent);outline-offset:1px}\n.change-problem{font-size:12px;color:var(--text)}\n.ph .link+.link{margin-left:10px}\n.memory{display:none;flex:1;min-height:0;overflow:auto;flex-direction:column}\n.root[data-tab=memory] .memory{display:flex}\n.root[data-tab=memory] .listing,.root[data-tab=memory] .instructions,.root[data-tab=memory] .ph.top.listing-head{display:none}\n.memory:focus-visible{outline-offset:-2px}\n.memory-head{flex:none;padding:10px 14px;display:flex;flex-direction:column;gap:6px;font-size:12px;border-bottom:1px solid var(--line)}\n.memory-line{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:center}\n.memory-faults{display:flex;flex-direction:column;gap:4px;background:var(--errorBg);padding:8px 10px;border-radius:6px;color:var(--text)}\n.memory-chart{position:relative;padding:6px 21px 8px}\n.memory-curve{position:relative;cursor:pointer;margin-bottom:4px}\n.memory-curve svg{display:block;width:100%;height:72px}\n.memory-label{display:flex;gap:8px;padding:3px 0 0;font-size:11px;line-height:15px;min-width:0;white-space:nowrap}\n.memory-label .m{overflow:hidden;text-overflow:ellipsis}\n.memory-curve .memory-label{position:absolute;left:0;top:3px;padding:0 4px;background:color-mix(in srgb,var(--bg) 75%,transparent);border-radius:3px}\n.memory-name{position:absolute;top:4px;font-size:10.5px;line-height:15px;white-space:nowrap;pointer-events:none}\n.memory-row{border-top:1px solid var(--line);contain:layout style}\n.memory-row.dead .memory-label,.memory-row.dead .memory-name{color:var(--text3)}\n.memory-row.dead .m{font-weight:400}\n.memory-row .memory-label .m,.memory-name .m{font-weight:600}\n.memory-track{position:relative}\n.memory-storage{position:absolute;top:2px;bottom:2px;background:var(--raised);border:1px solid var(--line2);border-radius:4px;box-sizing:border-box}\n.memory-box{position:absolute;height:15px;box-sizing:border-box;padding:0 4px;border:1px solid var(--cat0);border-radius:3px;overflow:hidden;white-space:nowrap;text-align:left;font-size:10.5px;line-height:13px;color:var(--text);background:linear-gradient(90deg,var(--bg) var(--from),var(--cat0Bg) var(--from),var(--cat0Bg) var(--to),var(--bg) var(--to));cursor:pointer}\n.memory-box:hover{border-width:2px;padding:0 3px;line-height:11px}\n.memory-box:focus-visible{outline-offset:0;z-index:3}\n.memory-box.faulty{border-color:var(--error);background:var(--errorBg);color:var(--error);font-weight:600}\n.memory-key{display:inline-block;width:18px;height:10px;border:1px solid var(--cat0);border-radius:3px;background:var(--bg)}\n.memory-key.used{background:var(--cat0Bg)}\n.memory-key.storage{background:var(--raised);border-color:var(--line2)}\n.memory-key.faulty{background:var(--errorBg);border-color:var(--error)}\n.memory-now{position:absolute;top:0;bottom:0;border-left:1.5px solid var(--accent);pointer-events:none;z-index:2}\n.memory-faults .link{margin-left:8px}\n@container (max-width:760px){.memory{max-height:460px}}\n";
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

// The recorded run: frames at any time from deltas, where commands lead, and which events stop at a breakpoint.
// Times are absolute; an index into the window is `time - run.first_event`.

const KEEP_EVERY = 64;

function createRunState(run) {
  const first = run.first_event;
  const last = first + run.events.length;
  const newest = last === run.total ? last : last - 1;
  const kept = new Map([[0, run.frames.map(startFrame)]]);
  const firstTimeOfLine = new Map(run.executed_lines.map((line) => [line, -1]));
  const firstTimeOfPc = new Map(run.executed_pcs.map((pc) => [pc, -1]));
  run.events.forEach(([, pc, line], i) => {
    if (!firstTimeOfLine.has(line)) firstTimeOfLine.set(line, first + i);
    if (!firstTimeOfPc.has(pc)) firstTimeOfPc.set(pc, first + i);
  });
  const registersOf = new Map();
  const breakable = [...new Set(run.instructions.map((row) => row.line).filter(Boolean))].sort((a, b) => a - b);

  let stops = new Map();

  return { setEvaluated, evaluated, first, last, newest, event, framesAt, jump, isHit, hits, search, breakable, firstTimeOfLine, firstTimeOfPc, holds, registersByLine };

  function startFrame(frame) {
    return { function: frame.function, pc: frame.pc, line: frame.line, through: frame.through, registers: [...frame.registers], notes: [], times: [] };
  }

  function holds(time) {
    return time >= first && time <= newest;
  }

  function event(time) {
    return run.events[time - first];
  }

  // A step costs at most KEEP_EVERY events, and copies of the frames that they change: stacks are deep, frames long.
  function framesAt(time) {
    const target = time - first;
    let from = target - (target % KEEP_EVERY);
    while (!kept.has(from)) from -= KEEP_EVERY;
    const frames = [...kept.get(from)];
    let own = new Set();
    for (let i = from; i < target; i += 1) {
      apply(frames, own, run.events[i], first + i + 1);
      if ((i + 1) % KEEP_EVERY === 0 && !kept.has(i + 1)) {
        kept.set(i + 1, [...frames]);
        own = new Set();
      }
    }
    const next = run.events[target];
    if (next) stand(frames, next);
    else if (run.stop_pc >= 0 && frames.length) stand(frames, [0, run.stop_pc, run.stop_line, frames.length - 1]);
    return frames;
  }

  function stand(frames, [, pc, line, depth]) {
    if (frames[depth]) frames[depth] = { ...frames[depth], pc, line };
  }

  // A frame's lists belong to the kept state that it came from until they are in `own`.
  function writable(frames, own, depth) {
    const frame = frames[depth];
    if (!frame || own.has(frame.registers)) return frame;
    frames[depth] = { ...frame, registers: frame.registers.slice(), notes: frame.notes.slice(), times: frame.times.slice() };
    own.add(frames[depth].registers);
    return frames[depth];
  }

  // The registers whose variable a line of a function binds.
  function registersByLine(number) {
    if (!registersOf.has(number)) {
      const byLine = new Map();
      run.functions[number].registers.forEach((register, index) => {
        if (register.line) byLine.set(register.line, [...(byLine.get(register.line) || []), index]);
      });
      registersOf.set(number, byLine);
    }
    return registersOf.get(number);
  }

  function apply(frames, own, happened, time) {
    stand(frames, happened);
    for (const change of happened[6]) {
      if (change[0] === "push") {
        frames.push({ function: change[1], pc: -1, line: run.functions[change[1]].line, through: change[2], registers: [], notes: [], times: [] });
      } else if (change[0] === "pop") {
        frames.pop();
      } else {
        const [, depth, register, value, note] = change;
        const frame = writable(frames, own, depth);
        if (!frame) continue;
        frame.registers[register] = value;
        frame.notes[register] = note;
        frame.times[register] = time;
      }
    }
  }

  // Where a command leads from a time; -1 for nowhere.
  function jump(by, command, time) {
    const table = by === "instruction" ? run.by_instruction : run.by_binding;
    const target = table[command][time - first];
    return target === undefined ? -1 : target;
  }

  // Where breakpoints with a condition stop; the server has evaluated them.
  function setEvaluated(list) {
    stops = new Map(list.map((item) => [conditionKey(item.point), { ...item, times: new Set(item.times) }]));
  }

  function evaluated(point) {
    return point.condition ? stops.get(conditionKey(point)) : undefined;
  }

  function isHit(time, points) {
    const at = event(time);
    return Boolean(at) && points.some((point) => point.is_on && isAt(point, at) && holdsAt(point, time));
  }

  function isAt(point, [, pc, line, , isStart]) {
    if (point.line) return point.line === line && isStart;
    return point.pc < 0 ? point.condition !== "" : point.pc === pc;
  }

  function holdsAt(point, time) {
    const known = evaluated(point);
    return !point.condition || Boolean(known && known.times.has(time));
  }

  function hits(point) {
    const found = [];
    for (let time = first; time < last; time += 1) if (isHit(time, [{ ...point, is_on: true }])) found.push(time);
    return found;
  }

  // The nearest hit after (step 1) or before (step -1) a time; -1 if the window has none.
  function search(time, step, points) {
    for (let t = time + step; t >= first && t < last; t += step) if (isHit(t, points)) return t;
    return -1;
  }
}

// The two listings: rows are made as they come into sight, and marks are put on those that are there.

const INSTRUCTION = /^(?:call|ret|goto|if)\b|\b(?:in|dst|else): |(%\w+)|(f\[[^\]]*\])|(\bi-?[\d.]+|\bc\[\d+\]|\b\d+\b)/g;

// Cuts an instruction into tokens as those of the source are; the name of what is called stays plain.
function instructionTokens(text) {
  if (text.startsWith("@")) return [[text, "synName"]];
  const name = /^call {2}\S+/.exec(text);
  const tokens = name ? [["call", "synKeyword"], [name[0].slice(4), ""]] : [];
  let at = name ? name[0].length : 0;
  for (const found of text.slice(at).matchAll(INSTRUCTION)) {
    const from = (name ? name[0].length : 0) + found.index;
    const syntax = found[1] ? "synType" : found[2] ? "synName" : found[3] ? "synNumber" : from ? "text2" : "synKeyword";
    tokens.push([text.slice(at, from), ""], [found[0], syntax]);
    at = from + found[0].length;
  }
  return [...tokens, [text.slice(at), ""]].filter(([part]) => part);
}

function createListing(box, label, gutterLabel, onGutter, onPick, onMenu) {
  const held = el("div", { class: "code lines" });
  const rows = createRows(box, held, makeRow);
  let lines = [];
  let texts = [];
  let keyOf = null;
  let numberOf = null;
  let placeOf = new Map();
  let entries = new WeakMap();
  let marksIn = () => [];
  // states: key -> {cur, sel, cursor, point}; the line's chip, and whether it was executed.
  let marked = { states: new Map(), isDone: () => false, chipOf: () => null };
  box.setAttribute("aria-label", label);
  box.tabIndex = 0;
  box.append(held);
  return { build, mark, reveal, revealLine: (index) => rows.reveal(index), refresh: () => rows.refresh(), texts: () => texts, setMarks: (next) => (marksIn = next) };

  function build(next, keyOf_, numberOf_) {
    [lines, keyOf, numberOf] = [next, keyOf_, numberOf_];
    texts = lines.map((line) => (line.tokens ? line.tokens.map(([text]) => text).join("") : line.text));
    placeOf = new Map();
    lines.forEach((line, index) => {
      const key = keyOf(line);
      if (key >= 0 && !placeOf.has(key)) placeOf.set(key, index);
    });
    rows.set(lines.length, texts.reduce((longest, text) => Math.max(longest, text.length), 0));
  }

  function makeRow(index) {
    const line = lines[index];
    const key = keyOf(line);
    const left = el("span", { class: "g" });
    const text = el("span", { class: "t" }, markedSpans(line.tokens || instructionTokens(line.text), marksIn(texts[index])));
    const row = el("div", { class: "ln" + (line.is_dim ? " dim" : "") }, left, text);
    if (key < 0) {
      left.append(line.number === 0 && key !== -1 ? "↪" : "");
      return row;
    }
    row.dataset.key = String(key);
    left.classList.add("can-break");
    left.title = `${gutterLabel} ${numberOf(line)}; right button: with a condition`;
    left.addEventListener("click", () => onGutter(key));
    left.addEventListener("contextmenu", (event) => (event.preventDefault(), onMenu(key)));
    text.addEventListener("click", () => onPick(key));
    const entry = { key, row, left, text, number: String(numberOf(line)), chip: null, shown: null };
    entries.set(row, entry);
    if (placeOf.get(key) === index) dress(entry);
    return row;
  }

  function mark(states, isDone, chipOf) {
    marked = { states, isDone, chipOf };
    for (const [index, row] of rows.shown()) {
      const entry = entries.get(row);
      if (entry && placeOf.get(entry.key) === index) dress(entry);
    }
  }

  function dress(entry) {
    const state = marked.states.get(entry.key) || {};
    const isDone = marked.isDone(entry.key);
    const shown = [state.cur, state.sel, state.cursor, isDone, state.point && state.point.is_on, state.point && state.point.condition].join();
    if (shown !== entry.shown) {
      entry.shown = shown;
      entry.row.classList.toggle("cur", Boolean(state.cur));
      entry.row.classList.toggle("sel", Boolean(state.sel));
      entry.row.classList.toggle("cursor", Boolean(state.cursor));
      if (state.cur) entry.row.setAttribute("aria-current", "step");
      else entry.row.removeAttribute("aria-current");
      drawGutter(entry, state, isDone);
    }
    drawChip(entry, marked.chipOf(entry.key));
  }

  function drawChip(entry, chip) {
    const look = chip ? "iv" + (chip.isNew ? " new" : "") : "";
    if (!entry.chip && !chip) return;
    if (entry.chip && chip && entry.chip.className === look && entry.chip.textContent === chip.text) return;
    if (entry.chip) entry.chip.remove();
    entry.chip = chip && el("span", { class: look }, chip.text);
    if (chip) entry.text.append(entry.chip);
  }

  function drawGutter(entry, state, isDone) {
    const point = state.point;
    const sign = point && (point.condition ? "?" : "");
    entry.left.replaceChildren(
      isDone ? el("span", { class: "ex", title: "executed" }) : "",
      point ? el("span", { class: "bp" + (point.is_on ? "" : " off"), role: "img", "aria-label": `breakpoint${point.is_on ? "" : ", off"}${point.condition ? `, if ${point.condition}` : ""}`, title: point.condition ? `if ${point.condition}` : null }, sign) : "",
      state.cur && !point ? el("span", { class: "ar", "aria-hidden": "true" }, "▶") : "",
      entry.number,
    );
  }

  function reveal(key) {
    const index = placeOf.get(key);
    if (index !== undefined) rows.reveal(index);
  }
}

// Stack, registers and the value pane.

const FRAMES_SHOWN = 8;
const STACK_SHOWN = 12;
// Of a frame with more registers those around the one written last are shown, so that a step stays a step.
const REGISTERS_SHOWN = 200;
const REGISTERS_AHEAD = 20;

function letterOf(kind) {
  return (KIND_LOOK[kind] || { letter: "" }).letter;
}

// The chip after a line: kind letter and type, or what the value is.
function inlineText(value, register) {
  const what = /^tensor/.test(value.kind) || value.kind === "prim" ? value.type : value.short;
  const text = `${register.is_parameter ? register.variable + " = " : ""}${letterOf(value.kind)} ${what}`;
  return text.length > 40 ? text.slice(0, 39) + "…" : text;
}

function stackTable(run, frames, onFrame) {
  const at = (depth) => ({ frame: frames[depth], depth });
  const count = frames.length;
  const depths = Array.from({ length: count > STACK_SHOWN + 3 ? STACK_SHOWN : count }, (_, place) => at(count - 1 - place));
  const shown = count > depths.length ? [...depths, null, at(1), at(0)] : depths;
  return el("table", { "aria-label": "Call stack, newest first" }, shown.map((entry) => {
    if (!entry) return el("tr", {}, el("td"), el("td", { class: "muted", colspan: 3 }, `${(count - STACK_SHOWN - 2).toLocaleString("en")} frames between`));
    const { frame, depth } = entry;
    const isTop = depth === frames.length - 1;
    const through = frame.through && !isTop ? [", through ", el("code", {}, frame.through)] : "";
    const row = el("tr", { class: isTop ? "on" : "", data: { focus: "frame" + depth } },
      el("td", { class: "arrow" }, isTop ? "▶" : ""),
      el("td", { class: "m" }, run.functions[frame.function].name),
      el("td", { class: "muted" }, frame.line ? `line ${frame.line}` : "", through),
      el("td", { class: "m muted r" }, frame.pc >= 0 ? `pc ${frame.pc}` : ""));
    return pickable(row, () => onFrame(frame));
  }));
}

// A table that stays: a step makes only the rows that it changes, for a long frame has hundreds.
function createRegisters() {
  const table = el("table", { class: "registers", "aria-label": "Registers, newest frame first" });
  let kept = new Map();
  let run = null;
  return (next, frames, options) => {
    if (next !== run) kept = new Map();
    run = next;
    const used = new Map();
    const rowsOf = (key, look, make) => {
      const known = kept.get(key);
      const entry = known && known.look === look ? known : { look, rows: make() };
      used.set(key, entry);
      return entry.rows;
    };
    settle(table, registerTable(run, frames, { ...options, rowsOf }));
    kept = used;
    return table;
  };
}

// Lets a box hold `wanted` in this order; what is there already stays, so that it is not laid out again.
function settle(box, wanted) {
  const stays = new Set(wanted);
  for (const child of [...box.children]) if (!stays.has(child)) child.remove();
  let at = box.firstChild;
  for (const child of wanted) {
    if (child === at) at = at.nextSibling;
    else box.insertBefore(child, at);
  }
}

function registerTable(run, frames, options) {
  const body = [el("tr", {}, ["Kind", "Reg", "Name", "Type, device", "Value"].map((name, i) => el("th", {}, i ? name : el("span", { class: "sr" }, name))))];
  const newest = frames.length - 1;
  for (let depth = newest; depth >= Math.max(0, newest - FRAMES_SHOWN + 1); depth -= 1) {
    const frame = frames[depth];
    const info = run.functions[frame.function];
    const where = depth === newest ? "top frame" : `waits at line ${frame.line}`;
    body.push(el("tr", { class: "frame" }, el("td", { colspan: 5 }, el("b", {}, info.name), " ", el("span", { class: "muted" }, where))));
    body.push(...frameRows(run, frame, depth, info.registers, options));
  }
  body.push(legendRow(body));
  if (newest >= FRAMES_SHOWN) body.push(el("tr", {}, el("td", { colspan: 5, class: "muted" }, `${newest + 1 - FRAMES_SHOWN} older frames, in the call stack`)));
  return body.filter(Boolean);
}

function frameRows(run, frame, depth, registers, options) {
  const shown = shownRegisters(registers, options.by === "instruction");
  const [first, last] = shownPart(shown, frame);
  const left = (count, words) => (count ? [el("tr", {}, el("td", { colspan: 5, class: "muted" }, `${count.toLocaleString("en")} registers ${words}, not shown`))] : []);
  const rows = shown.slice(first, last).flatMap((index) => registerRows(run, frame, depth, registers[index], index, options));
  return [...left(first, "before"), ...rows, ...left(shown.length - last, "behind")];
}

// The numbers of a function's registers that are listed; found once, for a function may have thousands.
const LISTED = new WeakMap();
function shownRegisters(registers, isAll) {
  if (!LISTED.has(registers)) LISTED.set(registers, new Map());
  const known = LISTED.get(registers);
  if (!known.has(isAll)) known.set(isAll, registers.flatMap((register, index) => (isAll || !register.is_hidden ? [index] : [])));
  return known.get(isAll);
}

function shownPart(shown, frame) {
  if (shown.length <= REGISTERS_SHOWN) return [0, shown.length];
  let latest = 0;
  shown.forEach((index, place) => {
    if ((frame.times[index] || 0) >= (frame.times[shown[latest]] || 0) && frame.registers[index] >= 0) latest = place;
  });
  const last = Math.min(shown.length, Math.max(REGISTERS_SHOWN, latest + REGISTERS_AHEAD));
  return [Math.max(0, last - REGISTERS_SHOWN), last];
}

// Names the kinds that the rows have: a prim value and a rank-0 tensor look alike in their numbers.
function legendRow(rows) {
  const present = new Set(rows.map((row) => row.dataset.kind).filter((kind) => KIND_LOOK[kind]));
  const entries = Object.keys(KIND_NAME).filter((kind) => present.has(kind)).map((kind) => el("span", { class: "legend-entry" }, badge(kind, 14), KIND_NAME[kind]));
  return entries.length ? el("tr", { class: "legend" }, el("td", { colspan: 5 }, el("div", {}, entries))) : "";
}

function registerRows(run, frame, depth, register, index, options) {
  const number = frame.registers[index];
  const value = number === undefined || number < 0 ? null : run.values[number];
  const isNew = value && frame.times[index] > options.newAfter;
  const key = `${depth}.${index}`;
  const drawn = [frame.function, number, isNew, isNew && options.flash, options.chosen === key, frame.notes[index]].join();
  return options.rowsOf(key, drawn, () => makeRegisterRows(run, frame, register, index, { ...options, value, isNew, key }));
}

function makeRegisterRows(run, frame, register, index, options) {
  const { value, isNew, key } = options;
  const look = (isNew && options.flash ? "flash " : "") + (options.chosen === key ? "on" : "");
  const short = value ? frame.notes[index] || value.short : "";
  const row = el("tr", { class: look, data: { register: key, focus: "register" + key, kind: value ? value.kind : "unwritten" } },
    el("td", { class: "kind" }, badge(value ? value.kind : "unwritten")),
    el("td", { class: "m" + (value ? "" : " muted") }, register.name),
    el("td", { class: "m" + (value ? "" : " muted") }, register.variable),
    el("td", { class: "m" + (value ? "" : " muted") }, value ? value.type : register.type, value && value.category ? [" ", symbol(value.category, value.device)] : ""),
    el("td", { class: value ? "m sub" : "muted" }, value ? short : "not yet written", isNew ? el("span", { class: "chip added new" }, "new") : ""));
  pickable(row, () => options.onChoose(key));
  return value && value.closure ? [row, closureRow(run, value.closure, options)] : [row];
}

function closureRow(run, closure, options) {
  const link = el("button", { type: "button", class: "link m", click: (event) => { event.stopPropagation(); options.onLine(closure.line); } }, "@" + closure.function);
  const captures = closure.captures.map((capture) => {
    const value = run.values[capture.value];
    const bound = capture.time >= 0 ? el("span", { class: "muted" }, `bound at time ${capture.time}`) : "";
    return el("div", { class: "row" }, badge(value.kind, 14), el("span", { class: "m" }, capture.name, capture.where ? ` = ${capture.where}` : ""), capture.where ? "" : el("span", { class: "m muted" }, value.short), bound);
  });
  return el("tr", { class: "opened" }, el("td"), el("td", { colspan: 4 }, el("div", { class: "inside" },
    el("div", { class: "row" }, el("span", { class: "muted label" }, "function"), link, closure.line ? el("span", { class: "muted" }, `line ${closure.line}`) : ""),
    el("div", { class: "row top" }, el("span", { class: "muted label" }, "captures"), captures.length ? el("div", {}, captures) : el("span", { class: "muted" }, "none")))));
}

function valueHead(value, register, onWriter) {
  return [badge(value.kind), el("b", { class: "m" }, `${register.name} ${register.variable}`.trim()), el("span", { class: "n" }, value.summary || value.type), el("span", { class: "sp" }),
    onWriter ? el("button", { type: "button", class: "link", click: onWriter }, "Who wrote this") : ""];
}

function valueBody(run, value) {
  if (value.tensor) return heatTable(value.tensor);
  const rows = value.closure ? value.closure.captures.map((c) => [c.name, c.value]) : value.fields;
  if (rows.length) {
    return el("table", {}, rows.map(([name, index]) => {
      const field = run.values[index];
      return el("tr", {}, el("td", { class: "kind" }, badge(field.kind)), el("td", { class: "m" }, name), el("td", { class: "m" }, field.type), el("td", { class: "m sub" }, field.short));
    }));
  }
  return el("div", { class: "m long" }, value.long || value.short);
}

function heatTable(tensor) {
  const longest = Math.max(4, ...tensor.cells.map((cell) => cell.length));
  const width = Math.max(52, longest * 7 + 12);
  const cells = tensor.cells.map((cell, i) => {
    const heat = tensor.heat.length ? tensor.heat[i] : 30;
    const share = heat < 0 ? 0 : 16 + heat * 0.34;
    const look = { background: `color-mix(in srgb,var(--cat0) ${share}%,var(--bg))` };
    return el("span", { class: "cell" + (heat < 0 ? " odd" : ""), role: "cell", style: look }, cell);
  });
  const rows = [];
  for (let i = 0; i < tensor.row_count; i += 1) rows.push(el("div", { class: "heat-row", role: "row" }, cells.slice(i * tensor.column_count, (i + 1) * tensor.column_count)));
  const table = el("div", { class: "heat", role: "table", "aria-label": "Values" }, rows);
  table.style.setProperty("--cell", width + "px");
  return el("div", { class: "pad heat-box" }, table, tensor.cut ? el("div", { class: "muted cut" }, tensor.cut) : "");
}

// Breakpoints: the table below the registers, with a condition for each.

function pointLabel(point) {
  return point.line ? `line ${point.line}` : point.pc >= 0 ? `pc ${point.pc}` : "anywhere";
}

// Stops behind the instruction that wrote the first of them.
const AT_NAN = { line: 0, pc: -1, is_on: true, condition: "isnan(written) or isinf(written)" };

function pointKey(point) {
  return `${point.line}:${point.pc}`;
}

function conditionKey(point) {
  return `${pointKey(point)}:${point.condition}`;
}

// `change(index, null)` removes a breakpoint. What is typed is kept until Enter or leaving the field.
function createPoints(change) {
  const drafts = new Map();
  // The field of each breakpoint in the newest table.
  const fields = new Map();
  return { table };

  function table(points, state, problemOf) {
    fields.clear();
    return el("table", { class: "points", "aria-label": "Breakpoints" }, points.map((point, i) => rows(point, i, state, problemOf(point))));
  }

  function rows(point, i, state, known) {
    const label = pointLabel(point);
    const disc = el("button", { type: "button", class: "bp" + (point.is_on ? "" : " off"), "aria-label": `${label}: switch ${point.is_on ? "off" : "on"}`, "aria-pressed": String(point.is_on), data: { focus: "point" + i }, click: () => change(i, { is_on: !point.is_on }) });
    const remove = el("button", { type: "button", class: "link", "aria-label": `Remove ${label}`, click: () => (drafts.delete(pointKey(point)), change(i, null)) }, "Remove");
    const said = point.is_on ? status(point, state, known) : "off";
    const row = el("tr", { data: { point: label } }, el("td", { class: "kind" }, disc), el("td", { class: "m" }, label), el("td", { class: "cond" }, field(point, i, known)), el("td", { class: "muted" }, said), el("td", { class: "r" }, remove));
    return known && known.problem ? [row, problemRow(point, known)] : [row];
  }

  function field(point, i, known) {
    const key = pointKey(point);
    const commit = () => {
      // A field loses the focus while it is taken off the page, too: what it holds lives on in the new table.
      if (fields.get(key) !== input) return;
      const text = input.value.trim();
      drafts.delete(key);
      if (text !== point.condition) change(i, { condition: text });
    };
    const onKey = (event) => {
      event.stopPropagation();
      if (event.key === "Enter") commit();
      if (event.key !== "Escape") return;
      drafts.delete(key);
      input.value = point.condition;
      input.blur();
    };
    const input = el("input", {
      type: "text", class: "m", maxlength: 400, spellcheck: "false", autocomplete: "off", placeholder: "if, such as i > 3", "aria-label": `Condition of ${pointLabel(point)}`,
      "aria-invalid": known && known.problem ? "true" : null, title: "Stops only where this holds: variables, %3, x.shape[0], isnan(x), written, hits, depth, time. Enter takes it.",
      data: { focus: "condition" + i }, input: () => drafts.set(key, input.value), keydown: onKey, blur: commit,
    });
    input.value = drafts.has(key) ? drafts.get(key) : point.condition;
    fields.set(key, input);
    return input;
  }

  function status(point, state, known) {
    if (point.condition && !known) return "looking";
    if (!known) return hitText(state.hits(point));
    if (known.problem && !known.met) return "never stops";
    const first = known.first >= 0 ? `, ${known.stops === 1 ? "at" : "first at"} time ${known.first}` : "";
    return known.met ? `stops at ${known.stops} of ${known.met}${first}` : "not hit";
  }

  function hitText(times) {
    if (!times.length) return "not hit";
    return times.length === 1 ? `hit once, at time ${times[0]}` : `hit ${times.length} times, first at time ${times[0]}`;
  }

  function problemRow(point, known) {
    const problem = known.problem;
    const [from, to] = [problem.column, Math.max(problem.column + 1, problem.end_column)].map((column) => unitOf(point.condition, column));
    const text = point.condition + " ";
    const count = known.problem_count ? el("span", { class: "muted" }, ` At ${known.problem_count} of ${known.met} hits; it does not stop there.`) : "";
    return el("tr", { class: "problem" }, el("td"), el("td", { colspan: 4 },
      el("div", { class: "m" }, text.slice(0, from), el("span", { class: "sq-error" }, text.slice(from, Math.max(from + 1, to))), text.slice(Math.max(from + 1, to))),
      el("div", {}, severitySign(problem.severity), " ", el("code", { title: problem.explanation }, problem.code), " ", prose(problem.message), problem.hint ? [" · ", prose(problem.hint)] : "", count)));
  }
}

// A change to the stopped program: what a variable or a register gets, and the button that runs on with it.

const FILE_BYTES = 24 * 1024 * 1024;
const CHANGEABLE = /^(tensor|tensor0|prim|shape|string|tuple|adt|unwritten)$/;
const FILLS = ["zeros()", "ones()", "random(0)", "normal(0)"];

// `run` gets `{ text, is_in_place, content }`; `show` draws the pane `side`, which the form is in, again.
function createChange(side, run, show) {
  let draft = null;
  return { opener, form, refuse, open, close: () => (draft = null) };

  function refuse(fault) {
    if (!draft || !fault) return;
    draft.problem = fault.problem;
    requestAnimationFrame(reveal);
  }

  function redraw(focus) {
    show();
    const field = side.querySelector(`[data-focus="${focus}"]`);
    if (field) field.focus({ preventScroll: true });
    reveal();
  }

  function reveal() {
    const box = side.querySelector(".change");
    if (box) box.scrollIntoView({ block: "nearest" });
  }

  function open(target, element) {
    const place = element ? `${target.name}[${element.join(", ")}]` : target.name;
    draft = { key: target.key, place, value: "", isInPlace: false, file: null, problem: null };
    redraw("change-value");
  }

  function opener(target, value) {
    if (!target || !CHANGEABLE.test(value.kind)) return "";
    const isOpen = draft && draft.key === target.key;
    const act = () => (isOpen ? ((draft = null), redraw("change-open")) : open(target));
    return el("button", { type: "button", class: "link", "aria-expanded": String(Boolean(isOpen)), data: { focus: "change-open" }, click: act }, "Change");
  }

  function form(target, value) {
    if (!draft || !target || draft.key !== target.key) return [];
    const isTensor = /^(tensor|tensor0|unwritten)$/.test(value.kind);
    const field = (name, label, hint) => {
      const input = el("input", { type: "text", class: "m", maxlength: 400, spellcheck: "false", autocomplete: "off", placeholder: hint, "aria-label": label, data: { focus: `change-${name}` }, input: () => ((draft[name] = input.value), (draft.problem = null)), keydown: onKey });
      input.value = draft[name];
      return input;
    };
    const hint = isTensor ? `0.5, nan, ${target.name} * 2` : value.short;
    const line = el("div", { class: "change-line" }, field("place", "What is changed", ""), el("span", { class: "m" }, "="), field("value", "Its value", hint), button("Run on with this value", "p", "", submit, { data: { focus: "change-run" } }));
    return [el("div", { class: "change", role: "group", "aria-label": "Change a value" }, line, isTensor ? [fills(target), inPlace()] : "", problem())];
  }

  function onKey(event) {
    event.stopPropagation();
    if (event.key === "Enter") submit();
    if (event.key !== "Escape") return;
    draft = null;
    redraw("change-open");
  }

  function fills(target) {
    const put = (text) => () => ((draft.value = text), (draft.file = null), redraw("change-value"));
    const texts = [...FILLS, `${target.name} * 2`];
    const file = el("label", { class: "btn t file" }, draft.file ? draft.file.name : ".npy …", el("input", { type: "file", accept: ".npy", class: "sr", "aria-label": "A .npy file", data: { focus: "change-file" }, change: (event) => take(event.target.files[0]) }));
    return el("div", { class: "change-line" }, texts.map((text) => button(text, "t m", "", put(text), { data: { focus: `fill-${text}` } })), file);
  }

  function inPlace() {
    const box = el("input", { type: "checkbox", data: { focus: "change-in-place" }, change: () => (draft.isInPlace = box.checked) });
    box.checked = draft.isInPlace;
    return el("label", { class: "change-line muted" }, box, "In place: tensors that share its memory change, too");
  }

  async function take(file) {
    if (!file) return;
    if (file.size > FILE_BYTES) {
      draft.problem = { message: `The file has more than ${FILE_BYTES / 1024 / 1024} MB.`, code: "", severity: "error" };
      redraw("change-file");
      return;
    }
    const url = await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.readAsDataURL(file);
    });
    draft.file = { name: file.name, content: url.slice(url.indexOf(",") + 1) };
    draft.value = "file()";
    redraw("change-run");
  }

  function problem() {
    const found = draft.problem;
    if (!found) return "";
    return el("div", { class: "change-problem", role: "alert" }, severitySign(found.severity), " ", found.code ? el("code", { title: found.explanation }, found.code) : "", " ", prose(found.message), found.hint ? [" · ", prose(found.hint)] : "");
  }

  function submit() {
    const text = `${draft.place.trim()} = ${draft.value.trim()}`;
    const content = draft.value.trim() === "file()" && draft.file ? draft.file.content : "";
    run({ text, is_in_place: draft.isInPlace, content });
  }
}

// The place in a tensor of the cell of its table that was clicked; further axes are at 0.
function elementAt(cell, value) {
  const table = value.tensor && cell.closest && cell.closest(".heat");
  const index = table ? [...table.querySelectorAll(".cell")].indexOf(cell) : -1;
  if (index < 0) return null;
  const rank = value.type.slice(1, value.type.indexOf(")")).split(",").filter((size) => size.trim()).length;
  const last = [Math.floor(index / value.tensor.column_count), index % value.tensor.column_count];
  return rank ? [...Array(Math.max(0, rank - 2)).fill(0), ...last.slice(-rank)] : null;
}

// Memory: bytes over time, and a row for each storage with the tensors in it; one time axis with the strip below.

const CURVE_HEIGHT = 72;
const LANE_HEIGHT = 17;
// A narrower box has its name beside it.
const WIDE = 0.16;

function createMemory(box, onTime) {
  let model = null;
  let at = 0;
  let dead = [];
  let faults = el("div");
  const now = el("span", { class: "n" });
  const head = el("div", { class: "memory-head" });
  const curve = el("div", { class: "memory-curve", title: "Bytes in use; a click leads to the time" });
  const rows = el("div", { class: "memory-rows", role: "list", "aria-label": "Storages and tensors" });
  const line = el("div", { class: "memory-now", "aria-hidden": "true" });
  const chart = el("div", { class: "memory-chart" }, curve, rows, line);
  box.append(head, chart);
  curve.addEventListener("click", (event) => onTime(timeOf(event)));
  box.addEventListener("keydown", onKey);
  return { setModel, setTime };

  function setModel(next) {
    if (next === model) return;
    model = next;
    const top = rows.scrollTop;
    if (!model) {
      head.replaceChildren(el("span", { class: "muted" }, "Following the memory of the run."));
      curve.replaceChildren();
      rows.replaceChildren();
      return;
    }
    faults = model.faults.length ? el("div", { class: "memory-faults", role: "alert" }, model.faults.slice(0, 20).map(faultLine)) : "";
    const peak = el("button", { type: "button", class: "link", click: () => onTime(model.peak_time) }, "Go to the peak");
    head.replaceChildren(el("div", { class: "memory-line" }, el("span", {}, model.summary), now, peak), key(), faults || "", model.note ? el("div", { class: "muted" }, model.note) : "");
    curve.replaceChildren(el("div", { class: "memory-label muted" }, `peak ${bytes(model.peak_bytes)}`), drawCurve());
    rows.replaceChildren(...model.rows.map(drawRow));
    dead = [];
    const first = rows.querySelector(".memory-box");
    if (first) first.tabIndex = 0;
    rows.scrollTop = top;
    setTime(at);
  }

  function setTime(time) {
    at = time;
    if (!model) return;
    // Set where it is used: on the chart it would restyle every row at every step.
    line.style.left = `calc(20px + (100% - 42px) * ${share(time)})`;
    let last = -1;
    model.times.forEach((from, i) => (last = from <= time ? i : last));
    now.textContent = `${bytes(last < 0 ? 0 : model.sizes[last])} at time ${time}`;
    model.rows.forEach(([, , , start, end], i) => {
      const isDead = time < start || time >= Math.max(end, start + 1);
      if (dead[i] !== isDead) rows.children[i].classList.toggle("dead", (dead[i] = isDead));
    });
  }

  function share(time) {
    return Math.min(1, time / Math.max(1, model.total));
  }

  function key() {
    const entry = (look, text) => el("span", { class: "legend-entry" }, el("span", { class: "memory-key " + look }), text);
    return el("div", { class: "memory-line muted" }, entry("used", "written to last use"), entry("held", "held"), entry("storage", "storage"), model.faults.length ? entry("faulty", "! used too late") : "");
  }

  function faultLine(fault) {
    return el("div", {}, severitySign("error"), " ", prose(fault.message), " ",
      el("button", { type: "button", class: "link", click: () => onTime(fault.write) }, "Step to the write"), " ",
      el("button", { type: "button", class: "link", click: () => onTime(fault.read) }, "Step to the read"));
  }

  function drawCurve() {
    const most = Math.max(1, model.peak_bytes);
    const y = (size) => (CURVE_HEIGHT - 4) * (1 - size / most) + 2;
    let path = "";
    model.times.forEach((time, i) => {
      const x = share(time) * 1000;
      path += i ? `H${x}V${y(model.sizes[i])}` : `M${x},${y(model.sizes[i])}`;
    });
    path += "H1000";
    const first = model.times.length ? share(model.times[0]) * 1000 : 0;
    const area = `${path}V${CURVE_HEIGHT}H${first}Z`;
    const peakX = share(model.peak_time) * 1000;
    return svg("svg", { viewBox: `0 0 1000 ${CURVE_HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": model.summary },
      svg("path", { d: area, fill: "var(--cat0Bg)" }), svg("path", { d: path, fill: "none", stroke: "var(--cat0)", "stroke-width": 1.5, "vector-effect": "non-scaling-stroke" }),
      svg("line", { x1: 0, x2: 1000, y1: y(most), y2: y(most), stroke: "var(--line2)", "stroke-dasharray": "4 4", "vector-effect": "non-scaling-stroke" }),
      svg("line", { x1: peakX, x2: peakX, y1: 0, y2: CURVE_HEIGHT, stroke: "var(--cat0)", "stroke-dasharray": "2 3", "vector-effect": "non-scaling-stroke" }));
  }

  function drawRow([label, kind, size, start, end, boxes, note]) {
    const lanes = [];
    const isOne = boxes.length === 1;
    const track = el("div", { class: "memory-track" });
    if (kind === "storage") track.append(el("span", { class: "memory-storage", style: place(start, end) }));
    for (const item of boxes) {
      let lane = lanes.findIndex((until) => until <= item[1]);
      if (lane < 0) lane = lanes.length;
      lanes[lane] = Math.max(item[2], item[1] + 1);
      track.append(drawBox(item, lane, label, isOne));
    }
    if (isOne) track.append(beside(boxes[0]));
    track.style.height = `${Math.max(1, lanes.length) * LANE_HEIGHT + 7}px`;
    const where = `${kind} ${label}, ${bytes(size)}, time ${start} to ${end}${note ? ", " + note : ""}`;
    const name = el("div", { class: "memory-label", title: where }, el("span", { class: "m" }, shortName(label)), el("span", { class: "muted" }, bytes(size)));
    return el("div", { class: "memory-row", role: "listitem", "aria-label": where }, isOne ? "" : name, track);
  }

  // The name of the only tensor of a row, and its size: inside if it fits, else behind it or before it.
  function beside([label, start, end, , , size]) {
    const isWide = share(end) - share(start) > WIDE;
    const style = isWide || share(end) < 1 - WIDE ? { left: `calc(${share(isWide ? start : end) * 100}% + 6px)` } : { right: `calc(${100 - share(start) * 100}% + 6px)` };
    return el("span", { class: "memory-name", style, "aria-hidden": "true" }, el("span", { class: "m" }, shortName(label)), " ", el("span", { class: "muted" }, bytes(size)));
  }

  function drawBox([label, start, end, write, use, size, offset, line_, note, isFaulty], lane, storage, isOne) {
    const inside = storage === label ? "" : ` in ${storage} at byte ${offset}`;
    const used = use >= 0 ? `last used at ${use}` : "never used";
    const words = `${label}: ${note}, ${bytes(size)}${inside}, time ${start} to ${end}, ${used}${line_ ? `, line ${line_}` : ""}${isFaulty ? ", used after its storage was taken again" : ""}`;
    const from = write >= 0 ? write : start;
    const shape = el("button", { type: "button", class: "memory-box" + (isFaulty ? " faulty" : ""), tabindex: -1, title: words, "aria-label": words, style: { ...place(start, end), top: `${4 + lane * LANE_HEIGHT}px` }, data: { start }, click: () => onTime(from) }, isOne ? "" : el("span", { class: "m" }, (isFaulty ? "! " : "") + shortName(label)));
    const life = Math.max(1, end - start);
    const part = (time) => `${Math.min(100, Math.max(0, (100 * (time - start)) / life))}%`;
    shape.style.setProperty("--from", part(from));
    shape.style.setProperty("--to", part(Math.max(from, use) + 1));
    return shape;
  }

  function place(start, end) {
    return { left: `${share(start) * 100}%`, width: `max(3px, ${(share(Math.max(end, start)) - share(start)) * 100}%)` };
  }

  // The tensors are one stop of the tab order; the arrows lead from one to the next.
  function onKey(event) {
    const all = [...rows.querySelectorAll(".memory-box")];
    const index = all.indexOf(event.target);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = index < 0 ? null : event.key === "Home" ? all[0] : event.key === "End" ? all[all.length - 1] : all[index + step];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    all[index].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function timeOf(event) {
    const rect = curve.querySelector("svg").getBoundingClientRect();
    return Math.round(Math.min(1, Math.max(0, (event.clientX - rect.left) / rect.width)) * model.total);
  }
}

function shortName(name) {
  return name.slice(name.indexOf(".") + 1);
}

function bytes(count) {
  const unit = count < 1e3 ? 0 : count < 1e6 ? 1 : count < 1e9 ? 2 : 3;
  return unit ? `${(count / 1000 ** unit).toFixed(1)} ${["B", "kB", "MB", "GB"][unit]}` : `${count} B`;
}

// Flame strip and slider on one time axis.

const AXIS_LEFT = 21;
const TICK_GAP = 54;
const STRIP_HEIGHT = 88;

function createTimeline(box, onTime) {
  let run = null;
  let points = [];
  let at = 0;
  // The frames are drawn once for a run and a width; a step draws the axis only.
  let drawn = "";
  const frames = svg("g");
  const axisBox = svg("g");
  const picture = svg("svg", { "aria-hidden": "true" }, frames, axisBox);
  box.append(picture);
  box.setAttribute("role", "slider");
  box.setAttribute("aria-label", "Time");
  box.tabIndex = 0;
  box.addEventListener("pointerdown", onDown);
  // The width is kept: asking for it at a step would cost a layout.
  let wide = 0;
  new ResizeObserver(([entry]) => {
    wide = entry.contentRect.width;
    if (run) draw();
  }).observe(box);
  return { setRun, setTime };

  function setRun(next) {
    run = next;
    drawn = "";
    box.setAttribute("aria-valuemin", "0");
    box.setAttribute("aria-valuemax", String(run.total));
  }

  function setTime(time, hitTimes) {
    at = time;
    points = hitTimes;
    box.setAttribute("aria-valuenow", String(time));
    box.setAttribute("aria-valuetext", `time ${time} of ${run.total}`);
    draw();
  }

  function scale() {
    const width = Math.max(200, wide - 2 * AXIS_LEFT);
    return (time) => AXIS_LEFT + (width * time) / Math.max(1, run.total);
  }

  function draw() {
    if (!wide) return;
    const x = scale();
    const deep = Math.max(1, ...run.flame.map((span) => span[3] + 1));
    const rowHeight = Math.min(22, STRIP_HEIGHT / deep);
    const axis = 8 + Math.max(2 * 22, deep * rowHeight) + 10;
    if (drawn !== `${wide}`) {
      drawn = `${wide}`;
      frames.replaceChildren(...run.flame.map((span) => flame(span, x, rowHeight)));
      picture.setAttribute("width", wide);
      picture.setAttribute("height", axis + 26);
    }
    const out = [];
    out.push(svg("rect", { x: x(0), y: axis - 2, width: x(run.total) - x(0), height: 4, rx: 2, fill: "var(--line2)" }));
    out.push(svg("rect", { x: x(0), y: axis - 2, width: x(at) - x(0), height: 4, rx: 2, fill: "var(--accent)" }));
    for (const time of ticks(x)) {
      const isNow = time === at;
      out.push(svg("rect", { x: x(time) - 1, y: axis - 6, width: 2, height: 12, fill: "var(--text3)" }));
      out.push(svg("text", { x: x(time), y: axis + 20, "text-anchor": "middle", "font-size": 10.5, "font-family": "var(--mono)", fill: isNow ? "var(--accent)" : "var(--text3)", "font-weight": isNow ? 700 : 400 }, String(time)));
    }
    for (const time of points.slice(0, 300)) out.push(svg("circle", { cx: x(time), cy: axis, r: 5, fill: "var(--error)" }));
    out.push(svg("line", { x1: x(at), x2: x(at), y1: 0, y2: axis, stroke: "var(--accent)", "stroke-width": 1.5 }));
    out.push(svg("circle", { cx: x(at), cy: axis, r: 8, fill: "var(--accent)", stroke: "var(--chrome)", "stroke-width": 2 }));
    axisBox.replaceChildren(...out);
  }

  function flame([label, start, end, depth, category], x, rowHeight) {
    const left = x(start) + 1;
    const width = Math.max(1.5, x(end) - x(start) - 2);
    const y = 4 + depth * rowHeight;
    const colour = category || "";
    const shape = svg("rect", {
      x: left, y, width, height: rowHeight > 8 ? rowHeight - 4 : rowHeight * 0.8, rx: Math.min(4, rowHeight / 4),
      fill: colour ? `var(--${colour}Bg)` : rowHeight < 4 ? "var(--line2)" : "var(--raised)", stroke: rowHeight < 4 ? "none" : colour ? `var(--${colour})` : "var(--line2)",
    });
    const room = Math.floor((width - 12) / 6.7);
    const text = rowHeight >= 14 && room >= 3 ? (label.length > room ? label.slice(0, room - 1) + "…" : label) : "";
    const name = text && svg("text", { x: left + 7, y: y + rowHeight / 2 + 2, "font-size": 11, "font-family": "var(--mono)", fill: colour ? `var(--${colour})` : "var(--text2)" }, text);
    return svg("g", {}, svg("title", {}, `${label}, time ${start} to ${end}`), shape, name);
  }

  function ticks(x) {
    const perTick = (TICK_GAP * run.total) / Math.max(1, x(run.total) - x(0));
    const power = 10 ** Math.floor(Math.log10(Math.max(1, perTick)));
    const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= perTick) || 1);
    const out = [];
    for (let time = 0; time <= run.total; time += step) if (run.total - time >= step || time === run.total) out.push(time);
    if (out[out.length - 1] !== run.total) out.push(run.total);
    if (!out.includes(at) && step > 1) return out.filter((time) => Math.abs(x(time) - x(at)) > 34).concat(at);
    return out;
  }

  function timeOf(event) {
    const rect = box.getBoundingClientRect();
    const x = scale();
    const share = (event.clientX - rect.left - x(0)) / (x(run.total) - x(0));
    return Math.round(Math.min(1, Math.max(0, share)) * run.total);
  }

  function onDown(event) {
    if (!run || event.button !== 0) return;
    onTime(timeOf(event));
    const move = (e) => onTime(timeOf(e));
    const up = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  }
}

// Stepper: both listings, toolbar, registers and time in one component, so that a step never waits for the server.

const SYNC_DELAY = 250;
// Of a deeper stack only the newest frames are marked in the listings.
const FRAMES_MARKED = 200;
const STEP_BY = [["binding", "binding"], ["instruction", "instruction"]];

function createStepper(root, tell) {
  const head = el("div", { class: "ph" });
  const toolbar = el("div", { class: "toolbar", role: "toolbar", "aria-label": "Stepping" });
  const sourceBox = el("div", { class: "listing source", role: "region" });
  const pcHead = el("div", { class: "ph top listing-head" });
  const pcBox = el("div", { class: "listing instructions", role: "region" });
  const memoryBox = el("div", { class: "memory", role: "region", "aria-label": "Memory", tabindex: 0 });
  const now = el("div", { class: "now", "aria-live": "polite", role: "status" });
  const strip = el("div", { class: "strip" });
  // Both stay, and so does how far they are scrolled: reading or writing that at a step would cost a layout.
  const upper = el("div", { class: "upper" });
  const lower = el("div", { class: "lower" });
  const side = el("section", { class: "pane side", "aria-label": "State" }, upper, lower);
  root.append(el("div", { class: "split" }, el("section", { class: "pane" }, head, toolbar, memoryBox, sourceBox, pcHead, pcBox, now, strip), side));
  const source = createListing(sourceBox, "Source", "Breakpoint at line", (line) => togglePoint({ line }), setCursor, (line) => conditionAt({ line }));
  const listing = createListing(pcBox, "Instructions", "Breakpoint at pc", (pc) => togglePoint({ pc }), () => undefined, (pc) => conditionAt({ pc }));
  const finders = [[source, "the source"], [listing, "the instructions"]].map(([list, label]) => createFind(root, label, { texts: list.texts, reveal: list.revealLine, redraw: list.refresh }));
  source.setMarks(finders[0].marks);
  listing.setMarks(finders[1].marks);
  const pcWhere = el("span", { class: "n" });
  pcHead.append(el("b", {}, "Instructions"), pcWhere, el("span", { class: "sp" }), finders[1].element, el("span", { class: "n" }, el("span", { class: "exkey" }), " executed"));
  const pointTable = createPoints(changePoint);
  const registers = createRegisters();
  const changer = createChange(side, (change) => report("change", { ...change, depth: target.depth }), () => show(at, newAfter));
  let target = null;
  const timeline = createTimeline(strip, go);
  const memory = createMemory(memoryBox, go);
  let run = null;
  let state = null;
  let view = {};
  let at = 0;
  let newAfter = -1;
  let by = "binding";
  let points = [];
  let cursor = 0;
  let chosen = "";
  const buttons = {};

  const sync = later(SYNC_DELAY, () => report("state"));
  onKeys("stepper", root, onKey);
  strip.addEventListener("keydown", onSliderKey);
  return { setModel, setView };

  function report(kind, extra) {
    sync.cancel();
    tell({ kind, at, by, line: cursor, breakpoints: points, ...extra });
  }

  function setModel(next) {
    const isSame = run && run.title === next.title && run.total === next.total;
    run = { ...next, instructions: next.instructions.map(([text, pc = -1, line = 0]) => ({ text, pc, line })) };
    state = createRunState(run);
    source.build(run.source, (line) => line.number || -1, (line) => line.number);
    listing.build(run.instructions, (line) => line.pc, (line) => line.pc);
    for (const find of finders) find.reset();
    timeline.setRun(run);
    if (!isSame) chosen = "";
    changer.close();
    at = Math.min(Math.max(at, state.first), state.newest);
    root.dataset.total = String(run.total);
    buildToolbar();
  }

  function setView(next, take) {
    view = next;
    state.setEvaluated(view.hits || []);
    changer.refuse(view.fault);
    root.dataset.tab = view.tab;
    memory.setModel(view.memory || null);
    const wantedPoints = take("breakpoints");
    if (wantedPoints) points = wantedPoints;
    const wantedBy = take("by");
    if (wantedBy) by = wantedBy;
    const wanted = take("at");
    if (wanted !== undefined && wanted !== null) show(wanted, at);
    else show(at, newAfter);
    drawHead();
  }

  function drawHead() {
    const names = view.tabs.length ? tabs(view.tabs, view.tab || view.tabs[0][0], (id) => report("tab", { command: id })) : el("b", {}, "Source");
    head.replaceChildren(names, el("span", { class: "sp" }), finders[0].element, el("span", { class: "n" }, run.title));
  }

  function buildToolbar() {
    const make = (name, text, look, key, act, title) => (buttons[name] = button(text, look, key, act, { title, data: { step: name }, "aria-keyshortcuts": key || null }));
    buttons.by = segments("Step by", STEP_BY, by, setBy);
    buttons.time = el("span", { class: "m time" });
    toolbar.replaceChildren(
      make("start", "⇤", "i", "", () => go(0), "Start"),
      make("back", "‹ Back", "", "b", () => step("back"), "Back (b)"),
      make("over", "Over", "", "n", () => step("over"), "Over (n, F10)"),
      make("into", "In", "", "i", () => step("into"), "In (i, F11)"),
      make("out", "Out", "", "o", () => step("out"), "Out (o, Shift+F11)"),
      make("continue", "Continue", "p", "F8", () => run_(1), "Continue to the next breakpoint (F8)"),
      make("end", "⇥", "i", "", () => go(run.total), "End"),
      el("span", { class: "sp" }), el("span", { class: "muted stepby" }, "Step by"), buttons.by, buttons.time);
    buttons.start.setAttribute("aria-label", "Start");
    buttons.end.setAttribute("aria-label", "End");
  }

  function setBy(id) {
    by = id;
    show(at, newAfter);
    sync();
  }

  // Moves, or asks Python for the window that holds the time.
  function go(time) {
    const target = Math.min(Math.max(time, 0), run.total);
    if (target === at) return;
    if (!state.holds(target)) {
      report("need", { to: target, command: "at" });
      return;
    }
    show(target, target > at ? at : target - 1, true);
    sync();
  }

  function step(command) {
    const target = state.jump(by, command, at);
    if (target >= 0) go(target);
  }

  function run_(direction) {
    const isKnown = points.every((point) => !point.is_on || !point.condition || state.evaluated(point));
    const hit = isKnown ? state.search(at, direction, points) : -1;
    if (!isKnown) report("need", { to: at, command: direction > 0 ? "continue" : "continue_back" });
    else if (hit >= 0) go(hit);
    else if (direction > 0 && state.last < run.total) report("need", { to: at, command: "continue" });
    else if (direction < 0 && state.first > 0) report("need", { to: at, command: "continue_back" });
    else go(direction > 0 ? run.total : 0);
  }

  function toCursor() {
    const target = state.search(at, 1, [{ line: cursor, is_on: true }]);
    if (cursor && target >= 0) go(target);
  }

  function setCursor(line) {
    cursor = line;
    show(at, newAfter);
    sync();
  }

  // A line without code passes its breakpoint on to the next line that has some.
  function togglePoint({ line = 0, pc = -1 }) {
    const target = line ? state.breakable.find((n) => n >= line) || 0 : 0;
    if (line && !target) return;
    const found = points.findIndex((point) => (target ? point.line === target : point.pc === pc && !point.line));
    if (found >= 0) points = points.filter((_, i) => i !== found);
    else return addPoint({ line: target, pc: target ? -1 : pc, is_on: true, condition: "" });
    show(at, newAfter);
    sync();
  }

  function addPoint(point) {
    points = [...points, point];
    show(at, newAfter);
    sync();
  }

  // Makes a breakpoint if there is none, and leads into the field of its condition.
  function conditionAt({ line = 0, pc = -1 }) {
    const target = line ? state.breakable.find((n) => n >= line) || 0 : 0;
    if (line && !target) return;
    const isThere = (point) => (target ? point.line === target : point.pc === pc && !point.line);
    if (!points.some(isThere)) togglePoint({ line, pc });
    const field = side.querySelector(`[data-focus="condition${points.findIndex(isThere)}"]`);
    if (field) field.focus();
  }

  function changePoint(index, change) {
    points = change ? points.map((point, i) => (i === index ? { ...point, ...change } : point)) : points.filter((_, i) => i !== index);
    show(at, newAfter);
    sync();
  }

  function show(time, from, flash = false) {
    at = Math.min(Math.max(time, state.first), state.newest);
    newAfter = from;
    const frames = state.framesAt(at);
    markLines(frames);
    drawNow();
    drawSide(frames, flash);
    if (view.tab === "memory") memory.setTime(at);
    timeline.setTime(at, points.filter((point) => point.is_on).flatMap((point) => state.hits(point)));
    for (const [name, command] of [["back", "back"], ["over", "over"], ["into", "into"], ["out", "out"]]) {
      buttons[name].disabled = state.jump(by, command, at) < 0;
    }
    buttons.start.disabled = at === 0;
    buttons.end.disabled = buttons.continue.disabled = at === run.total;
    buttons.time.textContent = `time ${at} of ${run.total}`;
    for (const choice of buttons.by.children) choice.setAttribute("aria-pressed", String(choice.dataset.id === by));
    root.dataset.at = String(at);
    root.dataset.line = String(frames.length ? frames[frames.length - 1].line : 0);
    root.dataset.depth = String(frames.length);
    const shared = state.event(at);
    window.dispatchEvent(new CustomEvent("relaxscope:time", { detail: { at, line: shared ? shared[2] : 0, pc: shared ? shared[1] : -1 } }));
  }

  function markLines(frames) {
    const lines = new Map();
    const pcs = new Map();
    const of = (map, key) => map.get(key) || map.set(key, {}).get(key);
    const top = frames.length - 1;
    const isOver = at === run.total;
    const mark = (state, name) => (state.cur || state.sel ? state : (state[name] = true));
    const deepest = Math.max(0, frames.length - FRAMES_MARKED);
    for (let depth = top; depth >= deepest && !(isOver && run.outcome === "returned"); depth -= 1) {
      const name = depth === top ? "cur" : "sel";
      mark(of(lines, frames[depth].line), name);
      mark(of(pcs, frames[depth].pc), name);
    }
    for (const point of points) {
      if (point.line) of(lines, point.line).point = point;
      else of(pcs, point.pc).point = point;
    }
    if (cursor) of(lines, cursor).cursor = true;
    source.mark(lines, (line) => state.firstTimeOfLine.has(line) && state.firstTimeOfLine.get(line) < at, (line) => chipOf(frames, line));
    listing.mark(pcs, (pc) => state.firstTimeOfPc.has(pc) && state.firstTimeOfPc.get(pc) < at, () => null);
    if (top >= 0) {
      source.reveal(frames[top].line);
      listing.reveal(frames[top].pc);
    }
    const name = top >= 0 ? run.functions[frames[top].function].name : "";
    const where = isOver || top < 0 ? "at the end" : `before ${frames[top].pc} in @${name}`;
    pcWhere.textContent = where;
  }

  // At most one chip per line: the value written last by the newest frame that has one there.
  function chipOf(frames, line) {
    const top = frames.length - 1;
    for (let depth = top; depth >= Math.max(0, frames.length - FRAMES_MARKED); depth -= 1) {
      const indexes = state.registersByLine(frames[depth].function).get(line);
      const found = indexes && chipIn(frames[depth], indexes, depth < top, line);
      if (found) return found;
    }
    return null;
  }

  function chipIn(frame, indexes, isWaiting, line) {
    const registers = run.functions[frame.function].registers;
    let newest = null;
    for (const index of indexes) {
      const register = registers[index];
      const value = run.values[frame.registers[index]];
      const time = frame.times[index] || 0;
      if (value && !register.is_hidden) {
        if (!newest || newest.time <= time) newest = { time, text: inlineText(value, register), isNew: time > newAfter && time > 0 };
      } else if (isWaiting && line === frame.line && register.variable && !newest) {
        newest = { time: -1, text: `${register.type || register.variable}, being computed`, isNew: false };
      }
    }
    return newest;
  }

  function drawNow() {
    const isOver = at === run.total;
    const problem = isOver ? run.problem : null;
    const event = state.event(at);
    const text = isOver ? run.end : event[5] || `\`${run.functions[event[0]].name}\`, line ${event[2]}, pc ${event[1]}.`;
    now.classList.toggle("error", Boolean(problem));
    now.replaceChildren(el("b", {}, "Now: "), ...(problem ? stopped(problem) : prose(text)));
  }

  function stopped(problem) {
    const hint = problem.hint ? [" · ", ...prose(problem.hint)] : [];
    const line = problem.line ? [" ", goToLine(problem.line)] : [];
    return [severitySign(problem.severity), " ", el("code", { title: problem.explanation }, problem.code), " ", ...prose(problem.message), ...hint, ...line];
  }

  function goToLine(line) {
    return el("button", { type: "button", class: "link", click: () => source.reveal(line) }, `Go to line ${line}`);
  }

  function drawSide(frames, flash) {
    const tree = root.getRootNode();
    const holder = tree.activeElement;
    const focused = holder && holder.dataset.focus;
    const caret = holder && holder.tagName === "INPUT" ? [holder.selectionStart, holder.selectionEnd] : null;
    const options = { by, newAfter, flash, chosen, onChoose: choose, onLine: (line) => line && source.reveal(line) };
    refill(upper,
      el("div", { class: "ph" }, el("b", {}, "Call stack"), el("span", { class: "n" }, frames.length ? "newest first" : "empty")),
      stackTable(run, frames, (frame) => { source.reveal(frame.line); listing.reveal(frame.pc); }),
      el("div", { class: "ph top tight" }, el("b", {}, "Registers"), el("span", { class: "n" }, `${frames.length} frame${frames.length === 1 ? "" : "s"}`)),
      frames.length ? registers(run, frames, options) : el("div", { class: "pad muted" }, "The run is over: no frame is left. Step back to see its registers."),
      valuePane(frames));
    refill(lower, pointsPane(), outputPane());
    const again = focused && side.querySelector(`[data-focus="${focused}"]`);
    if (again) again.focus({ preventScroll: true });
    if (again && caret && again.setSelectionRange) again.setSelectionRange(...caret);
  }

  function refill(box, ...children) {
    settle(box, children.flat(3).filter(Boolean));
  }

  function choose(key) {
    chosen = chosen === key ? "" : key;
    show(at, newAfter);
    const [depth, index] = key.split(".").map(Number);
    const frame = state.framesAt(at)[depth];
    const register = frame && run.functions[frame.function].registers[index];
    if (register && register.node) report("select", { node: register.node });
    if (register && register.node) shareSelection(register.node, root);
  }

  // The chosen register, or the one written last.
  function shownRegister(frames) {
    const [depth, index] = chosen ? chosen.split(".").map(Number) : [-1, -1];
    if (frames[depth] && frames[depth].registers[index] >= 0) return [frames[depth], index];
    let best = null;
    for (const frame of frames.slice(-FRAMES_SHOWN)) {
      frame.registers.forEach((value, i) => {
        const time = frame.times[i] || 0;
        const shows = value >= 0 && run.functions[frame.function].registers[i] && run.values[value].kind !== "void";
        if (shows && (!best || time >= best[2])) best = [frame, i, time];
      });
    }
    return best;
  }

  function valuePane(frames) {
    const found = shownRegister(frames);
    if (!found) return [];
    const [frame, index] = found;
    const value = run.values[frame.registers[index]];
    const written = frame.times[index];
    const register = run.functions[frame.function].registers[index];
    target = targetOf(frames.indexOf(frame), frame, index);
    const body = valueBody(run, value);
    body.addEventListener("dblclick", (event) => openCell(event, value));
    const onWriter = written > state.first ? () => go(written) : null;
    return [el("div", { class: "ph top tight" }, valueHead(value, register, onWriter), changer.opener(target, value)), changer.form(target, value), body];
  }

  // A name that several registers have does not say which of them it is.
  function targetOf(depth, frame, index) {
    const registers = run.functions[frame.function].registers;
    const name = registers[index].variable;
    const isOne = name && registers.filter((register) => register.variable === name).length === 1;
    return { key: `${depth}.${index}`, depth, name: isOne ? name : registers[index].name };
  }

  function openCell(event, value) {
    const place = elementAt(event.target, value);
    if (place) changer.open(target, place);
  }

  function pointsPane() {
    const hint = points.length ? String(points.length) : "click a line's number; right click: with a condition";
    const atNan = points.some((point) => pointKey(point) === pointKey(AT_NAN)) ? "" : button("Stop at NaN", "t", "", () => addPoint(AT_NAN), { title: "Stop behind the instruction that wrote a NaN or an infinity", data: { focus: "nan" } });
    const head_ = el("div", { class: "ph top tight" }, el("b", {}, "Breakpoints"), el("span", { class: "n" }, hint), el("span", { class: "sp" }), atNan);
    return [head_, points.length ? pointTable.table(points, state, state.evaluated) : ""];
  }

  function outputPane() {
    const shown = run.output.filter(([time]) => time <= at);
    const count = run.output.length ? `${shown.length} of ${run.output.length} lines; a line leads to its time` : "none";
    const lines = shown.slice(-200).map(([time, text]) => el("div", {}, el("button", { type: "button", class: "link m", click: () => go(time) }, `time ${time}`), text));
    return [el("div", { class: "ph top tight" }, el("b", {}, "Output"), el("span", { class: "n" }, count)), el("div", { class: "code out" }, lines)];
  }

  function onKey(event) {
    const act = {
      n: () => step("over"), i: () => step("into"), o: () => step("out"), b: () => step("back"), B: () => step("back_over"), ".": toCursor,
      F9: () => (event.shiftKey ? conditionAt : togglePoint)({ line: cursor || Number(root.dataset.line) }), "[": () => run_(-1), "]": () => run_(1), F8: () => run_(1), F10: () => step("over"), F11: () => step(event.shiftKey ? "out" : "into"),
      Escape: () => (chosen = "", show(at, newAfter)),
    }[event.key];
    if (!act || !run) return false;
    act();
    return true;
  }

  function onSliderKey(event) {
    const target = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: run.total, PageDown: at + 10, PageUp: at - 10 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    go(target);
  }
}

export default function (args) {
  mount(args, CSS, createStepper);
}
