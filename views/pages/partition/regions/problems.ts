// What is said first: a table that is not used, notes, and what the passes found wrong.

import type { FreeVariable, Problem } from "#generated/models";
import { button, link } from "#shared/controls";
import { type Child, el, prose } from "#shared/dom";
import { codeLink, explains } from "#shared/explain";
import { severitySign } from "#shared/marks";
import { headOf, pieces, sentence } from "#shared/tables";
import { lineLink, problemList, type Scene, tableOf } from "./scene";

/** A problem, the pass that found it, and the variable that it says nothing binds. */
interface Found {
  readonly problem: Problem;
  readonly stage: string;
  readonly free: FreeVariable | undefined;
}

/** An edit that is no table leaves everything as the sample's table has it: that is said first. */
export function notUsed({ props, tell }: Scene): Child {
  if (!props.problems.length) return "";
  const revert = () => tell({ kind: "revert" });
  const back = button("Back to the sample's table", "", "", revert, { data: { focus: "discard" } });
  return el(
    "div",
    { class: "banner error", role: "alert" },
    el("b", {}, "The edited table is not used."),
    " What stands here is of the sample's table.",
    props.patterns.length ? "" : " Mend the text under Options.",
    problemList(props.problems),
    el("div", { class: "row" }, back),
  );
}

export function notes({ model }: Scene): Child {
  const lines = model.report.notes.map((text) => el("div", {}, severitySign("warning"), " ", prose(text)));
  return lines.length ? el("div", { class: "banner", role: "status" }, lines) : "";
}

/** What the passes found wrong: begins without an end, variables that nothing binds. */
export function problems(scene: Scene): Child {
  const { model } = scene;
  const names = new Map(model.free_variables.map((item) => [`%${item.name} is not bound`, item]));
  const staged = model.stages.flatMap((stage) =>
    stage.problems.map((problem): Found => ({ problem, stage: stage.name, free: undefined })),
  );
  const last = model.stages.at(-1)?.name ?? "";
  const result = model.problems.map((problem): Found => ({ problem, stage: last, free: names.get(problem.message) }));
  const found = [...staged, ...result];
  if (!found.length) return "";
  const columns = [["Code"], ["Pass"], ["What is wrong"], [""]] as const;
  const row = (item: Found, index: number) => rowOf(scene, item, index);
  return [headOf("Problems", String(found.length)), tableOf(scene, "Problems", columns, found, row)];
}

function rowOf(scene: Scene, { problem, stage, free }: Found, index: number): Child {
  const show = () => free && scene.tell({ kind: "select", node: free.node });
  const begin = free?.node ? link("Show the begin", show, { data: { focus: `free${index}` } }) : "";
  const code = [severitySign(problem.severity), " ", codeLink(problem)];
  return el(
    "tr",
    {},
    el("td", { class: "nw" }, code),
    el("td", { class: "nw word" }, stageLink(stage)),
    el("td", {}, prose(wordsOf(problem, free)), " ", begin),
    el("td", { class: "r nw" }, lineLink(scene, free ? free.line : problem.line)),
  );
}

function stageLink(stage: string): Child {
  const name = stage.split("(")[0] ?? "";
  return link(pieces(stage), explains([name]), { title: `What ${name} does, and which lessons tell more` });
}

function wordsOf(problem: Problem, free: FreeVariable | undefined): string {
  if (!free?.region) return sentence(problem.message, "%");
  return `\`%${free.name}\` is not bound: it stands for the begin of region ${free.region}, which never ends.`;
}
