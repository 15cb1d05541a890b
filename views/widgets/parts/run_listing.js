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
