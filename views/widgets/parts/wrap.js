// Long lines on several rows: where a line breaks, and the tokens of a part of it.

const WRAP_HANG = 4;
// A pane that is narrower is scrolled sideways: lines of a few characters cannot be read.
const WRAP_LEAST = 24;
// A line breaks behind one of these if it comes in the last part of the row, else where the row ends.
const WRAP_BREAK = /[\s,(\[{=]/;
const WRAP_LAST_PART = 0.5;
// Of a line on more rows, those behind the first ones are folded but for what is marked.
const WRAP_ROWS = 8;
const WRAP_FIRST_ROWS = 2;

// Gives the parts [from, to, columns of indentation] of a line.
function wrapped(text, columns) {
  if (text.length <= columns) return [[0, text.length, 0]];
  const hang = Math.min(text.search(/\S|$/) + WRAP_HANG, Math.floor(columns / 3));
  const parts = [];
  for (let from = 0; from < text.length; ) {
    const room = columns - (from ? hang : 0);
    let to = Math.min(text.length, from + room);
    if (to < text.length) {
      let at = to;
      while (at > from + room * WRAP_LAST_PART && !WRAP_BREAK.test(text[at - 1])) at -= 1;
      if (at > from + room * WRAP_LAST_PART) to = at;
      while (text[to] === " ") to += 1;
    }
    parts.push([from, to, from ? hang : 0]);
    from = to;
  }
  return parts;
}

// Gives what is shown of two lines, each its tokens and parts, on `count` rows: [row, 0], or the first row and the number of a fold.
function shownRows(count, sides, isOpen) {
  const rows = Array.from({ length: count }, (_, row) => [row, 0]);
  if (count <= WRAP_ROWS || isOpen) return rows;
  const isMarked = (row) => sides.some(([tokens, parts]) => parts[row] && tokensBetween(tokens, parts[row][0], parts[row][1]).some(([, , highlight]) => highlight));
  const out = [];
  for (const [row] of rows) {
    const last = out[out.length - 1];
    if (row < WRAP_FIRST_ROWS || isMarked(row)) out.push([row, 0]);
    else if (last[1]) last[1] += 1;
    else out.push([row, 1]);
  }
  return out;
}

function tokensBetween(tokens, from, to) {
  const out = [];
  let at = 0;
  for (const [text, ...look] of tokens) {
    const piece = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (piece) out.push([piece, ...look]);
    at += text.length;
  }
  return out;
}

// How many characters of code fit into so many pixels.
function columnsIn(root, width) {
  const ruler = el("span", { class: "code", "aria-hidden": "true", style: { position: "absolute", visibility: "hidden" } }, "0".repeat(100));
  root.append(ruler);
  const columns = Math.floor((width * 100) / ruler.getBoundingClientRect().width);
  ruler.remove();
  return Math.max(WRAP_LEAST, columns);
}
