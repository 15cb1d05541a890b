// Devices: why a value is where it is, copies, functions, and the analysis step by step; a row selects what it names.

const CATEGORIES = ["cat0", "cat1", "cat2", "cat3", "cat4", "cat5"];
const STEPS_SHOWN = 400;

function createDevices(root, tell) {
  const body = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Devices" });
  root.append(body);
  let model = null;
  let view = {};
  let drawn = "";
  let isWhole = false;
  onKeys("devices", root, (event) => ({ j: 1, k: -1 })[event.key] !== undefined && go(at() + { j: 1, k: -1 }[event.key]));
  return { setModel, setView };

  function setModel(next) {
    model = next;
    drawn = "";
    isWhole = false;
  }

  function setView(next) {
    view = next;
    if (drawn !== JSON.stringify(view)) draw();
    drawn = JSON.stringify(view);
  }

  function draw() {
    const focused = root.getRootNode().activeElement;
    const name = focused && body.contains(focused) ? focused.dataset.focus : "";
    const top = body.scrollTop;
    body.replaceChildren(...[why(), conflicts(), functions(), copies(), replay()].flat(3).filter(Boolean));
    body.scrollTop = top;
    root.dataset.visit = String(at());
    root.dataset.functions = String(model.report.functions.length);
    root.dataset.copies = String(model.report.copies.length);
    const again = name && body.querySelector(`[data-focus="${name}"]`);
    if (again) again.focus({ preventScroll: true });
    const step = body.querySelector(".steps tr.on");
    if (step) step.parentNode.parentNode.scrollTop = step.offsetTop - 90;
  }

  function category(device) {
    const place = model.report.devices.indexOf(device);
    return place < 0 ? "catNone" : CATEGORIES[place % CATEGORIES.length];
  }

  function deviceChip(device) {
    return el("span", { class: `chip nw ${category(device)}` }, symbol(category(device)), device || "no device");
  }

  function pick(node) {
    return () => node && tell({ kind: "select", node });
  }

  function chain(links, name) {
    return el("table", { class: "chain", "aria-label": name }, el("tr", {}, el("th", {}, "#"), el("th", {}, "Because"), el("th", { class: "r" }, "Line")),
      links.map((link, index) => pickable(el("tr", { class: link.node && link.node === view.selected ? "on" : "", data: { focus: `${name}${index}`, link: index } }, el("td", {}, index + 1), el("td", {}, prose(link.words)), el("td", { class: "r" }, link.line || "")), pick(link.node))));
  }

  function why() {
    const found = view.why;
    if (!found) return [headOf("Why this device"), el("p", { class: "none" }, "Select a value in the graph or in a table: the chain of constraints leads to the annotation or default that decided.")];
    const rest = found.why.length ? chain(found.why, "why") : el("p", { class: "none" }, "The analysis did not come here.");
    return [headOf("Why this device", "", el("code", {}, found.text), el("span", { class: "sp" }), deviceChip(found.device)), rest];
  }

  function conflicts() {
    return model.report.conflicts.map((item, index) => [headOf("Conflict", item.line ? `line ${item.line}` : ""), el("p", { class: "none" }, prose(item.message)),
      el("div", { class: "conflict" }, [[item.left, item.left_chain, "left"], [item.right, item.right_chain, "right"]].map(([device, links, side]) => el("div", {}, el("div", { class: "tools" }, deviceChip(device)), chain(links, `conflict ${index + 1} ${side}`))))]);
  }

  function functions() {
    const all = model.report.functions;
    const shown = all.find((item) => item.name === view.function) || all[0];
    const row = (item) => {
      const result = (item.rows.find((entry) => entry.role === "result") || { device: "" }).device;
      const none = item.rows.filter((entry) => !entry.device).length;
      const reason = item.is_visited ? "" : el("tr", {}, el("td", { colspan: 3, class: "sub" }, prose(item.hidden_by)));
      return [pickable(el("tr", { class: shown && item.name === shown.name ? "on" : "", data: { focus: `fn-${item.name}`, function: item.name } }, el("td", { class: "m" }, pieces("@" + item.name)), el("td", {}, deviceChip(result)),
        el("td", {}, item.is_visited ? (none ? chip(`${count(none, "value")} without a device`, "warning nw") : el("span", { class: "muted" }, count(item.rows.length, "value"))) : el("span", { class: "chip error nw" }, "✕ never visited"))), () => tell({ kind: "function", function: item.name, visit: item.hidden_at })), reason];
    };
    const value = (item, index) => pickable(el("tr", { class: item.node && item.node === view.selected ? "on" : "", data: { focus: `value${index}`, value: item.name } }, el("td", { class: "m" }, item.name), el("td", { class: "muted nw" }, item.role), el("td", { class: "nw" }, deviceChip(item.device)),
      el("td", { class: "sub" }, item.why.length ? prose(item.why[item.why.length - 1].words) : ""), el("td", { class: "r muted" }, item.line || "")), pick(item.node));
    return [headOf("Functions", count(all.length, "function")), el("table", { "aria-label": "Functions" }, el("tr", {}, ["Function", "Result", "Values"].map((text) => el("th", {}, text))), all.map(row)),
      shown && shown.rows.length ? [headOf("Values", `of @${shown.name}`), el("table", { "aria-label": "Values" }, el("tr", {}, ["Value", "What", "Device", "Decided by"].map((text) => el("th", {}, text)), el("th", { class: "r" }, "Line")), shown.rows.map(value))] : ""];
  }

  function copies() {
    const found = model.report.copies;
    const known = found.reduce((sum, item) => sum + (item.size_bytes || 0), 0);
    const more = found.some((item) => item.size_bytes === null) ? "+" : "";
    const row = (item, index) => pickable(el("tr", { class: item.node && item.node === view.selected ? "on" : "", data: { focus: `copy${index}`, copy: index } }, el("td", { class: "m" }, item.value), el("td", { class: "nw" }, deviceChip(item.source), " → ", deviceChip(item.target)),
      el("td", { class: "r nw" }, item.size_bytes === null ? el("span", { class: "muted" }, "at run time") : bytesText(item.size_bytes)), el("td", { class: "sub" }, prose(item.words)), el("td", { class: "r muted" }, item.line || "")), pick(item.node));
    return [headOf("Copies", found.length ? `${count(found.length, "copy", "copies")}, ${bytesText(known)}${more}` : "none"),
      found.length ? el("table", { "aria-label": "Copies" }, el("tr", {}, el("th", {}, "Value"), el("th", {}, "From, to"), el("th", { class: "r" }, "Bytes"), el("th", {}, "Why"), el("th", { class: "r" }, "Line")), found.map(row)) : el("p", { class: "none" }, "No value has to change its device.")];
  }

  function entries() {
    return model.report.visits.length ? model.report.visits : model.steps;
  }

  function partOf(item) {
    return model.report.visits.length ? item : { number: item[0], words: item[1], node: item[2], line: item[3], depth: 0, kind: "" };
  }

  function at() {
    return view.visit < 0 ? entries().length - 1 : Math.min(view.visit, entries().length - 1);
  }

  function go(place) {
    const all = entries();
    const next = Math.max(0, Math.min(all.length - 1, place));
    if (all.length && next !== view.visit) tell({ kind: "visit", visit: next, node: partOf(all[next]).node });
    return all.length > 0;
  }

  function replay() {
    const all = entries();
    const isVisits = model.report.visits.length > 0;
    const title = isVisits ? "Visits" : "Analysis";
    if (!all.length) return [headOf(title, "none")];
    const place = at();
    const slider = el("input", { type: "range", min: 0, max: all.length - 1, value: place, "aria-label": `${title}, step`, data: { focus: "slider" }, change: () => go(Number(slider.value)) });
    const first = isWhole ? 0 : Math.max(0, Math.min(place - STEPS_SHOWN / 2, all.length - STEPS_SHOWN));
    const shown = all.slice(first, isWhole ? all.length : first + STEPS_SHOWN).map(partOf);
    const row = (item, index) => {
      const number = first + index;
      const kind = item.kind === "memo hit" ? chip("memo hit", "error nw") : item.kind === "recursion" ? chip("recursion", "warning nw") : item.kind ? el("span", { class: "muted nw" }, item.kind) : "";
      return pickable(el("tr", { class: number === place ? "on" : number > place ? "later" : "", data: { focus: `step${number}`, step: number, kind: item.kind } }, el("td", { class: "r muted" }, item.number), isVisits ? el("td", { class: "nw" }, kind) : "", el("td", { style: { paddingLeft: `${8 + 12 * item.depth}px` } }, prose(item.words)), el("td", { class: "r muted" }, item.line || "")), () => go(number));
    };
    const hits = isVisits ? all.filter((item) => item.kind === "memo hit").length : 0;
    return [headOf(title, `step ${(place + 1).toLocaleString("en")} of ${model.step_count && !isVisits ? model.step_count.toLocaleString("en") : all.length.toLocaleString("en")}`, hits ? el("span", { class: "chip error nw" }, count(hits, "memo hit")) : ""),
      el("div", { class: "tools" }, button("‹", "i", "k", () => go(place - 1), { "aria-label": "Previous step", data: { focus: "back" } }), slider, button("›", "i", "j", () => go(place + 1), { "aria-label": "Next step", data: { focus: "next" } })),
      el("div", { class: "steps", tabindex: 0, role: "region", "aria-label": `${title}, step by step` }, el("table", { "aria-label": title }, el("tr", {}, el("th", { class: "r" }, "#"), isVisits ? el("th", {}, "Visit") : "", el("th", {}, "What"), el("th", { class: "r" }, "Line")), shown.map(row)))];
  }
}

export default function (args) {
  mount(args, CSS, createDevices);
}
