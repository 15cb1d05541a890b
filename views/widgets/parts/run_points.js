// Breakpoints: the table below the registers, with a condition for each.

function pointLabel(point) {
  return point.line ? `line ${point.line}` : point.pc >= 0 ? `pc ${point.pc}` : "anywhere";
}

// Stops behind the instruction that wrote the first of them.
const AT_NAN = { line: 0, pc: -1, is_on: true, condition: "isnan(written) or isinf(written)" };

function pointKey(point) {
  return `${point.line}:${point.pc}`;
}

function conditionKey(point) {
  return `${pointKey(point)}:${point.condition}`;
}

// `change(index, null)` removes a breakpoint. What is typed is kept until Enter or leaving the field.
function createPoints(change) {
  const drafts = new Map();
  // The field of each breakpoint in the newest table.
  const fields = new Map();
  return { table };

  function table(points, state, problemOf) {
    fields.clear();
    return el("table", { class: "points", "aria-label": "Breakpoints" }, points.map((point, i) => rows(point, i, state, problemOf(point))));
  }

  function rows(point, i, state, known) {
    const label = pointLabel(point);
    const disc = el("button", { type: "button", class: "bp" + (point.is_on ? "" : " off"), "aria-label": `${label}: switch ${point.is_on ? "off" : "on"}`, "aria-pressed": String(point.is_on), data: { focus: "point" + i }, click: () => change(i, { is_on: !point.is_on }) });
    const remove = el("button", { type: "button", class: "link", "aria-label": `Remove ${label}`, click: () => (drafts.delete(pointKey(point)), change(i, null)) }, "Remove");
    const said = point.is_on ? status(point, state, known) : "off";
    const row = el("tr", { data: { point: label } }, el("td", { class: "kind" }, disc), el("td", { class: "m" }, label), el("td", { class: "cond" }, field(point, i, known)), el("td", { class: "muted" }, said), el("td", { class: "r" }, remove));
    return known && known.problem ? [row, problemRow(point, known)] : [row];
  }

  function field(point, i, known) {
    const key = pointKey(point);
    const commit = () => {
      // A field loses the focus while it is taken off the page, too: what it holds lives on in the new table.
      if (fields.get(key) !== input) return;
      const text = input.value.trim();
      drafts.delete(key);
      if (text !== point.condition) change(i, { condition: text });
    };
    const onKey = (event) => {
      event.stopPropagation();
      if (event.key === "Enter") commit();
      if (event.key !== "Escape") return;
      drafts.delete(key);
      input.value = point.condition;
      input.blur();
    };
    const input = el("input", {
      type: "text", class: "m", maxlength: 400, spellcheck: "false", autocomplete: "off", placeholder: "if, such as i > 3", "aria-label": `Condition of ${pointLabel(point)}`,
      "aria-invalid": known && known.problem ? "true" : null, title: "Stops only where this holds: variables, %3, x.shape[0], isnan(x), written, hits, depth, time. Enter takes it.",
      data: { focus: "condition" + i }, input: () => drafts.set(key, input.value), keydown: onKey, blur: commit,
    });
    input.value = drafts.has(key) ? drafts.get(key) : point.condition;
    fields.set(key, input);
    return input;
  }

  function status(point, state, known) {
    if (point.condition && !known) return "looking";
    if (!known) return hitText(state.hits(point));
    if (known.problem && !known.met) return "never stops";
    const first = known.first >= 0 ? `, ${known.stops === 1 ? "at" : "first at"} time ${known.first}` : "";
    return known.met ? `stops at ${known.stops} of ${known.met}${first}` : "not hit";
  }

  function hitText(times) {
    if (!times.length) return "not hit";
    return times.length === 1 ? `hit once, at time ${times[0]}` : `hit ${times.length} times, first at time ${times[0]}`;
  }

  function problemRow(point, known) {
    const problem = known.problem;
    const [from, to] = [problem.column, Math.max(problem.column + 1, problem.end_column)].map((column) => unitOf(point.condition, column));
    const text = point.condition + " ";
    const count = known.problem_count ? el("span", { class: "muted" }, ` At ${known.problem_count} of ${known.met} hits; it does not stop there.`) : "";
    return el("tr", { class: "problem" }, el("td"), el("td", { colspan: 4 },
      el("div", { class: "m" }, text.slice(0, from), el("span", { class: "sq-error" }, text.slice(from, Math.max(from + 1, to))), text.slice(Math.max(from + 1, to))),
      el("div", {}, severitySign(problem.severity), " ", el("code", { title: problem.explanation }, problem.code), " ", prose(problem.message), problem.hint ? [" · ", prose(problem.hint)] : "", count)));
  }
}
