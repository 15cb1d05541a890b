// Regions: what partitioning says beside its graph, as tables; a row is a link to what it names.

const ROWS_SHOWN = 40;
const TONE_SIGN = { ok: "✓", warning: "▲", error: "✕" };
const UNSUPPORTED = "no target supports it";
const CATEGORIES = ["cat0", "cat1", "cat2", "cat3", "cat4", "cat5"];

function createRegions(root, tell) {
  const body = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Regions and patterns" });
  root.append(body);
  let model = null;
  let view = {};
  let unfolded = new Set();
  let drawn = "";
  const patterns = createPatterns(tell, () => draw(), (...rest) => table(...rest));
  return { setModel, setView };

  function setModel(next) {
    model = next;
    drawn = "";
  }

  function setView(next) {
    const isElsewhere = next.selected && next.selected !== view.selected;
    const isOtherPair = next.shown >= 0 && next.shown !== view.shown;
    if (next.shown >= ROWS_SHOWN) unfolded.add("Not merged");
    view = next;
    patterns.take(model, view);
    if (drawn === JSON.stringify(view)) return;
    draw();
    drawn = JSON.stringify(view);
    reveal(body.querySelector(isOtherPair ? "tr.on[data-pair]" : isElsewhere ? "tr.on[data-region]" : "none"));
  }

  // Scrolls the tables alone: in a narrow window they are below the graph, and the page stays where it is.
  function reveal(row) {
    if (!row) return;
    const [outer, inner] = [body.getBoundingClientRect(), row.getBoundingClientRect()];
    if (inner.top < outer.top || inner.bottom > outer.bottom) body.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }

  function draw() {
    const focused = root.getRootNode().activeElement;
    const name = focused && body.contains(focused) ? focused.dataset.focus : "";
    const at = body.scrollTop;
    body.replaceChildren(...[notUsed(), notes(), problems(), pairs(), regionTable(), coverage(), unsupported(), ways(), patterns.parts()].flat(3).filter(Boolean));
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
    const header = el("tr", {}, columns.map(([text, look]) => (text ? el("th", { class: look || "" }, pieces(text)) : el("td", {}))));
    const showAll = () => { unfolded.add(name); draw(); };
    return [el("table", { "aria-label": name }, header, shown.map(toRow)), isWhole ? "" : el("div", { class: "more" }, button(`Show all ${rows.length.toLocaleString("en")}`, "t", "", showAll))];
  }

  function category(target) {
    const place = model.targets.indexOf(target);
    return place < 0 ? "catNone" : CATEGORIES[place % CATEGORIES.length];
  }

  function targetOf(target) {
    const turn = Math.floor(model.targets.indexOf(target) / CATEGORIES.length);
    return el("span", { class: "target" }, symbol(category(target)), turn > 0 ? String(turn + 1) : "", el("span", {}, pieces(target)));
  }

  function short(name, target) {
    return name.startsWith(`${target} `) ? name.slice(target.length + 1) : name;
  }

  // An edit that is no table leaves everything as the sample's table has it: say so first.
  function notUsed() {
    if (!view.problems.length) return "";
    const back = button("Back to the sample's table", "", "", () => tell({ kind: "revert" }), { data: { focus: "discard" } });
    return el("div", { class: "banner error", role: "alert" }, el("b", {}, "The edited table is not used."), " What stands here is of the sample's table.", view.patterns.length ? "" : " Mend the text under Options.", problemList(view.problems), el("div", { class: "row" }, back));
  }

  function notes() {
    const found = model.report.notes;
    return found.length ? el("div", { class: "banner", role: "status" }, found.map((text) => el("div", {}, severitySign("warning"), " ", prose(text)))) : "";
  }

  function lineLink(line) {
    return line ? el("button", { type: "button", class: "link", title: "Show the line in the source", click: (event) => { event.stopPropagation(); tell({ kind: "line", index: line }); } }, `line ${line}`) : "";
  }

  // What the passes found wrong: begins without an end, variables that nothing binds.
  function problems() {
    const staged = model.stages.flatMap((stage) => stage.problems.map((item) => ({ ...item, stage: stage.name })));
    const names = new Map(model.free_variables.map((item) => [`%${item.name} is not bound`, item]));
    const result = model.problems.map((item) => ({ ...item, stage: "PartitionGraph", free: names.get(item.message) }));
    const found = [...staged, ...result];
    if (!found.length) return "";
    const row = (item, index) => {
      const free = item.free;
      const words = free && free.region ? `\`%${free.name}\` is not bound: it stands for the begin of region ${free.region}, which never ends.` : sentence(item.message, "%");
      const show = free && free.node ? el("button", { type: "button", class: "link", data: { focus: `free${index}` }, click: () => tell({ kind: "select", node: free.node }) }, "Show the begin") : "";
      return el("tr", {}, el("td", { class: "nw" }, severitySign(item.severity), " ", el("span", { class: "muted" }, item.code)), el("td", { class: "nw word" }, pieces(item.stage)), el("td", {}, prose(words), " ", show), el("td", { class: "r nw" }, lineLink(free ? free.line : item.line)));
    };
    return [headOf("Problems", String(found.length)), table("Problems", [["Code"], ["Pass"], ["What is wrong"], [""]], found, row)];
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
      const why = el("tr", {}, el("td", { colspan: 4, class: "sub" }, prose(sentence(pair.message, pair.target)), " ", counterfactual(pair, index)));
      return isShown ? [line, why] : [line];
    };
    return [head, table("Not merged", [["Pair"], ["Reason"], ["Blocking path"], [""]], found, row)];
  }

  // What would make the two one: the page tries it.
  function counterfactual(pair, index) {
    const link = (words, action) => el("button", { type: "button", class: "link", data: { focus: "through" }, click: () => tell(action) }, words);
    if (pair.kind === "let") return link("Try through the let", { kind: "through", index });
    const left = new Set(model.report.unsupported.map((item) => item.operator));
    const operators = [...new Set(pair.path.slice(1, -1).filter((name) => left.has(name)))];
    if (!operators.length || !["unsupported operator", "blocking path"].includes(pair.kind)) return "";
    return link(`Try with ${operators.join(", ")} in ${pair.target}`, { kind: "support", command: pair.target, text: operators.join(",") });
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
      el("td", { class: "nw" }, short(item.name, item.target), several ? el("span", { class: "muted" }, ` @${item.function}`) : ""), el("td", { class: "word" }, targetOf(item.target)), el("td", { class: "r" }, item.operator_count),
      el("td", { class: "r nw", title: titleOf(item.inputs, item.constants) }, flows(item.inputs), item.constants.length ? el("div", { class: "muted" }, count(item.constants.length, "literal")) : ""), el("td", { class: "r nw", title: titleOf(item.outputs, []) }, size(item.outputs)),
      el("td", { class: "m" }, item.is_open ? chip("never ends", "error") : item.external ? nameOf(item.external) : el("span", { class: "muted" }, isCut ? "no function: it stays in place" : "not partitioned"))),
    () => tell({ kind: "select", node: item.nodes[0] || "", function: item.function }));
    const rows = (item, index) => (item.nodes.includes(view.selected) ? [row(item, index), inside(item)] : [row(item, index)]);
    return [headOf("Regions", found.length), table("Regions", [["Region"], ["Target"], ["Ops", "r"], ["In", "r"], ["Out", "r"], ["After PartitionGraph"]], found, rows)];
  }

  // Which operators of the text a region holds, and what crosses its border.
  function inside(item) {
    const place = (place) => el("span", { class: "place" }, el("button", { type: "button", class: "chip code", click: () => tell({ kind: "select", node: place.node, function: item.function }) }, place.operator), lineLink(place.line));
    const flow = (flow) => el("span", { class: "place" }, el("code", {}, flow.source || flow.name), el("span", { class: "muted" }, ` ${flow.type}, ${size([flow])}`));
    const rows = [["Holds", item.places.slice(0, ROWS_SHOWN).map(place), item.places.length - ROWS_SHOWN], ["Takes", item.inputs.map(flow), 0], ["Gives", item.outputs.map(flow), 0]];
    return el("tr", { data: { inside: item.name } }, el("td", { colspan: 6, class: "sub" }, el("dl", {}, rows.filter(([, found]) => found.length).map(([word, found, rest]) => [el("dt", {}, word), el("dd", {}, found, rest > 0 ? el("span", { class: "muted" }, `and ${count(rest, "operator")} more`) : "")]))));
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
    const targets = view.supported.map(([target]) => target).slice(0, 3);
    const offer = (operator) => (target) => el("button", { type: "button", class: "link", "aria-label": `Add ${operator} to ${target}`, click: (event) => { event.stopPropagation(); tell({ kind: "support", command: target, text: operator }); } }, `Add to ${target}`);
    const row = (item, index) => {
      const lines = [...new Set(item.places.map((place) => place.line).filter(Boolean))];
      const shown = [lines.slice(0, 4).map((line) => [lineLink(line), " "]), lines.length > 4 ? el("span", { class: "muted" }, `and ${lines.length - 4} more`) : ""];
      return pickable(el("tr", { class: item.nodes.includes(view.selected) ? "on" : "", data: { focus: `left${index}`, left: item.operator } }, el("td", { class: "m" }, item.operator), el("td", { class: "r" }, item.count), el("td", { class: "sub" }, shown), el("td", { class: "sub" }, prose(item.reason)),
        el("td", { class: "r" }, item.reason === UNSUPPORTED ? targets.map((target) => [offer(item.operator)(target), " "]) : "")), () => tell({ kind: "select", node: item.nodes[0] || "" }));
    };
    return [headOf("Not offloaded", count(found.reduce((sum, item) => sum + item.count, 0), "operator")), table("Not offloaded", [["Operator"], ["Count", "r"], ["Where"], ["Why"], [""]], found, row)];
  }

  function ways() {
    if (!model.has_lets) return [headOf("Lets"), el("p", { class: "none" }, "This program has no let: the five ways to treat lets are one.")];
    const row = (way) => pickable(el("tr", { class: way.is_current ? "on" : "", "aria-label": `Lets: ${way.lets}`, data: { focus: `way-${way.lets}`, lets: way.lets } },
      el("td", { class: "m nw" }, way.lets), el("td", { class: "r" }, way.region_count), el("td", { class: "r" }, way.open_begin_count),
      el("td", {}, el("span", { class: `chip nw ${way.tone}` }, `${TONE_SIGN[way.tone] || ""} ${way.result}`), " ", el("span", { class: way.free_variables.length ? "m muted" : way.is_current ? "" : "muted" }, prose(way.detail)))), () => tell({ kind: "lets", command: way.lets }));
    return [headOf("Lets, five ways", "same program, each option"), table("Lets, five ways", [["Lets"], ["Regions", "r"], ["Open begins", "r"], ["Result"]], model.ways, row)];
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
