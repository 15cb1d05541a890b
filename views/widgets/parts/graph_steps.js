// What a graph of compiler regions has besides: steps to scrub through, ports in the legend, the path between two regions.

const CATEGORY_SYMBOL = { cat0: "●", cat1: "▲", cat2: "◆", cat3: "■", cat4: "★", cat5: "⬢", catNone: "?" };

function portSign(sign) {
  if (sign !== "port" && sign !== "open") return null;
  const look = sign === "port" ? { fill: "currentColor" } : { fill: "none", stroke: "var(--error)", "stroke-width": 1.4 };
  return svg("svg", { width: 16, height: 11, viewBox: "0 0 16 11", "aria-hidden": "true" },
    svg("path", { d: "M0 3H16", stroke: sign === "port" ? "currentColor" : "var(--error)", "stroke-width": 1.4 }), svg("path", { d: "M3.5 3a4.5 4.5 0 0 0 9 0z", ...look }));
}

// One of the steps is chosen; the arrows lead to the others.
function stepper(entries, current, onPick) {
  const ids = entries.map(([id]) => id);
  const onKey = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = ids[ids.indexOf(current) + by];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onPick(next);
  };
  return el("span", { class: "seg", role: "radiogroup", "aria-label": "Steps", keydown: onKey }, entries.map(([id, text]) =>
    el("button", { type: "button", role: "radio", data: { id }, "aria-checked": String(id === current), tabindex: id === current ? 0 : -1, click: () => onPick(id) }, text)));
}

// Marks what lies between two sets of nodes, by way of the nodes of a third set and of ports; `path` holds the three.
function markPath(model, groups, picture, path) {
  if (!picture) return;
  for (const item of picture.querySelectorAll(".blocking,.blocked")) item.classList.remove("blocking", "blocked");
  if (!path.length) return;
  const [starts, between, ends] = path.map((nodes) => new Set(nodes));
  const idsOf = (nodes) => model.nodes.filter((info) => info.node && nodes.has(info.node)).map((info) => info.id);
  const isPort = (id) => groups.get(id) && groups.get(id).classList.contains("port");
  const [from, over, to] = [starts, between, ends].map((nodes) => new Set(idsOf(nodes)));
  const may = (id) => from.has(id) || over.has(id) || to.has(id) || isPort(id);
  const reach = (first, a, b) => {
    const seen = new Set(first);
    for (const id of seen) for (const edge of model.edges) if (edge[a] === id && may(edge[b])) seen.add(edge[b]);
    return seen;
  };
  const [down, up] = [reach(from, 0, 1), reach(to, 1, 0)];
  model.edges.forEach(([source, target], number) => {
    const isOn = down.has(source) && up.has(target) && down.has(target) && up.has(source);
    const isInside = (from.has(source) && from.has(target)) || (to.has(source) && to.has(target));
    const edge = isOn && !isInside && picture.querySelector(`[data-id="e${number}"]`);
    if (edge) edge.classList.add("blocking");
  });
  for (const id of over) if (!isPort(id)) groups.get(id).classList.add("blocked");
}

// What classes say in a style sheet, as attributes: a file has no style sheet.
const BLOCKING = { stroke: "var(--error)", "stroke-width": "2.6" };
const SHAPES = ["rect", "polygon", "path", "ellipse"];
const WRITTEN = [
  [".edge.blocking>path", BLOCKING],
  [".edge.blocking>polygon", { stroke: "var(--error)", fill: "var(--error)" }],
  [shapesOf(".node.blocked"), { stroke: "var(--error)", "stroke-width": "2", fill: "var(--errorBg)" }],
  ...Object.keys(CATEGORY_SYMBOL).flatMap((name) => [
    [shapesOf(`.node.on-${name}`), { fill: `var(--${name}Bg)`, stroke: `var(--${name})` }],
    [`.node .mark.on-${name}`, { fill: `var(--${name})`, "font-size": "9", "font-family": "var(--mono)" }],
    [`.edge.to-${name}>path`, { stroke: `var(--${name})`, "stroke-width": "1.8" }],
    [`.edge.to-${name}>polygon`, { stroke: `var(--${name})`, fill: `var(--${name})` }],
  ]),
];

function shapesOf(selector) {
  return SHAPES.map((name) => `${selector}>${name}`).join();
}

function writeStyles(picture) {
  for (const [selector, attributes] of WRITTEN)
    for (const item of picture.querySelectorAll(selector)) for (const [name, value] of Object.entries(attributes)) item.setAttribute(name, value);
}

// Fills nodes in the colour of their category with its symbol at the corner; edges between two categories have the second one's.
function markColours(model, groups, picture, colours) {
  if (!picture) return;
  for (const item of picture.querySelectorAll(".mark")) item.remove();
  const of = new Map();
  for (const info of model.nodes) {
    const element = groups.get(info.id);
    const colour = colours[info.node] || "";
    for (const name of [...element.classList]) if (name.startsWith("on-")) element.classList.remove(name);
    if (!colour) continue;
    of.set(info.id, colour);
    element.classList.add(`on-${colour}`);
    const shape = element.querySelector("rect,polygon,path,ellipse");
    const box = shape && shape.getBBox();
    if (box) element.append(svg("text", { class: `mark on-${colour}`, x: box.x + box.width, y: box.y + 3, "text-anchor": "middle", "aria-hidden": "true" }, CATEGORY_SYMBOL[colour]));
  }
  model.edges.forEach(([source, target], number) => {
    const [from, to] = [of.get(source), of.get(target)];
    const edge = picture.querySelector(`[data-id="e${number}"]`);
    if (!edge) return;
    for (const name of [...edge.classList]) if (name.startsWith("to-cat")) edge.classList.remove(name);
    if (from && to && from !== to) edge.classList.add(`to-${to}`);
  });
}
