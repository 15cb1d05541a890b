// Memory: bytes over time, and a row for each storage with the tensors in it; one time axis with the strip below.

const CURVE_HEIGHT = 72;
const LANE_HEIGHT = 17;
// A narrower box has its name beside it.
const WIDE = 0.16;

function createMemory(box, onTime) {
  let model = null;
  let at = 0;
  let dead = [];
  let faults = el("div");
  const now = el("span", { class: "n" });
  const head = el("div", { class: "memory-head" });
  const curve = el("div", { class: "memory-curve", title: "Bytes in use; a click leads to the time" });
  const rows = el("div", { class: "memory-rows", role: "list", "aria-label": "Storages and tensors" });
  const line = el("div", { class: "memory-now", "aria-hidden": "true" });
  const chart = el("div", { class: "memory-chart" }, curve, rows, line);
  box.append(head, chart);
  curve.addEventListener("click", (event) => onTime(timeOf(event)));
  box.addEventListener("keydown", onKey);
  return { setModel, setTime };

  function setModel(next) {
    if (next === model) return;
    model = next;
    const top = rows.scrollTop;
    if (!model) {
      head.replaceChildren(el("span", { class: "muted" }, "Following the memory of the run."));
      curve.replaceChildren();
      rows.replaceChildren();
      return;
    }
    faults = model.faults.length ? el("div", { class: "memory-faults", role: "alert" }, model.faults.slice(0, 20).map(faultLine)) : "";
    const peak = el("button", { type: "button", class: "link", click: () => onTime(model.peak_time) }, "Go to the peak");
    head.replaceChildren(el("div", { class: "memory-line" }, el("span", {}, model.summary), now, peak), key(), faults || "", model.note ? el("div", { class: "muted" }, model.note) : "");
    curve.replaceChildren(el("div", { class: "memory-label muted" }, `peak ${bytes(model.peak_bytes)}`), drawCurve());
    rows.replaceChildren(...model.rows.map(drawRow));
    dead = [];
    const first = rows.querySelector(".memory-box");
    if (first) first.tabIndex = 0;
    rows.scrollTop = top;
    setTime(at);
  }

  function setTime(time) {
    at = time;
    if (!model) return;
    // Set where it is used: on the chart it would restyle every row at every step.
    line.style.left = `calc(20px + (100% - 42px) * ${share(time)})`;
    let last = -1;
    model.times.forEach((from, i) => (last = from <= time ? i : last));
    now.textContent = `${bytes(last < 0 ? 0 : model.sizes[last])} at time ${time}`;
    model.rows.forEach(([, , , start, end], i) => {
      const isDead = time < start || time >= Math.max(end, start + 1);
      if (dead[i] !== isDead) rows.children[i].classList.toggle("dead", (dead[i] = isDead));
    });
  }

  function share(time) {
    return Math.min(1, time / Math.max(1, model.total));
  }

  function key() {
    const entry = (look, text) => el("span", { class: "legend-entry" }, el("span", { class: "memory-key " + look }), text);
    return el("div", { class: "memory-line muted" }, entry("used", "written to last use"), entry("held", "held"), entry("storage", "storage"), model.faults.length ? entry("faulty", "! used too late") : "");
  }

  function faultLine(fault) {
    return el("div", {}, severitySign("error"), " ", prose(fault.message), " ",
      el("button", { type: "button", class: "link", click: () => onTime(fault.write) }, "Step to the write"), " ",
      el("button", { type: "button", class: "link", click: () => onTime(fault.read) }, "Step to the read"));
  }

  function drawCurve() {
    const most = Math.max(1, model.peak_bytes);
    const y = (size) => (CURVE_HEIGHT - 4) * (1 - size / most) + 2;
    let path = "";
    model.times.forEach((time, i) => {
      const x = share(time) * 1000;
      path += i ? `H${x}V${y(model.sizes[i])}` : `M${x},${y(model.sizes[i])}`;
    });
    path += "H1000";
    const first = model.times.length ? share(model.times[0]) * 1000 : 0;
    const area = `${path}V${CURVE_HEIGHT}H${first}Z`;
    const peakX = share(model.peak_time) * 1000;
    return svg("svg", { viewBox: `0 0 1000 ${CURVE_HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": model.summary },
      svg("path", { d: area, fill: "var(--cat0Bg)" }), svg("path", { d: path, fill: "none", stroke: "var(--cat0)", "stroke-width": 1.5, "vector-effect": "non-scaling-stroke" }),
      svg("line", { x1: 0, x2: 1000, y1: y(most), y2: y(most), stroke: "var(--line2)", "stroke-dasharray": "4 4", "vector-effect": "non-scaling-stroke" }),
      svg("line", { x1: peakX, x2: peakX, y1: 0, y2: CURVE_HEIGHT, stroke: "var(--cat0)", "stroke-dasharray": "2 3", "vector-effect": "non-scaling-stroke" }));
  }

  function drawRow([label, kind, size, start, end, boxes, note]) {
    const lanes = [];
    const isOne = boxes.length === 1;
    const track = el("div", { class: "memory-track" });
    if (kind === "storage") track.append(el("span", { class: "memory-storage", style: place(start, end) }));
    for (const item of boxes) {
      let lane = lanes.findIndex((until) => until <= item[1]);
      if (lane < 0) lane = lanes.length;
      lanes[lane] = Math.max(item[2], item[1] + 1);
      track.append(drawBox(item, lane, label, isOne));
    }
    if (isOne) track.append(beside(boxes[0]));
    track.style.height = `${Math.max(1, lanes.length) * LANE_HEIGHT + 7}px`;
    const where = `${kind} ${label}, ${bytes(size)}, time ${start} to ${end}${note ? ", " + note : ""}`;
    const name = el("div", { class: "memory-label", title: where }, el("span", { class: "m" }, shortName(label)), el("span", { class: "muted" }, bytes(size)));
    return el("div", { class: "memory-row", role: "listitem", "aria-label": where }, isOne ? "" : name, track);
  }

  // The name of the only tensor of a row, and its size: inside if it fits, else behind it or before it.
  function beside([label, start, end, , , size]) {
    const isWide = share(end) - share(start) > WIDE;
    const style = isWide || share(end) < 1 - WIDE ? { left: `calc(${share(isWide ? start : end) * 100}% + 6px)` } : { right: `calc(${100 - share(start) * 100}% + 6px)` };
    return el("span", { class: "memory-name", style, "aria-hidden": "true" }, el("span", { class: "m" }, shortName(label)), " ", el("span", { class: "muted" }, bytes(size)));
  }

  function drawBox([label, start, end, write, use, size, offset, line_, note, isFaulty], lane, storage, isOne) {
    const inside = storage === label ? "" : ` in ${storage} at byte ${offset}`;
    const used = use >= 0 ? `last used at ${use}` : "never used";
    const words = `${label}: ${note}, ${bytes(size)}${inside}, time ${start} to ${end}, ${used}${line_ ? `, line ${line_}` : ""}${isFaulty ? ", used after its storage was taken again" : ""}`;
    const from = write >= 0 ? write : start;
    const shape = el("button", { type: "button", class: "memory-box" + (isFaulty ? " faulty" : ""), tabindex: -1, title: words, "aria-label": words, style: { ...place(start, end), top: `${4 + lane * LANE_HEIGHT}px` }, data: { start }, click: () => onTime(from) }, isOne ? "" : el("span", { class: "m" }, (isFaulty ? "! " : "") + shortName(label)));
    const life = Math.max(1, end - start);
    const part = (time) => `${Math.min(100, Math.max(0, (100 * (time - start)) / life))}%`;
    shape.style.setProperty("--from", part(from));
    shape.style.setProperty("--to", part(Math.max(from, use) + 1));
    return shape;
  }

  function place(start, end) {
    return { left: `${share(start) * 100}%`, width: `max(3px, ${(share(Math.max(end, start)) - share(start)) * 100}%)` };
  }

  // The tensors are one stop of the tab order; the arrows lead from one to the next.
  function onKey(event) {
    const all = [...rows.querySelectorAll(".memory-box")];
    const index = all.indexOf(event.target);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = index < 0 ? null : event.key === "Home" ? all[0] : event.key === "End" ? all[all.length - 1] : all[index + step];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    all[index].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function timeOf(event) {
    const rect = curve.querySelector("svg").getBoundingClientRect();
    return Math.round(Math.min(1, Math.max(0, (event.clientX - rect.left) / rect.width)) * model.total);
  }
}

function shortName(name) {
  return name.slice(name.indexOf(".") + 1);
}

function bytes(count) {
  const unit = count < 1e3 ? 0 : count < 1e6 ? 1 : count < 1e9 ? 2 : 3;
  return unit ? `${(count / 1000 ** unit).toFixed(1)} ${["B", "kB", "MB", "GB"][unit]}` : `${count} B`;
}
