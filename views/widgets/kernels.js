// A kernel in three forms beside each other; a line, a row or a key selects a part, and all forms show it.

const LINES_SHOWN = 6000;
const ORIGINS_SHOWN = 4;

function createKernels(root, tell) {
  const body = el("div", { class: "forms" });
  root.append(body);
  let model = null;
  let view = {};
  let part = 0;
  let form = "optimised";
  let panes = [];
  onKeys("kernels", root, (event) => {
    const step = { j: 1, k: -1 }[event.key];
    if (step) return go(step);
    if (event.key === "l") return (choose(form === "lowered" ? "optimised" : "lowered"), true);
    return event.key === "Escape" && part > 0 && (select(0), true);
  });
  return { setModel, setView };

  function setModel(next) {
    model = next;
    panes = [];
  }

  function setView(next) {
    view = next;
    const isSame = panes.length && view.form === form;
    form = view.form;
    part = model.parts.some(([number]) => number === view.part) ? view.part : 0;
    if (!isSame) draw();
    mark(true);
  }

  function draw() {
    const toggle = segments("Form of the IR", [["lowered", "as lowered"], ["optimised", "optimised"]], form, choose);
    panes = [
      pane("TIR", model.tir, origins(), el("code", { class: "n" }, model.name)),
      pane("LLVM", model[form], count(model[form].instruction_count, "instruction"), toggle),
      pane("Assembly", model.assembly, count(model.assembly.instruction_count, "instruction"), el("code", { class: "n" }, model.target)),
    ];
    body.replaceChildren(...panes.map((item) => item.section), ...tables());
    root.dataset.form = form;
    root.dataset.kernel = model.name;
  }

  // The lines of the user's text that the kernel computes, as links to them.
  function origins() {
    const link = ([number, text]) => lineLink(number, text);
    const shown = model.origins.slice(0, ORIGINS_SHOWN);
    if (!shown.length) return "";
    return [model.origins.length > 1 ? "lines " : "line ", shown.map((origin, k) => [k ? ", " : "", link(origin)]), model.origins.length > shown.length ? ` and ${model.origins.length - shown.length} more` : ""];
  }

  function lineLink(number, text) {
    const follow = (event) => {
      event.stopPropagation();
      tell({ kind: "line", part, form, line: number });
    };
    return el("button", { type: "button", class: "link", title: text, "aria-label": `Line ${number} of the source: ${text}`, click: follow }, number);
  }

  function choose(next) {
    form = next;
    draw();
    mark(true);
    tell({ kind: "form", form, part });
  }

  function colour(number) {
    return number ? model.parts[number - 1][3] : "";
  }

  function pane(title, text, note, extra) {
    const rows = new Map();
    const shown = text.lines.slice(0, LINES_SHOWN);
    const lines = shown.map(([tokens, number, own, others]) => {
      const tag = own ? el("span", { class: "tag", "aria-hidden": "true" }, own) : "";
      const row = el("div", { class: `ln ${colour(own)}${own ? " linked" : ""}` }, el("span", { class: "g" }, tag, number), el("span", { class: "t" }, tokens.map(tokenSpan)));
      if (own) {
        row.addEventListener("click", () => select(own === part && others.length ? others[0] : own));
        row.dataset.part = own;
        for (const item of [own, ...others]) rows.set(item, [...(rows.get(item) || []), row]);
      }
      return row;
    });
    if (text.lines.length > shown.length) lines.push(el("p", { class: "none" }, `${(text.lines.length - shown.length).toLocaleString("en")} more lines: export them.`));
    const scroll = el("div", { class: "body", tabindex: "0", role: "region", "aria-label": title }, el("div", { class: "code" }, lines));
    const section = el("section", { class: "pane", data: { form: title } }, el("div", { class: "ph" }, el("b", { role: "heading", "aria-level": "2" }, title), extra, el("span", { class: "sp" }), el("span", { class: "n" }, note)), scroll);
    return { section, scroll, rows };
  }

  function tables() {
    const partTag = (number) => (number ? el("b", { class: `tag-text ${colour(number)}` }, number) : "");
    const row = (number, ...cells) => {
      const made = el("tr", { data: { part: number || "" } }, cells);
      return number ? pickable(made, () => select(number === part ? 0 : number)) : made;
    };
    const textOf = new Map(model.origins);
    const from = (lines) => (lines.length ? ["from ", lines.slice(0, ORIGINS_SHOWN).map((line, k) => [k ? ", " : "", lineLink(line, textOf.get(line) || "")]), lines.length > ORIGINS_SHOWN ? ` and ${lines.length - ORIGINS_SHOWN} more` : ""] : "");
    const parts = model.parts.map(([number, words, line, , lines]) => row(number, el("td", { class: "number" }, partTag(number)), el("td", {}, prose(words)), el("td", { class: "nw" }, from(lines)), el("td", { class: "r muted nw" }, `line ${line}`)));
    const remarks = model.remarks.map(([tone, word, words, number]) => row(number, el("td", { class: "nw" }, chip(`${tone === "ok" ? "✓" : "▲"} ${word}`, tone)), el("td", {}, prose(words)), el("td", { class: "number" }, partTag(number))));
    const states = { always: ["ok", "✓ always"], proven: ["ok", "✓ proven"], checked: ["warning", "▲ checked"] };
    const accesses = model.accesses.map(([access, condition, state, number]) => row(number, el("td", { class: "m" }, access), el("td", { class: condition ? "m" : "muted" }, condition || "always"), el("td", { class: "nw" }, chip(states[state][1], states[state][0])), el("td", { class: "number" }, partTag(number))));
    const sizes = model.sizes.length ? (model.sizes.every(([, value]) => value >= 0) ? `With ${model.sizes.map(([name, value]) => `${name} = ${value}`).join(", ")}` : "For any sizes") : "Sizes are constant";
    return [
      tablePane("Linked parts", "", parts, "", "Nothing is linked."),
      tablePane("What the compiler did", "", remarks, "", "No transformation applied."),
      tablePane("Range checks", sizes, accesses, el("tr", {}, ["Access", "In range if", "Here", ""].map((text) => el("th", {}, text))), "This kernel touches no buffer."),
    ];
  }

  function tablePane(title, note, rows, heads, none) {
    const content = rows.length ? el("table", { "aria-label": title }, heads, rows) : el("p", { class: "none" }, none);
    return el("section", { class: "pane low" }, el("div", { class: "ph" }, el("b", { role: "heading", "aria-level": "2" }, title), el("span", { class: "n" }, note)), el("div", { class: "body", tabindex: "0", role: "region", "aria-label": title }, content));
  }

  function go(step) {
    if (!model.parts.length) return false;
    select(((part - 1 + step + model.parts.length + (part ? 0 : step > 0 ? 1 : 0)) % model.parts.length) + 1);
    return true;
  }

  function select(number) {
    part = number;
    mark(false);
    tell({ kind: "part", part, form });
  }

  // Every form scrolls to the part, but not the one in which it can be seen already.
  function mark(isFirst) {
    for (const node of body.querySelectorAll(".sel,tr.on")) node.classList.remove("sel", "on");
    root.dataset.part = String(part);
    for (const { scroll, rows } of panes) {
      const found = rows.get(part) || [];
      for (const node of found) node.classList.add("sel");
      if (found.length && !found.some((node) => isVisible(scroll, node))) scroll.scrollTop = found[0].offsetTop - scroll.clientHeight / 3;
      else if (!found.length && isFirst && !part) scroll.scrollTop = 0;
    }
    for (const node of part ? body.querySelectorAll(`tr[data-part="${part}"]`) : []) node.classList.add("on");
  }

  function isVisible(scroll, node) {
    return node.offsetTop >= scroll.scrollTop && node.offsetTop + node.offsetHeight <= scroll.scrollTop + scroll.clientHeight;
  }
}

export default function (args) {
  mount(args, CSS, createKernels);
}
