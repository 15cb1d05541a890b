// Catalog: operators and packed functions with a search, and a sheet about the one that is selected.

const AREAS = [["operators", "Operators"], ["packed", "Packed functions"]];
const LISTINGS = [["tir", "TIR"], ["llvm", "LLVM IR"]];
const areaOf = (id) => (id.startsWith("packed/") ? "packed" : "operators");
const FOUND = (entry, words) => words.every((word) => `${entry.name} ${entry.relay_name} ${entry.summary}`.toLowerCase().includes(word));

function createCatalog(root, tell) {
  const head = el("div", { class: "ph" });
  const field = el("input", { type: "search", class: "find", placeholder: "Name, Relay name, or word", "aria-label": "Search", spellcheck: "false", autocomplete: "off" });
  const count = el("span", { class: "muted count", "aria-live": "polite" });
  const options = el("div", { class: "body options", role: "listbox", "aria-label": "Found" });
  const nothing = el("div", { class: "pad none", hidden: true });
  const sheet = el("div", { class: "sheet" });
  root.append(el("div", { class: "split" }, el("div", { class: "pane list" }, head, el("div", { class: "row finder" }, field, count, el("span", { class: "kbd", "aria-hidden": "true" }, "/")), options, nothing), sheet));
  let model = null;
  let view = {};
  let current = "";
  let isStale = true;
  field.addEventListener("input", () => drawList());
  field.addEventListener("input", later(400, () => say("search")));
  field.addEventListener("keydown", onFieldKey);
  options.addEventListener("keydown", onListKey);
  const choose = later(120, () => say("select"));
  onKeys("catalog", root, onKey);
  return { setModel, setView };

  function setModel(next) {
    model = next;
    isStale = true;
  }

  function setView(next, take) {
    const isFirst = !view.start;
    isStale = isStale || next.listing !== view.listing;
    view = next;
    // Commands are what the page last sent, and may be behind what the user did on an earlier visit of the page.
    const commands = [take("operator"), take("search")];
    const [operator, search] = isFirst ? view.start : commands;
    if (search !== undefined) field.value = search;
    if (operator !== undefined) current = operator;
    if (search !== undefined || operator !== undefined || isStale) drawList();
    if (isStale) keepFocus(drawSheet);
    isStale = false;
    sheet.classList.toggle("waits", !isShown());
  }

  function isShown() {
    return model.sheet ? model.sheet.id === current : model.unknown === current;
  }

  function say(kind, more) {
    tell({ kind, operator: current, search: field.value, command: "", ...more });
  }

  function families() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = model.catalog[areaOf(current)];
    if (!words.length) return all;
    return all.map((family) => ({ ...family, entries: family.entries.filter((entry) => FOUND(entry, words)) })).filter((family) => family.entries.length);
  }

  function drawList() {
    const shown = families();
    const entries = shown.flatMap((family) => family.entries);
    const total = model.catalog[areaOf(current)].reduce((sum, family) => sum + family.entries.length, 0);
    root.dataset.found = String(entries.length);
    root.dataset.operator = current;
    head.replaceChildren(tabs(AREAS, areaOf(current), pickArea));
    count.textContent = entries.length === total ? `${total}` : `${entries.length} of ${total}`;
    // One option is in the order of tabs; the arrows lead to the others.
    const stop = entries.some((entry) => entry.id === current) ? current : (entries[0] || { id: "" }).id;
    options.replaceChildren(...shown.map((family) => el("div", { role: "group", "aria-label": family.title },
      el("div", { class: "family", title: family.title }, shortTitle(family.title)), family.entries.map((entry) => option(entry, stop)))));
    options.hidden = !entries.length;
    nothing.hidden = entries.length > 0;
    nothing.replaceChildren(el("b", {}, "Nothing found"), el("p", { class: "sub" }, "No name, Relay name or summary has ", el("code", {}, field.value), "."), button("Clear the search", "", "", clear));
    const chosen = options.querySelector("[aria-selected=true]");
    // The first time the list has no height yet.
    if (chosen) requestAnimationFrame(() => chosen.scrollIntoView({ block: "nearest" }));
  }

  function option(entry, stop) {
    const relay = entry.relay_name && entry.relay_name !== entry.name ? entry.relay_name : "";
    const isOn = entry.id === current;
    return el("div", { role: "option", class: "option" + (isOn ? " on" : ""), "aria-selected": String(isOn), tabindex: entry.id === stop ? 0 : -1, title: entry.summary, data: { id: entry.id }, click: () => pick(entry.id) },
      el("span", { class: "m name" }, entry.name), relay ? el("span", { class: "m muted relay" }, relay) : "");
  }

  function pickArea(area) {
    if (area === areaOf(current)) return;
    field.value = "";
    pick(model.catalog[area][0].entries[0].id);
  }

  function pick(id, isFocused) {
    current = id;
    drawList();
    sheet.classList.toggle("waits", !isShown());
    if (isFocused) options.querySelector("[aria-selected=true]").focus();
    choose();
  }

  function move(by, isFocused) {
    const ids = families().flatMap((family) => family.entries.map((entry) => entry.id));
    if (!ids.length) return;
    const at = ids.indexOf(current);
    pick(ids[at < 0 ? 0 : Math.min(Math.max(at + by, 0), ids.length - 1)], isFocused);
  }

  function clear() {
    field.value = "";
    drawList();
    field.focus();
    say("search");
  }

  function onFieldKey(event) {
    const act = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: () => move(0), Escape: clear }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  function onListKey(event) {
    const focused = event.target.dataset.id;
    const act = { ArrowDown: () => move(1, true), ArrowUp: () => move(-1, true), PageDown: () => move(12, true), PageUp: () => move(-12, true), Home: () => move(-9999, true), End: () => move(9999, true), Enter: () => pick(focused, true), " ": () => pick(focused, true) }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  function onKey(event) {
    const act = { "/": () => field.select(), j: () => move(1), k: () => move(-1), r: () => model.sheet && model.sheet.example && say("run") }[event.key];
    if (!act || !model) return false;
    act();
    return true;
  }

  function keepFocus(draw) {
    const focused = root.getRootNode().activeElement;
    const name = focused && sheet.contains(focused) ? focused.dataset.focus : "";
    draw();
    const again = name && sheet.querySelector(`[data-focus="${name}"]`);
    if (again) again.focus();
  }

  function drawSheet() {
    const item = model.sheet;
    sheet.classList.toggle("single", !item || !item.has_listing);
    if (!item) {
      sheet.replaceChildren(el("div", { class: "state" }, el("b", {}, "Not in the table"), el("span", {}, "There is no ", el("code", {}, model.unknown), ". Choose one from the list.")));
      return;
    }
    sheet.replaceChildren(el("div", { class: "pane about" },
      el("div", { class: "ph" }, el("b", { class: "m" }, item.name), el("span", { class: "sp" }), item.chips.map((text) => chip(text))),
      el("div", { class: "body", tabindex: 0, role: "region", "aria-label": `About ${item.name}` }, el("div", { class: "pad" }, el("p", { class: "summary" }, prose(item.summary)), codeBlock(item.call), schemaTable(item), facts(item), exampleOf(item)))),
    item.has_listing ? listingPane(item) : "");
  }

  function exampleOf(item) {
    const title = el("div", { class: "h", role: "heading", "aria-level": "3" }, item.sample ? `Example: the sample ${item.sample}` : "Example");
    if (!item.example) return [title, el("p", { class: "sub" }, "No sample calls it.")];
    const focus = (name) => ({ data: { focus: name } });
    return [title, el("div", { class: "row tools" },
      button("Run", "p", "r", () => say("run"), focus("run")), copyButton(item.example.text, "example"), el("span", { class: "sp" }),
      button("Open in Source", "", "", () => say("open", { command: "source" }), focus("source")), button("Open in Run", "", "", () => say("open", { command: "run" }), focus("openrun"))),
    model.tried ? triedOf(model.tried) : "", codeBlock(item.example)];
  }

  function listingPane(item) {
    const pick = (command) => say("listing", { command });
    const lines = item.listing ? el("div", { class: "code lines" }, item.listing.lines.map((line) => el("div", { class: "ln" }, el("span", { class: "g" }, line.number), el("span", { class: "t" }, line.tokens.map(tokenSpan))))) : "";
    const empty = item.listing ? "" : el("div", { class: "state" }, el("b", {}, "No prim func"), prose(item.listing_note));
    return el("div", { class: "pane listing" }, el("div", { class: "ph" }, tabs(LISTINGS, view.listing, pick), el("span", { class: "n" }, "of the example"), el("span", { class: "sp" }), item.listing ? copyButton(item.listing.text, "listing") : ""),
      el("div", { class: "body", tabindex: 0, role: "region", "aria-label": view.listing === "llvm" ? "LLVM IR" : "TIR" }, lines, empty));
  }
}

