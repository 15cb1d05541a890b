// Inspector: all that is known of the selected node.

const isCode = (parts) => parts.length > 0 && parts.every((piece) => piece.style === "code");
const LAYOUTS = {
  pairs: (rows, part) => el("dl", {}, rows.flatMap((row) => [el("dt", {}, row.label), el("dd", { class: isCode(row.value) ? "dd-code" : "" }, row.value.map(part))])),
  table: (rows, part) => el("table", {}, rows.map((row) => el("tr", {}, row.label ? el("td", { class: "m muted" }, row.label) : "", el("td", {}, row.value.map(part)), el("td", { class: "r muted" }, row.detail)))),
  life: (rows, part) => el("div", { class: "life" }, rows.flatMap((row) => [
    el("span", { class: row.mark || "" }, el("span", { class: "sign", role: "img", "aria-label": row.mark || "step" }, row.mark ? MARK_SIGN[row.mark] : "•")),
    el("span", {}, row.value.map(part), " ", el("span", { class: "muted" }, row.detail)),
  ])),
  text: (rows, part) => rows.map((row) => el("p", { class: "text" }, row.value.map(part))),
  code: (rows, part) => el("div", { class: "code block" }, rows.map((row) => el("div", {}, row.value.map(part)))),
};

function createInspector(root, tell) {
  const head = el("div", { class: "ph" });
  const body = el("div", { class: "body" });
  root.append(head, body);
  const handle = el("button", { type: "button", class: "handle", click: () => open(!root.classList.contains("open")) });
  root.getRootNode().append(handle);
  let model = null;
  let view = {};
  onKeys("inspector", root, onKey);
  return { setModel, setView };

  // In a narrow window the inspector is a drawer over the right pane; the style sheet says from when on.
  function isDrawer() {
    return Boolean(view.is_drawer) && getComputedStyle(handle).display !== "none";
  }

  function open(isOpen) {
    const anchor = root.getRootNode().host.closest("[data-testid=stColumn]") || document.body;
    if (isOpen) root.style.setProperty("--top", `${Math.max(0, anchor.getBoundingClientRect().top)}px`);
    root.classList.toggle("open", isOpen);
    drawHandle();
    if (!isOpen) return;
    body.tabIndex = 0;
    body.focus({ preventScroll: true });
  }

  function onKey(event) {
    if (!isDrawer()) return false;
    const isOpen = root.classList.contains("open");
    if (event.key === "p") open(!isOpen);
    else if (event.key === "Escape" && isOpen) open(false);
    else return false;
    return true;
  }

  function drawHandle() {
    const isOpen = root.classList.contains("open");
    handle.setAttribute("aria-expanded", String(isOpen));
    handle.title = isOpen ? "Close the inspector (p, Esc)" : "Open the inspector (p)";
    handle.replaceChildren(isOpen ? "Close" : `Inspector${model && model.title ? `: ${model.title}` : ""}`, el("span", { class: "kbd", "aria-hidden": "true" }, "p"));
  }

  function setModel(next) {
    model = next;
  }

  function setView(next) {
    view = next;
    head.replaceChildren(el("b", {}, "Inspector"), el("span", { class: "sp" }), ...view.actions.map(([id, label]) => button(label, "t", "", () => tell({ kind: "command", command: id }))));
    root.dataset.title = model.title;
    root.classList.toggle("drawer", Boolean(view.is_drawer));
    handle.hidden = !view.is_drawer;
    drawHandle();
    if (!model.title) {
      body.replaceChildren(el("div", { class: "state" }, el("b", {}, "Nothing selected"), "Click a node in the text or in the graph."));
      return;
    }
    body.replaceChildren(el("div", { class: "content" },
      el("div", { class: "row title" }, model.kind ? badge(model.kind, 20) : "", el("b", { class: "m" }, model.title), model.chips.map(([text, tone]) => chip(text, tone))),
      model.sections.flatMap((section) => [section.title ? el("div", { class: "h", role: "heading", "aria-level": "3" }, section.title) : "", LAYOUTS[section.layout](section.rows, part)])));
  }

  function part(piece) {
    const inner = [piece.category ? [symbol(piece.category), " "] : "", piece.text];
    const look = [piece.style === "code" ? "m" : piece.style, piece.syntax].filter(Boolean).join(" ");
    if (!piece.node && !piece.line && !piece.go) return el("span", { class: look }, inner);
    return el("button", { type: "button", class: "link " + look, click: () => follow(piece) }, inner);
  }

  function follow(piece) {
    if (piece.node) shareSelection(piece.node, root);
    tell({ kind: piece.go ? "go" : piece.node ? "select" : "line", node: piece.node, line: piece.line, command: piece.go });
  }
}

export default function (args) {
  mount(args, CSS, createInspector);
}
