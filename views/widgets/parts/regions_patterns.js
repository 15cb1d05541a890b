// The table that partitioning works with, to be edited in place: patterns with what they match, operators of targets.

const NEW_PATTERN = 'is_op("nn.relu")(wildcard())';
const LONGEST_LINE = 74;

function createPatterns(tell, redraw, tableOf) {
  let chosen = 0;
  let drafts = new Map();
  let model = null;
  let view = { patterns: [] };
  return { take, parts };

  // A pattern that was added is the chosen one; drafts are of the table as it was.
  function take(nextModel, nextView) {
    const known = view.patterns.length;
    if (JSON.stringify(view.patterns) !== JSON.stringify(nextView.patterns)) drafts = new Map();
    if (known && nextView.patterns.length === known + 1) chosen = known;
    model = nextModel;
    view = nextView;
    chosen = Math.max(0, Math.min(chosen, view.patterns.length - 1));
  }

  // A text that is no table has neither patterns nor targets.
  function parts() {
    return view.problems.length && !view.patterns.length ? "" : [patternPart(), supportPart()];
  }

  function patternPart() {
    const add = button("New", "t", "", () => tell({ kind: "add", text: NEW_PATTERN }), { "aria-label": "New pattern", data: { focus: "new" } });
    if (!view.patterns.length) return [headOf("Pattern", "0", el("span", { class: "sp" }), add), el("p", { class: "none" }, "The table has no pattern: its targets take single operators.")];
    const found = model.patterns.find((item) => item.name === view.patterns[chosen][0]) || { match_count: 0, places: [] };
    const state = view.problems.length ? el("span", { class: "chip error nw" }, `✕ ${count(view.problems.length, "problem")}`) : found.match_count ? el("span", { class: "chip ok nw" }, `✓ ${count(found.match_count, "match", "matches")}`) : el("span", { class: "chip nw" }, "no match");
    return [headOf("Pattern", "", view.patterns.length > 1 ? choose() : "", el("span", { class: "sp" }), add, state), editor(), places(found)];
  }

  function choose() {
    const option = ([name], index) => el("option", { value: String(index), selected: index === chosen }, name);
    const box = el("select", { "aria-label": "Pattern", data: { focus: "choose" }, change: () => { chosen = box.selectedIndex; redraw(); } }, view.patterns.map(option));
    return box;
  }

  function editor() {
    const own = view.patterns[chosen];
    const draft = drafts.get(chosen) || own;
    const changed = () => { drafts.set(chosen, [name.value, area.value]); tools(); };
    const send = () => tell({ kind: "pattern", index: chosen, command: name.value.trim(), text: area.value });
    const keys = (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.target === name)) { event.preventDefault(); send(); }
    };
    const name = el("input", { type: "text", "aria-label": "Name of the pattern", spellcheck: "false", value: draft[0], data: { focus: "name" }, input: () => changed(), keydown: keys });
    const area = el("textarea", { "aria-label": `Pattern ${own[0]}`, spellcheck: "false", data: { focus: "pattern" }, input: () => changed(), keydown: keys });
    area.value = draft[1];
    area.rows = Math.min(9, Math.max(3, area.value.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LONGEST_LINE)), 0)));
    const bar = el("div", { class: "row" });
    const tools = () => {
      const isSame = name.value === own[0] && area.value === own[1];
      bar.replaceChildren(
        button("Try", isSame ? "" : "p", "Ctrl+Enter", send, { data: { focus: "try" } }),
        button("Remove", "t", "", () => tell({ kind: "remove", index: chosen }), { "aria-label": `Remove ${own[0]}`, data: { focus: "remove" } }),
        revert(), el("span", { class: "sp" }), isSame ? "" : el("span", { class: "muted" }, "edited"));
    };
    tools();
    return el("div", { class: "editor" }, el("label", { class: "row" }, el("span", { class: "muted" }, "Name"), name), area, bar, problemList(view.problems), noteList(own[1]));
  }

  // What is odd about the table and is of this pattern.
  function noteList(text) {
    const own = model.report.notes.filter((note) => text.includes(note.split("`")[1]));
    return own.length ? el("div", { class: "problems" }, own.map((note) => el("div", {}, severitySign("warning"), " ", prose(note)))) : "";
  }

  function revert() {
    const back = () => { drafts = new Map(); tell({ kind: "revert" }); };
    return view.edited ? button("Back to the sample's table", "t", "", back, { data: { focus: "revert" } }) : "";
  }

  function places(found) {
    const row = (item, index) => pickable(el("tr", { class: item.nodes[0] === view.selected ? "on" : "", data: { focus: `match${index}`, match: index } },
      el("td", { class: "nw" }, el("span", { class: item.is_match ? "chip ok nw" : "chip warning nw" }, item.is_match ? "✓ match" : "✕ miss")), el("td", { class: "r" }, item.line || ""), el("td", { class: "m" }, item.what),
      item.is_match ? [el("td", { class: "m" }, item.arguments), el("td", { class: "nw muted" }, item.alternative)] : el("td", { colspan: 2, class: "sub" }, item.reason)), () => tell({ kind: "match", node: item.nodes[0] || "" }));
    return found.places.length ? tableOf("Matches", [["Place"], ["Line", "r"], ["Operator or callee"], ["Arguments, or why not"], ["Alternative", "nw"]], found.places, row) : "";
  }

  // A field for one more operator, or several between commas, at the end of each target's row.
  function supportPart() {
    if (!view.supported.length) return "";
    const total = view.supported.reduce((sum, [, names]) => sum + names.length, 0);
    const row = ([target, names]) => {
      const send = () => { if (field.value.trim()) tell({ kind: "support", command: target, text: field.value.split(/[\s,]+/).filter(Boolean).join(",") }); };
      const keys = (event) => { event.stopPropagation(); if (event.key === "Enter") { event.preventDefault(); send(); } };
      const field = el("input", { type: "text", placeholder: "add an operator", "aria-label": `Add an operator to ${target}`, spellcheck: "false", data: { focus: `support-${target}` }, keydown: keys });
      const operator = (name) => el("span", { class: "chip code" }, name, el("button", { type: "button", class: "x", "aria-label": `Take ${name} from ${target}`, click: () => tell({ kind: "unsupport", command: target, text: name }) }, "×"));
      return el("div", { class: "support", data: { target } }, el("b", {}, target), names.map(operator), field);
    };
    return [headOf("Operators taken", `${count(total, "operator")} besides the patterns`), view.supported.map(row)];
  }
}

function problemList(problems) {
  const line = (item) => el("div", {}, severitySign(item.severity), " ", item.line ? el("span", { class: "muted" }, `line ${item.line}, column ${item.column}: `) : "", prose(item.message), item.hint ? el("span", { class: "sub" }, ` ${item.hint}`) : "");
  return problems.length ? el("div", { class: "problems" }, problems.map(line)) : "";
}
