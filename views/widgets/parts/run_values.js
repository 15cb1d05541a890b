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
