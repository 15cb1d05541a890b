// Two texts side by side with the pass's head, and its rewrites and remarks.

const VALUE_SIGN = { same: ["✓", ""], different: ["✕", "removed"], "stops alike": ["!", "warning"], "not comparable": ["?", "warning"] };
// Pixels of a side beside its text: number, sign, padding and the bar that scrolls.
const BESIDE_TEXT = 86;
// Places in a line: its number, its mark, its tokens and the node that it leads to.
const [TOKENS, NODE] = [2, 3];
// In a narrower pane the views are a list to choose from.
const TABS_WIDTH = 620;
// Room behind a change that was behind the right edge, and how many marks of a side are looked at for it.
const CHANGE_MARGIN = 60;
const MARKS_SEEN = 200;
const REMARK_TONE = { applied: "added", missed: "warning", note: "" };

function createDiff(root, tell) {
  const head = el("div", { class: "ph" });
  const scrub = el("div", { class: "scrub" });
  const body = el("div", { class: "pane", style: { flex: "1" } });
  root.append(head, scrub, body);
  let model = null;
  let view = {};
  let selected = "";
  let open = new Set();
  let halves = [];
  let items = [];
  let isWrapping = true;
  let columns = 0;
  new ResizeObserver(() => view.tabs && drawHead()).observe(root);
  new ResizeObserver(() => isWrapping && halves.length && roomFor() !== columns && drawLines()).observe(root);
  onKeys("diff", root, (event) => event.key === "w" && halves.length > 0 && (toggleWrap(), true));
  onSharedSelection(root, (node) => mark(node, true));
  return { setModel, setView };

  function setModel(next) {
    model = next;
    open = new Set();
  }

  function setView(next, take) {
    const isDrawn = next.tab !== "values" && view.tab === next.tab && body.firstChild && root.dataset.drawn === root.dataset.rev && view.problems.length === next.problems.length;
    view = next;
    const wanted = take("node");
    if (wanted !== undefined) selected = wanted;
    drawHead();
    drawScrub();
    if (!isDrawn) drawBody();
    mark(selected, wanted !== undefined);
  }

  function drawHead() {
    head.hidden = !view.title;
    head.replaceChildren(el("b", {}, view.title), el("span", { class: "n" }, view.summary), el("span", { class: "sp" }),
      view.tabs.length ? (root.clientWidth < TABS_WIDTH ? choice : segments)("View", view.tabs, view.tab, (id) => tell({ kind: "tab", command: id, node: selected })) : "");
  }

  function drawScrub() {
    scrub.hidden = !view.stages.length;
    if (!view.stages.length) return;
    const go = (index) => tell({ kind: "stage", stage: index, node: selected });
    const place = view.stages.findIndex(([index]) => index === view.stage);
    const near = (by) => view.stages[place + by];
    const arrow = (text, label, by) => button(text, "i", "", () => near(by) && go(near(by)[0]), { "aria-label": label, disabled: !near(by) });
    scrub.replaceChildren(
      arrow("‹", "Stage before", -1),
      el("div", { class: "track", role: "group", "aria-label": "Stages" }, view.stages.map(([index, name, isChanged]) => el("button", {
        type: "button", class: "stop" + (isChanged ? " changed" : ""), title: `${index} ${name}${isChanged ? ", changed" : ""}`,
        "aria-label": `Stage ${index}, ${name}${isChanged ? ", changed" : ", unchanged"}`, "aria-current": index === view.stage ? "step" : null, click: () => go(index),
      }))),
      arrow("›", "Stage after", 1),
      el("span", { class: "muted label" }, `stage ${view.stage} of ${view.stages[view.stages.length - 1][0]}`));
  }

  function drawBody() {
    root.dataset.drawn = root.dataset.rev || "";
    halves = [];
    const draw = { rewrites: drawRewrites, remarks: drawRemarks, values: drawValues, graph: () => [] }[view.tab] || drawSides;
    body.replaceChildren(...draw());
    body.hidden = view.tab === "graph";
  }

  // A pass that failed left nothing to compare: why it failed stands in place of the texts.
  function drawFailed() {
    const lines = view.problems.map((item) => el("div", { class: "problem" }, severitySign(item.severity), " ", el("code", { title: item.explanation }, item.code), " ",
      item.line ? el("span", { class: "muted" }, `line ${item.line}, column ${item.column}: `) : "", prose(item.message), item.hint ? el("div", { class: "sub" }, prose(item.hint)) : ""));
    return [el("div", { class: "items body", role: "region", "aria-label": "Why the pass failed", tabindex: "0" }, el("div", { class: "failed" }, el("b", {}, `${view.title} failed`), lines,
      el("p", { class: "muted" }, "The pipeline stopped here. The module is as it was before this pass, and the passes behind it were not run.")))];
  }

  function drawSides() {
    if (view.problems.some((item) => item.severity === "error")) return drawFailed();
    const sides = el("div", { class: "sides" });
    for (const which of [0, 1]) {
      const lines = el("div", { class: "code lines" });
      const title = which ? model.after_title : model.before_title;
      const half = el("div", { class: "half", role: "region", "aria-label": title, tabindex: "0" }, el("div", { class: "name" }, el("span", { class: "title", title }, title)), lines);
      const side = { lines, which, texts: [] };
      side.rows = createRows(sides, lines, (place) => drawItem(side, place));
      side.find = createFind(root, title, { texts: () => side.texts, reveal: side.rows.reveal, redraw: side.rows.refresh });
      half.firstChild.append(side.find.element);
      if (which) half.firstChild.append(wrapButton());
      halves.push(side);
      sides.append(half);
    }
    drawLines();
    for (const { find } of halves) find.reset();
    requestAnimationFrame(showChange);
    if (model.is_unchanged && !model.rows.length) return [el("div", { class: "items" }, el("div", { class: "state" }, el("b", {}, "Unchanged"), "This pass leaves the module as it is."))];
    return [sides];
  }

  function wrapButton() {
    return el("button", { type: "button", class: "chip wrap", "aria-pressed": "true", title: "Long lines on several rows (w)", click: toggleWrap }, "Wrap ", el("span", { class: "kbd", "aria-hidden": "true" }, "w"));
  }

  function toggleWrap() {
    isWrapping = !isWrapping;
    drawLines();
    mark(selected, false);
    requestAnimationFrame(showChange);
  }

  function roomFor() {
    return columnsIn(root, root.clientWidth / 2 - BESIDE_TEXT);
  }

  // Lists what is shown: a row of the model and which part of its wrapped lines, or its first row and the count of a fold.
  function drawLines() {
    const folds = new Map(model.folds.filter(([first]) => !open.has(first)).map((fold) => [fold[0], fold[1]]));
    items = [];
    columns = isWrapping ? roomFor() : 0;
    for (let row = 0; row < model.rows.length; row += folds.get(row) || 1) {
      const count = folds.get(row) || 0;
      if (count) items.push([row, count, 0, 0]);
      else for (const shown of rowsOf(row)) items.push([row, 0, ...shown]);
    }
    for (const half of halves) {
      half.texts = items.map(([row, count, part]) => (count || part ? "" : textOf(model.rows[row][half.which])));
      half.rows.set(items.length, isWrapping ? 0 : half.texts.reduce((longest, text) => Math.max(longest, text.length), 0));
    }
    const button = halves[1].lines.parentNode.querySelector(".wrap");
    button.classList.toggle("accent", isWrapping);
    button.setAttribute("aria-pressed", String(isWrapping));
  }

  function textOf(line) {
    return line ? line[TOKENS].map(([text]) => text).join("") : "";
  }

  function rowsOf(row) {
    const sides = model.rows[row].map((line) => [line ? line[TOKENS] : [], partsOf(line)]);
    return shownRows(Math.max(...sides.map(([, parts]) => parts.length)), sides, open.has(`line ${row}`));
  }

  function partsOf(line) {
    return wrapped(textOf(line), isWrapping ? columns : Infinity);
  }

  function drawItem(half, place) {
    const [row, count, part, hidden] = items[place];
    const fold = (key, words) => el("button", { type: "button", class: "fold", "aria-expanded": "false", click: () => expand(key) }, el("span", {}, `⋯ ${words}`));
    if (hidden) return fold(`line ${row}`, `${hidden} more rows of this line`);
    if (!count) return drawLine(model.rows[row][half.which], half.find, part);
    return fold(row, `${count.toLocaleString("en")} unchanged lines`);
  }

  // If all changes of a text are behind its right edge, the nearest one is brought into sight.
  function showChange() {
    for (const { lines } of halves) {
      const half = lines.parentNode;
      const edge = half.getBoundingClientRect().right;
      const behind = [...lines.querySelectorAll(".ln u")].slice(0, MARKS_SEEN).map((mark) => mark.getBoundingClientRect().right - edge);
      half.scrollLeft = behind.length && Math.min(...behind) > 0 ? half.scrollLeft + Math.min(...behind) + CHANGE_MARGIN : half.scrollLeft;
    }
  }

  // A fold is known by its first row, one of a long line by `line` and its row.
  function expand(key) {
    open.add(key);
    drawLines();
    mark(selected, false);
  }

  function drawLine(line, find, part) {
    if (!line) return el("div", { class: part ? "ln hatched" : "ln filler", "aria-hidden": "true" }, el("span", { class: "g" }), el("span", { class: "s" }), el("span", { class: "t" }));
    const [count, change, tokens, node] = line;
    const isPlain = change === "unchanged";
    const parts = partsOf(line);
    const [from, to, hang] = parts[part] || [0, 0, 0];
    const isFirst = part === 0 && count > 0;
    const number = el("span", { class: "g", data: node && isFirst ? { node } : {} }, isFirst ? String(count) : part < parts.length ? "↪" : "");
    if (node && isFirst) number.addEventListener("click", () => choose(node, count));
    const sign = isPlain || !isFirst ? "" : MARK_SIGN[change];
    const hits = find.marks(textOf(line)).map(([start, end, look]) => [start - from, end - from, look]);
    const look = (isPlain ? "" : change) + (node && node === selected ? " sel" : "");
    return el("div", { class: "ln " + look, data: { line: count, node } }, number,
      el("span", { class: "s" }, sign && el("span", { role: "img", "aria-label": change }, sign)), el("span", { class: "t", style: { paddingLeft: hang ? `${hang}ch` : "" } }, markedSpans(tokensBetween(tokens, from, to), hits)));
  }

  function choose(node, line) {
    mark(node, false);
    shareSelection(node, root);
    tell({ kind: "select", node, line });
  }

  function mark(node, isFromOutside) {
    selected = node;
    root.dataset.selected = node;
    const isIts = ([row, count]) => !count && model.rows[row].some((line) => line && line[NODE] === node);
    const place = node && isFromOutside && halves.length ? items.findIndex(isIts) : -1;
    if (place >= 0) halves[0].rows.reveal(place);
    for (const { lines } of halves) for (const row of lines.children) row.classList.toggle("sel", node !== "" && row.dataset.node === node);
  }

  function drawRewrites() {
    const rows = view.rewrites.map((item) => pickable(el("tr", { class: item.node && item.node === selected ? "on" : "" },
      el("td", { class: "m muted r" }, String(item.number)), el("td", { class: "m" }, item.before), el("td", { class: "m" }, item.after), el("td", { class: "muted" }, item.rule), el("td", { class: "muted r" }, item.line ? `line ${item.line}` : "")),
      () => item.node && tell({ kind: "select", node: item.node, line: item.line })));
    return [list("Rewrites", ["#", "Before", "After", "Rule", ""], rows, "No rewrites", "This pass replaced nothing.")];
  }

  function drawRemarks() {
    const rows = view.remarks.map((item) => pickable(el("tr", {},
      el("td", { class: "m muted r" }, String(item.number)), el("td", {}, chip(item.kind, REMARK_TONE[item.kind])), el("td", {}, prose(item.message)), el("td", { class: "muted r" }, item.line ? `line ${item.line}` : "")),
      () => item.nodes.length && tell({ kind: "select", node: item.nodes[0], line: item.line })));
    return [list("Remarks", ["#", "Kind", "Remark", ""], rows, "No remarks", "This pass said nothing about what it did.")];
  }

  function drawValues() {
    const rows = view.values.map((item) => el("tr", { class: item.verdict === "different" ? "unlike" : "" },
      el("td", {}, chip(`${VALUE_SIGN[item.verdict][0]} ${item.verdict}`, VALUE_SIGN[item.verdict][1])), el("td", { class: "m" }, item.name), el("td", { class: "m muted" }, item.type), el("td", {}, item.words), el("td", { class: "muted r" }, item.line ? String(item.line) : "")));
    return [view.values_note ? el("div", { class: "pad muted" }, view.values_note) : "", list("Values", ["Verdict", "Binding", "Type", "Difference", "Line"], rows, "No values", "Neither of the two runs bound a value.")];
  }

  function list(label, names, rows, emptyTitle, emptyText) {
    if (!rows.length) return el("div", { class: "items body" }, el("div", { class: "state" }, el("b", {}, emptyTitle), emptyText));
    return el("div", { class: "items", role: "region", "aria-label": `${label} of this stage`, tabindex: "0" }, el("table", { "aria-label": label }, el("tr", {}, names.map((name) => el("th", {}, name))), rows));
  }
}

export default function (args) {
  mount(args, CSS, createDiff);
}
