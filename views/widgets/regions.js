// Regions: what partitioning says beside its graph, as tables; a row is a link to what it names.

const ROWS_SHOWN = 40;
const TONE_SIGN = { ok: "✓", warning: "▲", error: "✕" };
const CATEGORIES = ["cat0", "cat1", "cat2", "cat3", "cat4", "cat5"];

function createRegions(root, tell) {
  const body = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Regions and patterns" });
  root.append(body);
  let model = null;
  let view = {};
  let chosen = 0;
  let drafts = new Map();
  let unfolded = new Set();
  let drawn = "";
  return { setModel, setView };

  function setModel(next) {
    model = next;
    drawn = "";
  }

  function setView(next) {
    if (JSON.stringify(view.patterns) !== JSON.stringify(next.patterns)) drafts = new Map();
    view = next;
    if (drawn !== JSON.stringify(view)) draw();
    drawn = JSON.stringify(view);
  }

  function draw() {
    const focused = root.getRootNode().activeElement;
    const name = focused && body.contains(focused) ? focused.dataset.focus : "";
    const at = body.scrollTop;
    body.replaceChildren(...[pairs(), regionTable(), coverage(), unsupported(), ways(), patternPart()].flat(3).filter(Boolean));
    body.classList.toggle("below", Boolean(view.selected));
    body.scrollTop = at;
    root.dataset.shown = String(view.shown);
    root.dataset.regions = String(model.report.regions.length);
    const again = name && body.querySelector(`[data-focus="${name}"]`);
    if (again) again.focus({ preventScroll: true });
  }

  // A table of at most some rows, and a button for the others.
  function table(name, columns, rows, toRow) {
    const isWhole = unfolded.has(name) || rows.length <= ROWS_SHOWN;
    const shown = isWhole ? rows : rows.slice(0, ROWS_SHOWN);
    const header = el("tr", {}, columns.map(([text, look]) => (text ? el("th", { class: look || "" }, text) : el("td", {}))));
    const showAll = () => { unfolded.add(name); draw(); };
    return [el("table", { "aria-label": name }, header, shown.map(toRow)), isWhole ? "" : el("div", { class: "more" }, button(`Show all ${rows.length.toLocaleString("en")}`, "t", "", showAll))];
  }

  function category(target) {
    const place = model.targets.indexOf(target);
    return place < 0 ? "catNone" : CATEGORIES[place % CATEGORIES.length];
  }

  function targetOf(target) {
    const turn = Math.floor(model.targets.indexOf(target) / CATEGORIES.length);
    return [symbol(category(target)), turn > 0 ? String(turn + 1) : "", " ", target];
  }

  function short(name, target) {
    return name.startsWith(`${target} `) ? name.slice(target.length + 1) : name;
  }

  function pairs() {
    const found = model.report.pairs;
    const head = headOf("Not merged", "", found.length ? el("span", { class: "chip error nw" }, count(found.length, "pair")) : "");
    if (!found.length) return [head, el("p", { class: "none" }, model.report.regions.length > 1 ? "No two neighbouring regions of one target stayed apart." : "There are no two regions of one target beside each other.")];
    const row = (pair, index) => {
      const isShown = index === view.shown;
      const pick = () => tell({ kind: "show", index: isShown ? -1 : index, function: pair.function });
      const line = pickable(el("tr", { class: isShown ? "on" : "", "aria-label": `Show ${pair.producer} and ${pair.user}`, data: { focus: `pair${index}`, pair: index } },
        el("td", { class: "nw" }, symbol(category(pair.target), pair.target), ` ${short(pair.producer, pair.target)} and ${short(pair.user, pair.target)}`), el("td", { class: "nw" }, chip(pair.kind, "error nw")),
        el("td", {}, pathOf(pair)), el("td", { class: "r nw" }, el("span", { class: "link" }, isShown ? "Shown" : "Show"))), pick);
      const why = el("tr", {}, el("td", { colspan: 4, class: "sub" }, prose(sentence(pair.message, pair.producer)), pair.kind === "let" ? [" ", el("button", { type: "button", class: "link", data: { focus: "through" }, click: () => tell({ kind: "through", index }) }, "Try through the let")] : ""));
      return isShown ? [line, why] : [line];
    };
    return [head, table("Not merged", [["Pair"], ["Reason"], ["Blocking path"], [""]], found, row)];
  }

  function pathOf(pair) {
    const ends = [pair.producer, pair.user];
    const part = (name, k) => [k ? el("span", { class: "muted", "aria-label": "to" }, "→") : "", el("span", { class: "chip code " + (ends.includes(name) ? category(pair.target) : "error") }, name)];
    const whole = pair.path.length > 8 ? [...pair.path.slice(0, 4), `${pair.path.length - 7} more`, ...pair.path.slice(-3)] : pair.path;
    return el("span", { class: "path" }, whole.map(part));
  }

  function regionTable() {
    const found = model.report.regions;
    if (!found.length) return [headOf("Regions", "0"), el("p", { class: "none" }, model.problems.length ? "" : "No operator of this module is in the table. Choose another table, or edit this one.")];
    const isCut = model.stages.some((stage) => stage.name === "PartitionGraph" && !stage.problems.some((item) => item.severity === "error"));
    const several = new Set(found.map((item) => item.function)).size > 1;
    const row = (item, index) => pickable(el("tr", { class: item.nodes.includes(view.selected) ? "on" : "", data: { focus: `region${index}`, region: index }, title: item.operators.join("\n") },
      el("td", { class: "nw" }, short(item.name, item.target), several ? el("span", { class: "muted" }, ` @${item.function}`) : ""), el("td", {}, targetOf(item.target)), el("td", { class: "r" }, item.operator_count),
      el("td", { class: "r nw", title: titleOf(item.inputs, item.constants) }, flows(item.inputs), item.constants.length ? el("div", { class: "muted" }, count(item.constants.length, "literal")) : ""), el("td", { class: "r nw", title: titleOf(item.outputs, []) }, size(item.outputs)),
      el("td", { class: "m" }, item.is_open ? chip("never ends", "error") : item.external ? nameOf(item.external) : el("span", { class: "muted" }, isCut ? "no function: it stays in place" : "not partitioned"))),
    () => tell({ kind: "select", node: item.nodes[0] || "", function: item.function }));
    return [headOf("Regions", found.length), table("Regions", [["Region"], ["Target"], ["Ops", "r"], ["In", "r"], ["Out", "r"], ["After PartitionGraph"]], found, row)];
  }

  function coverage() {
    const report = model.report;
    if (!report.operator_count) return "";
    const share = (number) => (100 * number) / report.operator_count;
    return el("div", { class: "cover" }, model.targets.map((target) => {
      const own = report.regions.filter((item) => item.target === target);
      const number = own.reduce((sum, item) => sum + item.operator_count, 0);
      const words = `${number.toLocaleString("en")} of ${count(report.operator_count, "operator")}`;
      const bytes = `${size(own.flatMap((item) => item.inputs))} in, ${size(own.flatMap((item) => item.outputs))} out`;
      return [el("div", { class: "row" }, el("span", {}, targetOf(target)), el("b", {}, words), el("span", { class: "muted" }, `${share(number).toFixed(number && share(number) < 10 ? 1 : 0)} %`), el("span", { class: "sp" }), el("span", { class: "muted" }, bytes)),
        el("div", { class: "bar", role: "img", "aria-label": `${target}: ${words}` }, own.map((item) => el("span", { style: { width: `${share(item.operator_count)}%`, background: `var(--${category(target)})` } })))];
    }), model.targets.length ? "" : el("div", { class: "row" }, "Offloaded ", el("b", {}, `0 of ${count(report.operator_count, "operator")}`)));
  }

  function unsupported() {
    const found = model.report.unsupported;
    if (!found.length) return "";
    const row = (item, index) => pickable(el("tr", { data: { focus: `left${index}` } }, el("td", { class: "m" }, item.operator), el("td", { class: "r" }, item.count), el("td", { class: "sub" }, prose(item.reason))), () => tell({ kind: "select", node: item.nodes[0] || "" }));
    return [headOf("Not offloaded", count(found.reduce((sum, item) => sum + item.count, 0), "operator")), table("Not offloaded", [["Operator"], ["Count", "r"], ["Why"]], found, row)];
  }

  function ways() {
    const row = (way) => pickable(el("tr", { class: way.is_current ? "on" : "", "aria-label": `Lets: ${way.lets}`, data: { focus: `way-${way.lets}`, lets: way.lets } },
      el("td", { class: "m nw" }, way.lets), el("td", { class: "r" }, way.region_count), el("td", { class: "r" }, way.open_begin_count),
      el("td", {}, el("span", { class: `chip nw ${way.tone}` }, `${TONE_SIGN[way.tone] || ""} ${way.result}`), " ", el("span", { class: way.free_variables.length ? "m muted" : way.is_current ? "" : "muted" }, prose(way.detail)))), () => tell({ kind: "lets", command: way.lets }));
    return [headOf("Lets, five ways", "same program, each option"), table("Lets, five ways", [["Lets"], ["Regions", "r"], ["Open begins", "r"], ["Result"]], model.ways, row)];
  }

  function patternPart() {
    if (!view.patterns.length) return [headOf("Pattern", "0"), el("p", { class: "none" }, "The table has no pattern.")];
    chosen = Math.min(chosen, view.patterns.length - 1);
    const [name, own] = view.patterns[chosen];
    const found = model.patterns.find((item) => item.name === name) || { match_count: 0, places: [] };
    const area = el("textarea", { "aria-label": `Pattern ${name}`, spellcheck: "false", data: { focus: "pattern" }, input: () => { drafts.set(name, area.value); tools(); } });
    area.value = drafts.has(name) ? drafts.get(name) : own;
    area.rows = Math.min(9, Math.max(3, Math.ceil(area.value.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 74)), 0))));
    area.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); send(); }
    });
    const send = () => tell({ kind: "pattern", index: chosen, text: area.value });
    const bar = el("div", { class: "row" });
    const tools = () => bar.replaceChildren(button("Try", area.value === own ? "" : "p", "Ctrl+Enter", send, { data: { focus: "try" } }), view.edited ? button("Back to the sample's table", "t", "", () => { drafts = new Map(); tell({ kind: "revert" }); }, { data: { focus: "revert" } }) : "", el("span", { class: "sp" }), area.value === own ? "" : el("span", { class: "muted" }, "edited"));
    tools();
    const pick = view.patterns.length > 1 ? choose() : el("span", { class: "n" }, name);
    const state = view.problems.length ? el("span", { class: "chip error nw" }, `✕ ${count(view.problems.length, "problem")}`) : found.match_count ? el("span", { class: "chip ok nw" }, `✓ ${count(found.match_count, "match", "matches")}`) : el("span", { class: "chip nw" }, "no match");
    return [headOf("Pattern", "", pick, el("span", { class: "sp" }), state), el("div", { class: "editor" }, area, bar, problemList()), places(found)];
  }

  function choose() {
    const box = el("select", { "aria-label": "Pattern", data: { focus: "choose" }, change: () => { chosen = box.selectedIndex; draw(); } }, view.patterns.map(([name], index) => el("option", { value: String(index), selected: index === chosen }, name)));
    return box;
  }

  function problemList() {
    const line = (item) => el("div", {}, severitySign(item.severity), " ", item.line ? el("span", { class: "muted" }, `line ${item.line}, column ${item.column}: `) : "", prose(item.message), item.hint ? el("span", { class: "sub" }, ` ${item.hint}`) : "");
    return view.problems.length ? el("div", { class: "problems", role: "alert" }, view.problems.map(line)) : "";
  }

  function places(found) {
    const row = (item, index) => pickable(el("tr", { class: item.nodes[0] === view.selected ? "on" : "", data: { focus: `match${index}`, match: index } },
      el("td", { class: "nw" }, el("span", { class: item.is_match ? "chip ok nw" : "chip warning nw" }, item.is_match ? "✓ match" : "✕ miss")), el("td", { class: "r" }, item.line || ""), el("td", { class: "m" }, item.what),
      item.is_match ? [el("td", { class: "m" }, item.arguments), el("td", { class: "nw muted" }, item.alternative)] : el("td", { colspan: 2, class: "sub" }, item.reason)), () => tell({ kind: "match", node: item.nodes[0] || "" }));
    return found.places.length ? table("Matches", [["Place"], ["Line", "r"], ["Operator or callee"], ["Arguments, or why not"], ["Alternative", "nw"]], found.places, row) : "";
  }
}

// A plus says that the size of one is known only at run time.
function size(flows) {
  return bytesText(flows.reduce((sum, item) => sum + (item.size_bytes || 0), 0)) + (flows.some((item) => item.size_bytes === null || item.size_bytes === undefined) ? "+" : "");
}

function flows(items) {
  if (!items.length) return "0 B";
  const types = new Set(items.map((item) => item.type));
  const what = types.size === 1 && items[0].type.length < 12 ? `${items.length} × ${items[0].type}` : count(items.length, "value");
  return `${what}, ${size(items)}`;
}

// A long name may break behind the part that all share.
function nameOf(name) {
  const stem = /^tvmgen_[^_]*_/.exec(name);
  return stem ? ["@" + stem[0], el("wbr", {}), name.slice(stem[0].length)] : "@" + name;
}

function titleOf(items, literals) {
  return [...items, ...literals].map((item) => `${item.source || item.name}: ${item.type}`).join("\n");
}

export default function (args) {
  mount(args, CSS, createRegions);
}
