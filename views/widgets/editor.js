// Code editor: a plain textarea (native caret, undo, input methods) over a highlighted layer.

const MAX_FILE_BYTES = 4 << 20;
const CHANGE_DELAY = 400;
// Typing in a text with more lines takes the browser longer than a user waits.
const TYPED_LINES = 300;
const CARET_DELAY = 120;

function createEditor(root, tell) {
  const head = el("div", { class: "ph" });
  const inner = el("div", { class: "inner" });
  const layerBox = el("div", { class: "layer code", "aria-hidden": "true" });
  const box = el("textarea", {
    spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", "aria-label": "Program text",
    "aria-description": "Tab leaves the editor, Control and Enter run",
  });
  const tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  const field = el("div", { class: "field" }, layerBox, box);
  const edit = el("div", { class: "edit" }, el("div", { class: "gutter", "aria-hidden": "true" }, inner), field);
  const problemsHead = el("div", { class: "ph top" });
  const problemsBody = el("div", { class: "problems" });
  root.append(head, edit, problemsHead, problemsBody, tip);
  const layer = createLayer(layerBox, inner);
  let model = null;
  let view = {};
  let reported = null;
  let openProblem = -1;

  const report = (extra) => {
    reported = box.value;
    tell({ text: box.value, node: layer.state.selected, ...extra });
  };
  const reportText = later(CHANGE_DELAY, () => report({ kind: "text" }));
  const reportCaret = later(CARET_DELAY, selectAtCaret);
  const redraw = () => layer.draw(box);

  // One redraw per frame: an insertion of many lines sends an event for each of them.
  let isDue = false;
  box.addEventListener("input", () => {
    reportText();
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      layer.setText(box.value);
      redraw();
    });
  });
  box.addEventListener("scroll", redraw);
  box.addEventListener("click", () => reportCaret());
  box.addEventListener("keyup", (event) => {
    if (/^(Arrow|Home|End|Page)/.test(event.key)) reportCaret();
  });
  box.addEventListener("keydown", onKey);
  box.addEventListener("mousemove", onHover);
  box.addEventListener("mouseleave", () => (tip.hidden = true));
  box.addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
  box.addEventListener("drop", openDropped);
  new ResizeObserver(redraw).observe(box);
  onSharedSelection(root, (node) => showNode(node));

  return { setModel, setView };

  function setModel(next) {
    model = next;
    if (reported === null) write(model.text);
    layer.setCode(model);
    root.dataset.problems = String(model.problems.length);
    drawProblems();
    redraw();
  }

  // A dropped file takes the place of the text. Typing it in, as a person would, keeps undo; a long one is put in.
  async function openDropped(event) {
    const file = event.dataTransfer.files[0];
    if (!file || box.readOnly) return;
    event.preventDefault();
    const text = file.size > MAX_FILE_BYTES ? `# ${file.name} is larger than ${MAX_FILE_BYTES >> 20} MB: not opened` : await file.text();
    box.focus();
    box.select();
    const isShort = text.split("\n", TYPED_LINES + 1).length <= TYPED_LINES;
    if (!isShort || !document.execCommand("insertText", false, text)) {
      box.setRangeText(text);
      box.dispatchEvent(new Event("input"));
    }
    reportText.cancel();
    report({ kind: "open", name: file.name });
  }

  function setView(next, take) {
    view = next;
    if (take("text") !== undefined && box.value !== model.text) {
      reportText.cancel();
      write(model.text);
      redraw();
    }
    box.readOnly = Boolean(view.is_readonly);
    const selected = take("node");
    if (selected !== undefined) showNode(selected);
    const line = take("go_line");
    if (line) goTo(line, columnOf(line));
    drawHead();
  }

  function write(text) {
    box.value = text;
    reported = text;
    layer.setText(text);
    box.setSelectionRange(0, 0);
    box.scrollTop = 0;
  }

  function drawHead() {
    const names = view.tabs.length ? view.tabs : [["", model.name || "Text"]];
    head.replaceChildren(
      tabs(names, view.tab || names[0][0], (id) => report({ kind: "tab", command: id })),
      el("span", { class: "sp" }),
      ...view.actions.map(([id, label]) => button(label, "t", "", () => report({ kind: "command", command: id }))),
    );
  }

  function drawProblems() {
    const count = { error: 0, warning: 0, note: 0 };
    for (const problem of model.problems) count[problem.severity] += 1;
    const chips = Object.entries(count).filter(([, n]) => n).map(([severity, n]) => {
      const word = severity === "note" ? "note" : severity;
      return el("span", { class: "chip " + (severity === "note" ? "" : severity) }, severitySign(severity), `${n} ${word}${n > 1 ? "s" : ""}`);
    });
    problemsHead.hidden = problemsBody.hidden = false;
    problemsHead.replaceChildren(
      el("b", {}, "Problems"),
      ...(chips.length ? chips : [el("span", { class: "n" }, "none")]),
      el("span", { class: "sp" }),
      el("span", { class: "note-keys" }, el("span", { class: "kbd" }, "Tab"), " leaves the editor, ", el("span", { class: "kbd" }, "Ctrl Enter"), " runs"),
    );
    problemsBody.replaceChildren(el("table", { "aria-label": "Problems" }, bySeverity().flatMap(([problem, i]) => problemRows(problem, i))));
  }

  // Errors stand first: notes about a text's head would hide them in a low pane.
  function bySeverity() {
    const rank = ["error", "warning", "note"];
    return model.problems.map((problem, i) => [problem, i]).sort(([a], [b]) => rank.indexOf(a.severity) - rank.indexOf(b.severity));
  }

  function problemRows(problem, i) {
    const place = problem.line ? `${problem.line}:${problem.column}` : "";
    const why = problem.explanation
      ? el("button", { type: "button", class: "link m", "aria-expanded": String(openProblem === i), click: (event) => toggleWhy(event, i) }, problem.code)
      : el("span", { class: "m muted" }, problem.code);
    const said = el("td", {}, prose(problem.message), problem.hint && el("span", { class: "hint" }, " · ", prose(problem.hint)));
    said.append(...(problem.related || []).map(relatedPlace));
    if (openProblem === i) said.append(el("div", { class: "why" }, prose(problem.explanation)));
    const row = el("tr", { data: { problem: i } }, el("td", {}, severitySign(problem.severity)), said, el("td", { class: "place" }, why), el("td", { class: "m muted r place" }, place));
    return problem.line ? pickable(row, () => goTo(problem.line, problem.column)) : row;
  }

  function relatedPlace(place) {
    const jump = (event) => { event.stopPropagation(); goTo(place.line, place.column); };
    return el("div", { class: "hint" }, el("button", { type: "button", class: "link", click: jump }, `line ${place.line}`), ": ", prose(place.message));
  }

  function toggleWhy(event, i) {
    event.stopPropagation();
    openProblem = openProblem === i ? -1 : i;
    drawProblems();
  }

  // Where a statement begins: the caret there selects it.
  function columnOf(line) {
    return (layer.state.units[line - 1] || "").search(/\S|$/) + 1;
  }

  function lineStart(line) {
    const units = layer.state.units;
    let at = 0;
    for (let i = 0; i < Math.min(line - 1, units.length); i += 1) at += units[i].length + 1;
    return at;
  }

  function goTo(line, column) {
    const at = lineStart(line) + unitOf(layer.state.units[line - 1] || "", column || 1);
    box.focus();
    box.setSelectionRange(at, at);
    reveal(line);
    selectAtCaret();
  }

  function reveal(line) {
    const top = (line - 1) * LINE_HEIGHT;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 3 * LINE_HEIGHT) {
      box.scrollTop = Math.max(0, top - box.clientHeight / 3);
    }
    redraw();
  }

  function showNode(node) {
    layer.state.selected = node;
    root.dataset.selected = node;
    const [range] = layer.rangesOf(node);
    if (range) reveal(range[1]);
    else redraw();
  }

  function caret() {
    const before = box.value.slice(0, box.selectionEnd);
    const line = before.split("\n").length;
    return [line, [...before.slice(before.lastIndexOf("\n") + 1)].length + 1];
  }

  function selectAtCaret() {
    if (!layer.state.isServerText) return;
    const node = layer.nodeAt(...caret());
    if (!node || node === layer.state.selected) return;
    layer.state.selected = node;
    root.dataset.selected = node;
    redraw();
    shareSelection(node, root);
    report({ kind: "select" });
  }

  function onKey(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      reportText.cancel();
      report({ kind: "submit" });
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey && !event.isComposing && !box.readOnly) {
      const before = box.value.slice(0, box.selectionStart);
      const line = before.slice(before.lastIndexOf("\n") + 1);
      const indent = line.match(/^ */)[0] + (/[:{]\s*$/.test(line) ? "    " : "");
      // insertText is the only way that keeps the native undo history.
      if (indent && document.execCommand("insertText", false, "\n" + indent)) event.preventDefault();
    } else if (event.key === "Escape") {
      tip.hidden = true;
    }
  }

  function onHover(event) {
    const rect = box.getBoundingClientRect();
    const i = Math.floor((event.clientY - rect.top - 6 + box.scrollTop) / LINE_HEIGHT);
    const found = layer.problemsAt(i);
    tip.hidden = !found.length;
    if (!found.length) return;
    tip.replaceChildren(...found.map((p) => el("div", {}, severitySign(p.severity), " ", prose(p.message), p.hint && el("div", { class: "hint" }, prose(p.hint)))));
    const home = root.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX - home.left + 12, home.width - tip.offsetWidth - 8)) + "px";
    const below = event.clientY - home.top + 18;
    tip.style.top = (below + tip.offsetHeight > home.height ? below - tip.offsetHeight - 30 : below) + "px";
  }
}

export default function (args) {
  mount(args, CSS, createEditor);
}
