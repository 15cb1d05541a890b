// The table of stages.

import type { Stage, StageVerdict } from "#generated/models";
import { pickable } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { chip, severitySign } from "#shared/marks";
import {
  brief,
  isFailed,
  isSuspect,
  type Listing,
  milliseconds,
  partsOfName,
  type Row,
  rowsOf,
  verdictOf,
  worstOf,
} from "./stages";

const VERDICT_SIGN: Readonly<Record<StageVerdict[1], readonly [sign: string, tone: string]>> = {
  reference: ["•", "muted"],
  same: ["✓", "ok-text"],
  different: ["✕", "error-text"],
  "stops alike": ["!", "warning-text"],
  "not comparable": ["?", "warning-text"],
};

/** Pixels that a pass stands further to the right than the one that it ran inside of, and how many such steps show. */
const INDENT = 11;
const MOST_INDENTS = 6;

export function stageTable(listing: Listing, onPick: (index: number) => void): HTMLElement {
  const last = listing.props.verdicts.length ? "Result" : "ms";
  const heads = el(
    "tr",
    {},
    el("th", { class: "r no" }, "#"),
    el("th", {}, "Pass"),
    el("th", { class: "r change" }, "Change"),
    el("th", { class: "r ms" }, last),
  );
  return el(
    "table",
    { "aria-label": "Stages" },
    heads,
    rowsOf(listing).map((row) => rowOf(listing, row, onPick)),
  );
}

function rowOf(listing: Listing, row: Row, onPick: (index: number) => void): HTMLElement {
  if (!("stage" in row)) return el("tr", {}, el("td"), el("td", { colspan: 3, class: "hidden-run" }, row.words));
  const { stage } = row;
  const isOn = stage.index === listing.current;
  const isMarked = isSuspect(listing.props, stage.index) || isFailed(stage);
  const look = (isOn ? "on " : "") + (isMarked ? "suspect " : "") + (stage.is_changed ? "changed" : "");
  const indent = stage.depth ? { style: { paddingLeft: `${INDENT * Math.min(stage.depth, MOST_INDENTS)}px` } } : {};
  const name = el("td", { title: stage.name, ...indent }, nameOf(stage.name), markOf(listing, stage));
  const time = stage.seconds >= 0 && stage.index > 0 ? milliseconds(stage.seconds) : "";
  const last = listing.props.verdicts.length
    ? verdictCell(listing, stage.index)
    : el("td", { class: "m muted r ms" }, time);
  const made = el(
    "tr",
    { class: look, "aria-current": isOn ? "step" : null, data: { stage: stage.index } },
    el("td", { class: "m muted r no" }, stage.label || stage.index),
    name,
    el("td", { class: "r change" }, changeOf(stage)),
    last,
  );
  return pickable(made, () => onPick(stage.index));
}

function nameOf(text: string): Child {
  const { words, options } = partsOfName(text);
  return [words.map((word) => [el("wbr"), word]), options ? el("span", { class: "options" }, options) : ""];
}

function markOf({ props }: Listing, stage: Stage): Child {
  if (isFailed(stage)) return [" ", chip(stage.mark || "failed", "error")];
  if (!isSuspect(props, stage.index)) return "";
  return [" ", chip(props.suspects.length === 1 ? "first difference" : "suspect", "error")];
}

function verdictCell({ props }: Listing, index: number): HTMLElement {
  const [, verdict, words] = verdictOf(props, index) ?? [index, "not comparable", "This stage was not reached."];
  const [sign, tone] = VERDICT_SIGN[verdict];
  const label = `Result: ${verdict}${words ? `, ${words}` : ""}`;
  return el("td", { class: "r ms", title: words }, el("span", { class: tone, role: "img", "aria-label": label }, sign));
}

function changeOf(stage: Stage): Child {
  const worst = worstOf(stage);
  const signs: Child[] = worst ? [severitySign(worst), " "] : [];
  if (stage.is_changed) {
    const [added, removed] = [stage.added_count, stage.removed_count];
    const title = stage.change || `${added.toLocaleString("en")} lines added, ${removed.toLocaleString("en")} removed`;
    const words = stage.change ? `~ ${stage.change}` : `+${brief(added)} −${brief(removed)}`;
    signs.push(el("span", { class: "chip changed code", title }, words));
  } else if (stage.change) {
    signs.push(el("span", { class: "muted" }, stage.change));
  } else if (stage.index > 0 && worst !== "error") {
    signs.push(el("span", { class: "muted m", role: "img", "aria-label": "unchanged" }, "="));
  }
  return signs;
}