// "Elements: arithmetic, ..." is shown as "Elements"; the whole title is in the hover and for readers of the screen.
function shortTitle(title) {
  const short = title.split(/[:;.]/)[0];
  return short.length > 60 ? short.split(",")[0] : short;
}

function schemaTable(item) {
  if (!item.params.length) return el("p", { class: "sub" }, "It has no parameters.");
  return el("table", { "aria-label": "Parameters" }, el("tr", {}, ["Parameter", "Takes", "Default", ""].map((name) => (name ? el("th", {}, name) : el("td", { class: "empty" })))),
    item.params.map((row) => el("tr", {}, el("td", { class: "m" }, row.name), el("td", { class: "sub" }, row.type), el("td", { class: "m" }, row.default || el("span", { class: "muted" }, "required")), el("td", { class: "muted" }, row.notes.join(", ")))));
}

function facts(item) {
  return el("dl", { class: "facts" }, item.facts.flatMap((row) => [el("dt", {}, row.label), el("dd", {}, prose(row.text))]));
}

function codeBlock(code) {
  return el("div", { class: "code block", tabindex: 0, role: "region", "aria-label": code.name }, withoutEnd(code.lines).map((line) => el("div", { class: "line" }, line.tokens.map(tokenSpan))));
}

const withoutEnd = (lines) => lines.slice(0, lines.findLastIndex((line) => line.tokens.length) + 1);

