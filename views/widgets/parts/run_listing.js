// The two listings: built once per run, then only marks change.

function createListing(box, label, gutterLabel, onGutter, onPick, onMenu) {
  let rows = new Map();
  let chipped = new Set();
  box.setAttribute("aria-label", label);
  box.tabIndex = 0;
  return { build, mark, reveal, has: (key) => rows.has(key) };

  function build(lines, keyOf, numberOf) {
    rows = new Map();
    chipped = new Set();
    const out = lines.map((line) => {
      const key = keyOf(line);
      const left = el("span", { class: "g" });
      const text = el("span", { class: "t" }, line.tokens.map(tokenSpan));
      const row = el("div", { class: "ln" + (line.is_dim ? " dim" : "") }, left, text);
      if (key >= 0) {
        row.dataset.key = String(key);
        left.classList.add("can-break");
        left.title = `${gutterLabel} ${numberOf(line)}; right button: with a condition`;
        left.addEventListener("click", () => onGutter(key));
        left.addEventListener("contextmenu", (event) => (event.preventDefault(), onMenu(key)));
        text.addEventListener("click", () => onPick(key));
        if (!rows.has(key)) rows.set(key, { key, row, left, text, number: String(numberOf(line)), chip: null, shown: "" });
      } else {
        left.append(line.number === 0 && keyOf(line) !== -1 ? "↪" : "");
      }
      return row;
    });
    box.replaceChildren(el("div", { class: "code lines" }, out));
    for (const entry of rows.values()) drawGutter(entry, {}, "");
  }

  // states: key -> {cur, sel, cursor, point, done, chip}
  function mark(states, done) {
    for (const [key, entry] of rows) {
      const state = states.get(key) || {};
      const isDone = done(key);
      const shown = [state.cur, state.sel, state.cursor, isDone, state.point && state.point.is_on, state.point && state.point.condition].join();
      if (shown !== entry.shown) {
        entry.shown = shown;
        entry.row.classList.toggle("cur", Boolean(state.cur));
        entry.row.classList.toggle("sel", Boolean(state.sel));
        entry.row.classList.toggle("cursor", Boolean(state.cursor));
        if (state.cur) entry.row.setAttribute("aria-current", "step");
        else entry.row.removeAttribute("aria-current");
        drawGutter(entry, state, isDone);
      }
    }
    for (const entry of [...chipped]) if (!(states.get(entry.key) || {}).chip) drawChip(entry, null);
    for (const [key, state] of states) {
      const entry = rows.get(key);
      if (entry && state.chip) drawChip(entry, state.chip);
    }
  }

  // A chip that stays is left alone: a long function has thousands of them.
  function drawChip(entry, chip) {
    const look = chip ? "iv" + (chip.isNew ? " new" : "") : "";
    if (entry.chip && chip && entry.chip.className === look && entry.chip.textContent === chip.text) return;
    if (entry.chip) entry.chip.remove();
    entry.chip = chip && el("span", { class: look }, chip.text);
    if (!chip) return void chipped.delete(entry);
    entry.text.append(entry.chip);
    chipped.add(entry);
  }

  function drawGutter(entry, state, isDone) {
    const point = state.point;
    const sign = point && (point.condition ? "?" : "");
    entry.left.replaceChildren(
      isDone ? el("span", { class: "ex", title: "executed" }) : "",
      point ? el("span", { class: "bp" + (point.is_on ? "" : " off"), role: "img", "aria-label": `breakpoint${point.is_on ? "" : ", off"}${point.condition ? `, if ${point.condition}` : ""}`, title: point.condition ? `if ${point.condition}` : null }, sign) : "",
      state.cur && !point ? el("span", { class: "ar", "aria-hidden": "true" }, "▶") : "",
      entry.number,
    );
  }

  function reveal(key) {
    const entry = rows.get(key);
    if (!entry) return;
    const top = entry.row.offsetTop - box.firstChild.offsetTop;
    if (top < box.scrollTop + 4 || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = Math.max(0, top - box.clientHeight * 0.45);
  }
}
