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
