// Flame strip and slider on one time axis.

const AXIS_LEFT = 21;
const TICK_GAP = 54;
const STRIP_HEIGHT = 88;

function createTimeline(box, onTime) {
  let run = null;
  let points = [];
  let at = 0;
  // The frames are drawn once for a run and a width; a step draws the axis only.
  let drawn = "";
  const frames = svg("g");
  const axisBox = svg("g");
  const picture = svg("svg", { "aria-hidden": "true" }, frames, axisBox);
  box.append(picture);
  box.setAttribute("role", "slider");
  box.setAttribute("aria-label", "Time");
  box.tabIndex = 0;
  box.addEventListener("pointerdown", onDown);
  // The width is kept: asking for it at a step would cost a layout.
  let wide = 0;
  new ResizeObserver(([entry]) => {
    wide = entry.contentRect.width;
    if (run) draw();
  }).observe(box);
  return { setRun, setTime };

  function setRun(next) {
    run = next;
    drawn = "";
    box.setAttribute("aria-valuemin", "0");
    box.setAttribute("aria-valuemax", String(run.total));
  }

  function setTime(time, hitTimes) {
    at = time;
    points = hitTimes;
    box.setAttribute("aria-valuenow", String(time));
    box.setAttribute("aria-valuetext", `time ${time} of ${run.total}`);
    draw();
  }

  function scale() {
    const width = Math.max(200, wide - 2 * AXIS_LEFT);
    return (time) => AXIS_LEFT + (width * time) / Math.max(1, run.total);
  }

  function draw() {
    if (!wide) return;
    const x = scale();
    const deep = Math.max(1, ...run.flame.map((span) => span[3] + 1));
    const rowHeight = Math.min(22, STRIP_HEIGHT / deep);
    const axis = 8 + Math.max(2 * 22, deep * rowHeight) + 10;
    if (drawn !== `${wide}`) {
      drawn = `${wide}`;
      frames.replaceChildren(...run.flame.map((span) => flame(span, x, rowHeight)));
      picture.setAttribute("width", wide);
      picture.setAttribute("height", axis + 26);
    }
    const out = [];
    out.push(svg("rect", { x: x(0), y: axis - 2, width: x(run.total) - x(0), height: 4, rx: 2, fill: "var(--line2)" }));
    out.push(svg("rect", { x: x(0), y: axis - 2, width: x(at) - x(0), height: 4, rx: 2, fill: "var(--accent)" }));
    for (const time of ticks(x)) {
      const isNow = time === at;
      out.push(svg("rect", { x: x(time) - 1, y: axis - 6, width: 2, height: 12, fill: "var(--text3)" }));
      out.push(svg("text", { x: x(time), y: axis + 20, "text-anchor": "middle", "font-size": 10.5, "font-family": "var(--mono)", fill: isNow ? "var(--accent)" : "var(--text3)", "font-weight": isNow ? 700 : 400 }, String(time)));
    }
    for (const time of points.slice(0, 300)) out.push(svg("circle", { cx: x(time), cy: axis, r: 5, fill: "var(--error)" }));
    out.push(svg("line", { x1: x(at), x2: x(at), y1: 0, y2: axis, stroke: "var(--accent)", "stroke-width": 1.5 }));
    out.push(svg("circle", { cx: x(at), cy: axis, r: 8, fill: "var(--accent)", stroke: "var(--chrome)", "stroke-width": 2 }));
    axisBox.replaceChildren(...out);
  }

  function flame([label, start, end, depth, category], x, rowHeight) {
    const left = x(start) + 1;
    const width = Math.max(1.5, x(end) - x(start) - 2);
    const y = 4 + depth * rowHeight;
    const colour = category || "";
    const shape = svg("rect", {
      x: left, y, width, height: rowHeight > 8 ? rowHeight - 4 : rowHeight * 0.8, rx: Math.min(4, rowHeight / 4),
      fill: colour ? `var(--${colour}Bg)` : rowHeight < 4 ? "var(--line2)" : "var(--raised)", stroke: rowHeight < 4 ? "none" : colour ? `var(--${colour})` : "var(--line2)",
    });
    const room = Math.floor((width - 12) / 6.7);
    const text = rowHeight >= 14 && room >= 3 ? (label.length > room ? label.slice(0, room - 1) + "…" : label) : "";
    const name = text && svg("text", { x: left + 7, y: y + rowHeight / 2 + 2, "font-size": 11, "font-family": "var(--mono)", fill: colour ? `var(--${colour})` : "var(--text2)" }, text);
    return svg("g", {}, svg("title", {}, `${label}, time ${start} to ${end}`), shape, name);
  }

  function ticks(x) {
    const perTick = (TICK_GAP * run.total) / Math.max(1, x(run.total) - x(0));
    const power = 10 ** Math.floor(Math.log10(Math.max(1, perTick)));
    const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= perTick) || 1);
    const out = [];
    for (let time = 0; time <= run.total; time += step) if (run.total - time >= step || time === run.total) out.push(time);
    if (out[out.length - 1] !== run.total) out.push(run.total);
    if (!out.includes(at) && step > 1) return out.filter((time) => Math.abs(x(time) - x(at)) > 34).concat(at);
    return out;
  }

  function timeOf(event) {
    const rect = box.getBoundingClientRect();
    const x = scale();
    const share = (event.clientX - rect.left - x(0)) / (x(run.total) - x(0));
    return Math.round(Math.min(1, Math.max(0, share)) * run.total);
  }

  function onDown(event) {
    if (!run || event.button !== 0) return;
    onTime(timeOf(event));
    const move = (e) => onTime(timeOf(e));
    const up = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
  }
}