function copyButton(text, name) {
  const copied = later(1500, (node) => { node.textContent = "Copy"; });
  return button("Copy", "t", "", (event) => {
    const node = event.currentTarget;
    navigator.clipboard.writeText(text).then(() => { node.textContent = "Copied"; copied(node); }, () => { node.textContent = "Not copied"; copied(node); });
  }, { data: { focus: "copy-" + name }, "aria-live": "polite" });
}

function triedOf(tried) {
  const row = (value) => el("tr", { data: { kind: value.kind } }, el("td", { class: "kind" }, badge(value.kind)), el("td", { class: "m" }, value.name), el("td", { class: "m muted" }, value.type), el("td", {}, el("pre", { class: "m", tabindex: 0, role: "group", "aria-label": `Value of ${value.name}` }, value.text)));
  const part = (title, rows) => (rows.length ? [el("tr", { class: "part" }, el("td", { colspan: 4 }, title)), ...rows] : []);
  const problems = tried.problems.map((problem) => el("tr", {}, el("td", {}, severitySign(problem.severity)), el("td", { class: "m muted" }, problem.code), el("td", { colspan: 2 }, prose(problem.message), problem.hint ? el("div", { class: "sub" }, problem.hint) : "")));
  const output = tried.output.map((line) => el("tr", {}, el("td", { colspan: 4 }, el("pre", { class: "m" }, line))));
  return el("table", { class: "tried", "aria-label": "Run of the example" }, el("colgroup", {}, ["badge", "name", "type", "text"].map((name) => el("col", { class: name }))), part("Given, made up from seed 0", tried.inputs.map(row)), part("Printed", output), part("Result", tried.results.map(row)), part("Not run to the end", problems));
}

export default function (args) {
  mount(args, CSS, createCatalog);
}
