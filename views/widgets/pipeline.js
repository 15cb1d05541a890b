// Pipeline: the stages, unchanged ones hidden and counted.

const VERDICT_SIGN = { reference: ["•", "muted"], same: ["✓", "ok-text"], different: ["✕", "error-text"], "stops alike": ["!", "warning-text"], "not comparable": ["?", "warning-text"] };

function createPipeline(root, tell) {
  const head = el("div", { class: "ph" });
  const bar = el("div", { class: "row bar" });
  const conclusion = el("div", { class: "pad conclusion" });
  const stages = el("div", { class: "stages" });
  const key = (name) => el("span", { class: "kbd" }, name);
  const foot = el("div", { class: "pad muted foot" }, key("j"), " ", key("k"), " next and previous pass", el("br"), key("d"), " text, graph, both");
  root.append(head, bar, conclusion, stages, foot);
  let model = null;
  let view = {};
  let current = 0;
  let isHiding = true;
  onKeys("pipeline", root, onKey);
  return { setModel, setView };

  function setModel(next) {
    model = next;
  }

  function setView(next, take) {
    view = next;
    const wanted = take("stage");
    if (wanted !== undefined) current = wanted;
    draw();
  }

  function isHidden(stage) {
    return stage.index !== current && (isFollower(stage.index) || isUnchanged(stage));
  }

  function isUnchanged(stage) {
    return isHiding && !stage.is_changed && !isSuspect(stage.index) && !stage.problems.length && stage.index !== current && stage.index !== 0 && stage.index !== model.stages.length - 1;
  }

  function isSuspect(index) {
    return view.suspects.includes(index);
  }

  // A stage that only shows the difference, or the reason, that another one brought.
  function isFollower(index) {
    const found = view.verdicts.find(([stage]) => stage === index);
    return isHiding && Boolean(found) && found[3] >= 0 && !isSuspect(index);
  }

  function draw() {
    root.dataset.stage = String(current);
    const took = model.seconds > 0 ? `, ${milliseconds(model.seconds)} ms` : "";
    const count = model.stages.length;
    head.replaceChildren(el("b", {}, "Pipeline"), el("span", { class: "n" }, `${count} stage${count === 1 ? "" : "s"}${took}`), el("span", { class: "sp" }),
      ...view.actions.map(([id, label]) => button(label, "t", "", () => tell({ kind: "command", command: id, stage: current }))));
    bar.replaceChildren(el("button", { type: "button", class: "chip" + (isHiding ? " accent" : ""), "aria-pressed": String(isHiding), click: toggle }, "Hide unchanged ", key("u")));
    conclusion.hidden = !view.conclusion;
    conclusion.replaceChildren(...prose(view.conclusion));
    const rows = [];
    let [run, followed] = [0, ""];
    const flush = () => {
      if (run) rows.push(el("tr", {}, el("td"), el("td", { colspan: 3, class: "hidden-run" }, `${run} ${followed || "unchanged"}, hidden`)));
      [run, followed] = [0, ""];
    };
    for (const stage of model.stages) {
      const following = isFollower(stage.index) ? followsWhat(stage.index) : "";
      if (isHidden(stage)) {
        if (following !== followed) flush();
        followed = following;
        run += 1;
        continue;
      }
      flush();
      rows.push(stageRow(stage));
    }
    flush();
    stages.replaceChildren(el("table", { "aria-label": "Stages" }, el("tr", {}, el("th", { class: "r no" }, "#"), el("th", {}, "Pass"), el("th", { class: "r change" }, "Change"), el("th", { class: "r ms" }, view.verdicts.length ? "Result" : "ms")), rows));
  }

  function stageRow(stage) {
    const isFailed = stage.problems.some((problem) => problem.severity === "error");
    const row = el("tr", { class: (stage.index === current ? "on " : "") + (isSuspect(stage.index) || isFailed ? "suspect " : "") + (stage.is_changed ? "changed" : ""), "aria-current": stage.index === current ? "step" : null, data: { stage: stage.index } },
      el("td", { class: "m muted r no" }, String(stage.index)), el("td", { title: stage.name }, nameOf(stage.name), markOf(stage, isFailed)), el("td", { class: "r change" }, changeOf(stage)),
      view.verdicts.length ? verdictCell(stage.index) : el("td", { class: "m muted r ms" }, stage.seconds >= 0 && stage.index > 0 ? milliseconds(stage.seconds) : ""));
    return pickable(row, () => go(stage.index));
  }

  // A long name breaks before a capital; the options of a pass stand behind it, muted.
  function nameOf(text) {
    const cut = text.indexOf("(");
    const name = cut < 0 ? text : text.slice(0, cut);
    return [name.split(/(?=[A-Z][a-z])/).map((part) => [el("wbr"), part]), cut < 0 ? "" : el("span", { class: "options" }, text.slice(cut))];
  }

  // A count of lines in at most four characters: 1.5k.
  function brief(count) {
    return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 9950 ? 1 : 0)}k`;
  }

  function markOf(stage, isFailed) {
    if (isFailed) return [" ", chip("failed", "error")];
    if (!isSuspect(stage.index)) return "";
    return [" ", chip(view.suspects.length === 1 ? "first difference" : "suspect", "error")];
  }

  function followsWhat(index) {
    const [, verdict, , follows] = view.verdicts.find(([stage]) => stage === index);
    return verdict === "different" ? `with the difference of ${follows}` : `${verdict} as ${follows}`;
  }

  function verdictCell(index) {
    const [, verdict, words] = view.verdicts.find(([stage]) => stage === index) || [index, "not comparable", "This stage was not reached."];
    const [sign, tone] = VERDICT_SIGN[verdict];
    return el("td", { class: "r ms", title: words }, el("span", { class: tone, role: "img", "aria-label": `Result: ${verdict}${words ? `, ${words}` : ""}` }, sign));
  }

  function changeOf(stage) {
    const worst = ["error", "warning"].find((severity) => stage.problems.some((p) => p.severity === severity));
    const signs = worst ? [severitySign(worst), " "] : [];
    if (stage.is_changed) signs.push(el("span", { class: "chip changed code", title: stage.change || `${stage.added_count.toLocaleString("en")} lines added, ${stage.removed_count.toLocaleString("en")} removed` }, stage.change ? `~ ${stage.change}` : `+${brief(stage.added_count)} −${brief(stage.removed_count)}`));
    else if (stage.index > 0 && worst !== "error") signs.push(el("span", { class: "muted m", role: "img", "aria-label": "unchanged" }, "="));
    return signs;
  }

  function milliseconds(seconds) {
    const value = seconds * 1000;
    return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1);
  }

  function toggle() {
    isHiding = !isHiding;
    draw();
  }

  function go(index) {
    if (index === current) return;
    current = index;
    draw();
    tell({ kind: "stage", stage: index });
  }

  function move(by) {
    const shown = model.stages.filter((stage) => !isHidden(stage)).map((stage) => stage.index);
    const next = shown[shown.indexOf(current) + by];
    if (next !== undefined) go(next);
  }

  function onKey(event) {
    const act = { j: () => move(1), k: () => move(-1), u: toggle, d: () => tell({ kind: "command", command: "view", stage: current }) }[event.key];
    if (!act || !model) return false;
    act();
    return true;
  }
}

export default function (args) {
  mount(args, CSS, createPipeline);
}
