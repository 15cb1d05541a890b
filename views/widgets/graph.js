// Graph: a picture laid out in Python; here it is moved, searched, marked and exported.

const ZOOM_STEP = 1.25;
const PAN_STEP = 60;
// Text is too small to read under the first scale; a picture that would be opens, and marks are shown, in the second.
const SMALL = 0.6;
const READABLE = 0.8;
// A path that is longer than the pane is shown whole down to this scale.
const SMALL_PATH = 0.25;
const MARK_COLOR = { added: "add", removed: "del", changed: "chg", moved: "mov", unchanged: "text3" };
const LINE_SIGN = { line: "──", dash: "╌╌", dot: "····" };
// More functions are a list to choose from: the one that is shown would be out of sight.
const TABS_SHOWN = 4;
const SIDES = [["before", "Before"], ["both", "Both"], ["after", "After"]];

function createGraph(root, tell) {
  const head = el("div", { class: "ph" });
  const menu = el("div", { class: "menu", hidden: true });
  const percent = el("span", { "aria-live": "off" }, "100%");
  const tools = el("div", { class: "gtools" },
    el("button", { type: "button", "aria-label": "Zoom out", title: "Zoom out (-)", click: () => zoom(1 / ZOOM_STEP) }, "−"),
    el("button", { type: "button", "aria-label": "Zoom in", title: "Zoom in (+)", click: () => zoom(ZOOM_STEP) }, "+"),
    el("button", { type: "button", "aria-label": "Fit", title: "Fit (Space)", click: fit }, "⤢"), percent);
  const legend = el("div", { class: "legend" });
  const search = el("input", { type: "search", "aria-label": "Search the graph", placeholder: "Name, type, function", input: onSearch, keydown: onSearchKey });
  const hits = el("span", { class: "muted" });
  const find = el("div", { class: "find", hidden: true }, search, hits);
  const tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  const canvas = el("div", { class: "canvas", tabindex: "0", role: "application", "aria-roledescription": "graph" });
  root.append(head, menu, canvas, tip);
  let model = null;
  let view = {};
  let side = "both";
  let selected = "";
  let picture = null;
  let group = null;
  let box = [0, 0, 1, 1];
  let at = { x: 0, y: 0, k: 1 };
  // What places the picture again when the pane gets another size; nothing once the user moved it.
  let arrange = home;
  let way = "";
  let groups = new Map();
  let infos = new Map();
  let order = [];
  let found = [];
  let hovered = "";

  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("pointerdown", onPointerDown);
  canvas.addEventListener("pointermove", onHover);
  canvas.addEventListener("pointerleave", () => setHover(null));
  canvas.addEventListener("dblclick", (event) => openGroup(nodeOf(event)));
  canvas.addEventListener("keydown", onKey);
  new ResizeObserver(() => arrange && arrange()).observe(canvas);
  onSharedSelection(root, (node) => markSelected(node, true));
  onKeys("graph steps", root, (event) => Boolean(view.steps && view.steps.length && view.step_keys) && stepBy({ j: 1, k: -1 }[event.key]));
  onKeys("graph search", root, (event) => event.key === "/" && Boolean(picture) && (openSearch(), true));
  return { setModel, setView };

  function setModel(next) {
    model = next;
    infos = new Map(model.nodes.map((info) => [info.id, info]));
    picture = model.svg ? importSvg(model.svg) : null;
    groups = new Map();
    order = [];
    canvas.replaceChildren();
    canvas.setAttribute("aria-label", `${model.title || "graph"}, ${model.node_count} nodes. Arrows move, plus and minus zoom, n and p choose, Enter opens.`);
    root.dataset.nodes = String(model.nodes.length);
    if (!picture) {
      canvas.append(el("div", { class: "state" }, el("b", {}, model.empty_title), el("span", {}, prose(model.empty_text))));
      return;
    }
    wrap();
    for (const node of picture.querySelectorAll("g.node")) register(node);
    drawLegend();
    canvas.append(picture, legend, tools, find);
    way = "";
    home();
    markSelected(selected, false);
  }

  function wrap() {
    const [x, y, width, height] = (picture.getAttribute("viewBox") || "0 0 100 100").split(/[\s,]+/).map(Number);
    box = [x, y, width, height];
    group = svg("g", { class: "view" }, [...picture.childNodes]);
    for (const name of ["width", "height", "viewBox"]) picture.removeAttribute(name);
    picture.replaceChildren(group);
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", model.title || "graph");
  }

  function register(node) {
    const id = node.dataset.id;
    const info = infos.get(id);
    if (!info) return;
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", [info.mark === "unchanged" ? "" : info.mark, info.title, info.subtitle].filter(Boolean).join(", "));
    groups.set(id, node);
    order.push(id);
  }

  function setView(next, take) {
    view = next;
    const wantedSide = take("side");
    if (wantedSide) side = wantedSide;
    const wanted = take("node");
    if (wanted !== undefined) markSelected(wanted, true);
    const lit = new Set(view.highlight || []);
    for (const [id, node] of groups) node.classList.toggle("lit", lit.has(infos.get(id).node) || lit.has(id));
    for (const [id, node] of groups) node.classList.toggle("now", Boolean(view.current) && infos.get(id).node === view.current);
    canvas.classList.toggle("dimmed", lit.size > 0 || found.length > 0);
    markPath(model, groups, picture, view.path || []);
    showPath();
    markColours(model, groups, picture, view.colours || {});
    showSide();
    drawHead();
    drawLegend();
  }

  function stepBy(by) {
    if (!by) return false;
    const ids = view.steps.map(([id]) => id);
    const next = ids[ids.indexOf(view.step) + by];
    if (next !== undefined) pickStep(next);
    return true;
  }

  function pickStep(id) {
    view = { ...view, step: id };
    drawHead();
    tell({ kind: "step", command: id, node: selected, side });
  }

  function drawHead() {
    const pickTab = (id) => tell({ kind: "tab", command: id, node: selected, side });
    const names = view.steps && view.steps.length ? [stepper(view.steps, view.step, pickStep), view.tabs.length > 1 ? choice("Function", view.tabs, view.tab, pickTab) : ""] : view.tabs.length > TABS_SHOWN ? choice("Function", view.tabs, view.tab, pickTab) : view.tabs.length ? tabs(view.tabs, view.tab || view.tabs[0][0], pickTab) : el("b", {}, view.title || model.title || "Graph");
    const note = model.is_folded ? `${model.node_count.toLocaleString("en")} nodes. Shown folded` : view.note || "";
    const pick = (id) => {
      side = id;
      showSide();
      drawHead();
      tell({ kind: "side", side, node: selected });
    };
    const focused = head.contains(root.getRootNode().activeElement);
    head.replaceChildren(
      ...[names].flat(),
      note ? el("span", { class: "n" }, note) : "",
      el("span", { class: "sp" }),
      ...(model.is_compare ? [segments("Sides", SIDES, side, pick)] : []),
      ...view.actions.map(([id, label]) => button(label, "t", "", () => tell({ kind: "command", command: id, node: selected, side }))),
      ...(model.svg && !(view.steps && view.steps.length) ? [button("Search", "t", "/", openSearch, { title: "Search the graph (/)" })] : []),
      ...(model.svg ? [button("Export", "t", "", toggleMenu, { "aria-haspopup": "true" })] : []),
    );
    const pressed = focused && head.querySelector("[aria-checked=true]");
    if (pressed) pressed.focus();
    const current = head.querySelector("[role=radiogroup] [aria-checked=true]");
    if (current) current.parentNode.scrollLeft = current.offsetLeft + current.offsetWidth - current.parentNode.clientWidth;
    const stem = (model.title || "graph").replace("@", "");
    const entries = [["SVG file", () => download(`${stem}.svg`, "image/svg+xml", exportSvg(exportable()))]];
    entries.push(["PNG file", () => downloadPng(`${stem}.png`, exportSvg(exportable()))]);
    if (model.dot) entries.push(["DOT file", () => download(`${stem}.dot`, "text/vnd.graphviz", model.dot)]);
    if (model.dot) entries.push(["Copy DOT", () => navigator.clipboard.writeText(model.dot)]);
    menu.replaceChildren(...entries.map(([label, act]) => el("button", { type: "button", click: () => { menu.hidden = true; act(); } }, label)));
  }

  function exportable() {
    const copy = picture.cloneNode(true);
    copy.setAttribute("viewBox", box.join(" "));
    writeStyles(copy);
    return copy;
  }

  function toggleMenu() {
    menu.hidden = !menu.hidden;
    if (!menu.hidden) menu.firstChild.focus();
  }

  function drawLegend() {
    const names = (view.colour_names || []).map(([sign, text]) => ({ sign, text }));
    legend.hidden = !model.legend.length && !names.length;
    legend.replaceChildren(...[...names, ...model.legend].map(({ sign, text }) => {
      if (MARK_COLOR[sign]) return el("span", { style: { color: `var(--${MARK_COLOR[sign]})` } }, el("b", {}, MARK_SIGN[sign]), " ", text);
      return el("span", {}, el("i", {}, LINE_SIGN[sign] || symbol(sign) || portSign(sign) || sign), text);
    }), ...(view.path && view.path.length ? [el("span", { class: "error-text" }, el("i", {}, "━"), "blocking path")] : []));
  }

  function showSide() {
    canvas.classList.toggle("show-before", side === "before");
    canvas.classList.toggle("show-after", side === "after");
    root.dataset.side = side;
  }

  function place() {
    group.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.k})`);
    percent.textContent = Math.round(at.k * 100) + "%";
    tip.hidden = true;
  }

  function fit() {
    if (!picture || !canvas.clientWidth) return;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight - BELOW;
    const k = Math.min((width - 24) / box[2], (height - 24) / box[3], 1.38);
    at = { k, x: (width - box[2] * k) / 2 - box[0] * k, y: (height - box[3] * k) / 2 - box[1] * k };
    arrange = fit;
    place();
  }

  function home() {
    fit();
    arrange = home;
    if (!picture || at.k >= SMALL) return;
    const first = order.find((id) => !["", "unchanged"].includes(infos.get(id).mark || "")) || selectedId();
    const start = groups.get(first) || topmost([...groups.values()]);
    if (start) lie(centred(canvas, box, boundsOf(canvas, at, [start]), READABLE));
    arrange = home;
  }

  function lie(next) {
    at = next;
    arrange = null;
    place();
  }

  // Another path is brought into sight.
  function showPath() {
    const next = JSON.stringify(view.path || []);
    if (next === way) return;
    way = next;
    if (picture) reveal(...picture.querySelectorAll(".blocking,.blocked"));
  }

  function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const k = Math.min(6, Math.max(0.05, at.k * factor));
    lie({ k, x: x - ((x - at.x) * k) / at.k, y: y - ((y - at.y) * k) / at.k });
  }

  function pan(dx, dy) {
    lie({ ...at, x: at.x + dx, y: at.y + dy });
  }

  function onWheel(event) {
    if (!picture || event.target.closest(".find,.menu")) return;
    event.preventDefault();
    const rect = canvas.getBoundingClientRect();
    if (event.shiftKey) pan(-event.deltaY, 0);
    else zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - rect.left, event.clientY - rect.top);
  }

  function onPointerDown(event) {
    if (!picture || event.button !== 0 || event.target.closest(".gtools,.legend,.find")) return;
    const start = { x: event.clientX, y: event.clientY, ...{ ax: at.x, ay: at.y } };
    const pressed = nodeOf(event);
    let moved = false;
    const move = (e) => {
      const [dx, dy] = [e.clientX - start.x, e.clientY - start.y];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      moved = true;
      canvas.classList.add("drag");
      lie({ ...at, x: start.ax + dx, y: start.ay + dy });
    };
    const up = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      canvas.classList.remove("drag");
      if (!moved && pressed) choose(pressed);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  }

  function nodeOf(event) {
    const node = event.target.closest && event.target.closest("g.node");
    return node && groups.has(node.dataset.id) ? node.dataset.id : "";
  }

  function choose(id) {
    const info = infos.get(id);
    const node = side === "before" ? info.before_node || info.node : info.node || info.before_node;
    if (!node) return;
    markSelected(node, false);
    shareSelection(node, root);
    tell({ kind: "select", node, side });
  }

  function isNode(info, node) {
    return node !== "" && (info.node === node || info.before_node === node);
  }

  function markSelected(node, isFromOutside) {
    selected = node;
    root.dataset.selected = node;
    for (const [id, element] of groups) {
      const isOn = isNode(infos.get(id), node);
      element.classList.toggle("selected", isOn);
      if (isOn && isFromOutside) reveal(element);
    }
  }

  // Moves only if something is out of sight or too small to read.
  function reveal(...elements) {
    if (!elements.length || !canvas.clientWidth) return;
    const bounds = boundsOf(canvas, at, elements);
    if (isInSight(canvas, at, bounds) && at.k >= SMALL) return;
    if (!isStill()) {
      group.style.transition = "transform 160ms";
      setTimeout(() => (group.style.transition = ""), 200);
    }
    const whole = Math.min((canvas.clientWidth * 0.9) / (bounds.right - bounds.left), (canvas.clientHeight * 0.8) / (bounds.bottom - bounds.top));
    lie(centred(canvas, box, bounds, Math.max(SMALL_PATH, Math.min(at.k < SMALL ? READABLE : at.k, whole))));
  }

  function selectedId() {
    return order.find((id) => isNode(infos.get(id), selected)) || "";
  }

  function onKey(event) {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || !picture) return;
    const act = {
      ArrowLeft: () => pan(PAN_STEP, 0), ArrowRight: () => pan(-PAN_STEP, 0), ArrowUp: () => pan(0, PAN_STEP), ArrowDown: () => pan(0, -PAN_STEP),
      "+": () => zoom(ZOOM_STEP), "=": () => zoom(ZOOM_STEP), "-": () => zoom(1 / ZOOM_STEP), 0: fit, " ": fit, "/": openSearch,
      n: () => move(1), p: () => move(-1), Enter: () => openGroup(selectedId()), Escape: clear,
    }[event.key];
    if (!act || event.target.closest("button")) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  function move(by) {
    const among = found.length ? found : order.filter((id) => side === "both" || ["both", side].includes(infos.get(id).side));
    if (!among.length) return;
    const next = among[(among.indexOf(selectedId()) + by + among.length) % among.length];
    choose(next);
    reveal(groups.get(next));
  }

  function openGroup(id) {
    const info = infos.get(id);
    if (info && info.group) tell({ kind: "open", command: info.group, node: selected, side });
  }

  function clear() {
    find.hidden = true;
    search.value = "";
    onSearch();
    markSelected("", false);
    shareSelection("", root);
    tell({ kind: "select", node: "", side });
  }

  function openSearch() {
    find.hidden = false;
    search.focus();
  }

  function onSearch() {
    const wanted = search.value.trim().toLowerCase();
    found = wanted ? order.filter((id) => [infos.get(id).title, infos.get(id).subtitle, infos.get(id).function].join(" ").toLowerCase().includes(wanted)) : [];
    for (const [id, node] of groups) node.classList.toggle("lit", found.includes(id));
    canvas.classList.toggle("dimmed", wanted !== "");
    hits.textContent = wanted ? `${found.length} found` : "";
  }

  function onSearchKey(event) {
    event.stopPropagation();
    if (event.key === "Escape") {
      find.hidden = true;
      search.value = "";
      onSearch();
      canvas.focus();
    } else if (event.key === "Enter" && found.length) {
      move(event.shiftKey ? -1 : 1);
    }
  }

  function onHover(event) {
    if (event.buttons) return;
    setHover(nodeOf(event), event);
  }

  function setHover(id, event) {
    if (id !== hovered) {
      for (const [key, on] of [[hovered, false], [id, true]]) if (groups.has(key)) groups.get(key).classList.toggle("hover", on);
      hovered = id;
    }
    const info = infos.get(id);
    tip.hidden = !info;
    if (!info) return;
    const place_ = [info.function && `@${info.function}`, info.line && `line ${info.line}`].filter(Boolean).join(", ");
    tip.replaceChildren(el("b", { class: "m" }, info.title), info.subtitle && el("div", { class: "m sub" }, info.subtitle), place_ && el("div", { class: "muted" }, place_));
    const home = root.getBoundingClientRect();
    tip.style.left = Math.min(event.clientX - home.left + 14, home.width - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY - home.top + 16, home.height - tip.offsetHeight - 8) + "px";
  }
}

export default function (args) {
  mount(args, CSS, createGraph);
}
