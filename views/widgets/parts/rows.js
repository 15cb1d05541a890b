// Rows of one height, of which only those near the visible part are in the page: a long text scrolls as a short one.

const ROW_HEIGHT = 19;
// So many rows are there above and below the visible ones, and by so many the middle may be off.
const ROWS_AROUND = 80;
const ROWS_SLACK = 30;

// `make(index)` gives the element of a row; `box` scrolls, `lines` holds the rows.
function createRows(box, lines, make) {
  let count = 0;
  let shown = new Map();
  let from = 0;
  let to = 0;
  // Kept, for asking the box for them would cost a layout.
  let top = 0;
  let height = 0;
  box.addEventListener("scroll", () => {
    top = box.scrollTop;
    draw();
  }, { passive: true });
  new ResizeObserver(([entry]) => {
    height = entry.contentRect.height;
    draw();
  }).observe(box);
  return { set, refresh, reveal, shown: () => shown };

  // `columns` is the length of the longest row, so that the width stays while rows come and go.
  function set(next, columns) {
    count = next;
    lines.style.minWidth = `max(100%,${columns + 12}ch)`;
    refresh();
  }

  // Makes all rows anew.
  function refresh() {
    shown = new Map();
    lines.replaceChildren();
    [from, to] = wanted();
    place(from, to);
    lines.append(...fresh(from, to));
  }

  function wanted() {
    const first = Math.floor(top / ROW_HEIGHT) - ROWS_AROUND;
    const last = Math.ceil((top + height) / ROW_HEIGHT) + ROWS_AROUND;
    return [Math.max(0, Math.min(first, count - ROWS_AROUND)), Math.min(count, Math.max(last, ROWS_AROUND))];
  }

  function draw() {
    const [first, last] = wanted();
    const isNear = Math.abs(first - from) < ROWS_SLACK && Math.abs(last - to) < ROWS_SLACK;
    if (isNear && (first > 0 || from === 0) && (last < count || to === count)) return;
    if (first >= to || last <= from) {
      refresh();
      return;
    }
    for (const [index, row] of shown) {
      if (index >= first && index < last) continue;
      row.remove();
      shown.delete(index);
    }
    const [before, behind] = [fresh(first, Math.min(from, last)), fresh(Math.max(to, first), last)];
    [from, to] = [first, last];
    place(first, last);
    lines.prepend(...before);
    lines.append(...behind);
  }

  function fresh(first, last) {
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const row = make(index);
      shown.set(index, row);
      rows.push(row);
    }
    return rows;
  }

  function place(first, last) {
    lines.style.paddingTop = `${first * ROW_HEIGHT}px`;
    lines.style.paddingBottom = `${Math.max(0, count - last) * ROW_HEIGHT}px`;
  }

  function reveal(index) {
    const y = index * ROW_HEIGHT;
    const seen = height || box.clientHeight;
    if (y >= top + 4 && y <= top + seen - 40) return;
    top = Math.min(Math.max(0, y - seen * 0.45), Math.max(0, count * ROW_HEIGHT - seen + ROW_HEIGHT));
    draw();
    box.scrollTop = top;
  }
}
