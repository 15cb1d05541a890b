// The picture behind the textarea: highlighted text, line numbers and problem marks of the visible lines only.

const LINE_HEIGHT = 19;
const OVERSCAN = 8;

function createLayer(lines, gutter) {
  const state = { text: null, units: [], tokens: [], language: "plain", problems: [], ranges: [], rangesByLine: new Map(), selected: "", dim: [] };
  let cache = new Map();

  return { state, setText, setCode, draw, nodeAt, lineCount: () => state.units.length, problemsAt, place, rangesOf };

  function setText(text) {
    state.text = text;
    state.units = text.split("\n");
    cache = new Map();
    meet();
  }

  // Server tokens count only while they spell the line as it is in the textarea.
  function setCode(code) {
    state.language = code.language;
    state.server = new Map();
    const source = code.text.split("\n");
    code.lines.forEach((line, i) => state.server.set(i, { text: source[i], tokens: line.tokens, dim: line.is_dim }));
    state.code = code;
    cache = new Map();
    meet();
  }

  // Ranges belong to one text; problems stay beside a text that is being edited until the next answer.
  function meet() {
    if (!state.code) return;
    state.isServerText = state.code.text === state.text;
    state.ranges = state.isServerText ? state.code.ranges : [];
    state.problems = state.code.problems;
  }

  function tokensOf(i) {
    let found = cache.get(i);
    if (!found) {
      const server = state.server && state.server.get(i);
      const text = state.units[i];
      const spells = server && server.text === text && server.tokens.map((t) => t[0]).join("") === text;
      found = spells ? { tokens: server.tokens, dim: server.dim } : { tokens: tokenize(text, state.language), dim: false };
      cache.set(i, found);
    }
    return found;
  }

  function problemsAt(i) {
    return state.problems.filter((p) => p.line <= i + 1 && i + 1 <= Math.max(p.line, p.end_line));
  }

  function squiggles(i) {
    const text = state.units[i];
    return problemsAt(i).map((p) => {
      const from = p.line === i + 1 ? unitOf(text, p.column || 1) : text.length - text.trimStart().length;
      const to = p.end_line === i + 1 && p.end_column ? unitOf(text, p.end_column) : p.end_line > i + 1 ? text.length : from + 1;
      return [Math.min(from, Math.max(0, text.length - 1)), Math.max(to, from + 1), "sq-" + p.severity];
    });
  }

  function rangesOf(node) {
    return node ? state.ranges.filter((range) => range[0] === node) : [];
  }

  function draw(box) {
    const first = Math.max(0, Math.floor(box.scrollTop / LINE_HEIGHT) - OVERSCAN);
    const last = Math.min(state.units.length, Math.ceil((box.scrollTop + box.clientHeight) / LINE_HEIGHT) + OVERSCAN);
    const chosen = rangesOf(state.selected);
    const left = [];
    const middle = [];
    for (let i = first; i < last; i += 1) {
      const { tokens, dim } = tokensOf(i);
      const isSelected = chosen.some((range) => range[1] === i + 1);
      const look = "ln" + (isSelected ? " sel" : "") + (dim ? " dim" : "");
      const problem = problemsAt(i).find((p) => p.line === i + 1);
      const top = { top: i * LINE_HEIGHT + "px" };
      const mark = problem && el("span", { class: "mark" }, severitySign(problem.severity));
      left.push(el("div", { class: look, style: top, data: { line: i + 1 } }, el("span", { class: "g" }, mark, String(i + 1))));
      middle.push(el("div", { class: look, style: top, data: { line: i + 1 } }, el("span", { class: "t" }, markedSpans(tokens, squiggles(i)))));
    }
    gutter.replaceChildren(...left);
    lines.replaceChildren(...middle);
    place(box);
  }

  function place(box) {
    lines.style.transform = `translate(${-box.scrollLeft}px,${-box.scrollTop}px)`;
    gutter.style.transform = `translateY(${-box.scrollTop}px)`;
  }

  // The smallest node around a place; line and column count from 1.
  function nodeAt(line, column) {
    let best = null;
    for (const range of state.ranges) {
      const [, l, c, el_, ec] = range;
      const inside = (line > l || (line === l && column >= c)) && (line < el_ || (line === el_ && column <= ec));
      if (!inside) continue;
      if (!best || size(range) < size(best)) best = range;
    }
    return best ? best[0] : "";
  }

  function size([, line, column, endLine, endColumn]) {
    return (endLine - line) * 10000 + endColumn - column;
  }
}
