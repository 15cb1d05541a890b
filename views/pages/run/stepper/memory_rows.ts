// The rows of the memory: a storage, with the tensors in it in as many lanes as they need.

import type { MemoryBox, MemoryRow, MemoryView } from "#generated/models";
import { type Child, el } from "#shared/dom";
import { bytesText } from "#shared/tables";
import { between } from "#shared/values";

const LANE_HEIGHT = 17;
// A narrower box has its name beside it.
const WIDE = 0.16;

/** Where a time lies between the begin and the end of the run, 0 to 1. */
export function share(model: MemoryView, time: number): number {
  return Math.min(1, time / Math.max(1, model.total));
}

/** The lane of each tensor: the first one in which none of those before it is held any more. */
export function lanesOf(boxes: readonly MemoryBox[]): readonly number[] {
  const until: number[] = [];
  return boxes.map(([, start, end]) => {
    const free = until.findIndex((time) => time <= start);
    const lane = free < 0 ? until.length : free;
    until[lane] = Math.max(end, start + 1);
    return lane;
  });
}

/** A name without what stands before its first dot. */
export function shortName(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

export function rowOf(model: MemoryView, row: MemoryRow, onTime: (time: number) => void): HTMLElement {
  const [label, kind, size, start, end, boxes, note] = row;
  const lanes = lanesOf(boxes);
  const only = boxes.length === 1 ? boxes[0] : undefined;
  const storage = kind === "storage" ? el("span", { class: "memory-storage", style: placeOf(model, start, end) }) : "";
  const shapes = boxes.map((box, i) => boxOf(model, row, box, lanes[i] ?? 0, onTime));
  const height = `${Math.max(0, ...lanes) * LANE_HEIGHT + LANE_HEIGHT + 7}px`;
  const beside = only ? besideOf(model, only) : "";
  const track = el("div", { class: "memory-track", style: { height } }, storage, shapes, beside);
  const where = `${kind} ${label}, ${bytesText(size)}, time ${start} to ${end}${note ? `, ${note}` : ""}`;
  const words = [el("span", { class: "m" }, shortName(label)), el("span", { class: "muted" }, bytesText(size))];
  const name = only ? "" : el("div", { class: "memory-label", title: where }, words);
  return el("div", { class: "memory-row", role: "listitem", "aria-label": where }, name, track);
}

// The name of the only tensor of a row, and its size: inside if it fits, else behind it or before it.
function besideOf(model: MemoryView, [label, start, end, , , size]: MemoryBox): HTMLElement {
  const [from, to] = [share(model, start), share(model, end)];
  const isWide = to - from > WIDE;
  const isBehind = isWide || to < 1 - WIDE;
  const left = { left: `calc(${(isWide ? from : to) * 100}% + 6px)` };
  const style: Record<string, string> = isBehind ? left : { right: `calc(${100 - from * 100}% + 6px)` };
  const words: Child = [
    el("span", { class: "m" }, shortName(label)),
    " ",
    el("span", { class: "muted" }, bytesText(size)),
  ];
  return el("span", { class: "memory-name", style, "aria-hidden": "true" }, words);
}

function boxOf(
  model: MemoryView,
  row: MemoryRow,
  box: MemoryBox,
  lane: number,
  onTime: (time: number) => void,
): HTMLElement {
  const [label, start, end, write, use, , , , , isFaulty] = box;
  const words = wordsOf(row, box);
  const from = write >= 0 ? write : start;
  const name = row[5].length === 1 ? "" : el("span", { class: "m" }, (isFaulty ? "! " : "") + shortName(label));
  const shape = el(
    "button",
    {
      type: "button",
      class: `memory-box${isFaulty ? " faulty" : ""}`,
      tabindex: -1,
      title: words,
      "aria-label": words,
      style: { ...placeOf(model, start, end), top: `${4 + lane * LANE_HEIGHT}px` },
      data: { start },
      click: () => onTime(from),
    },
    name,
  );
  const life = Math.max(1, end - start);
  const part = (time: number) => `${between(0, (100 * (time - start)) / life, 100)}%`;
  shape.style.setProperty("--from", part(from));
  shape.style.setProperty("--to", part(Math.max(from, use) + 1));
  return shape;
}

function wordsOf([storage]: MemoryRow, box: MemoryBox): string {
  const [label, start, end, , use, size, offset, line, note, isFaulty] = box;
  const inside = storage === label ? "" : ` in ${storage} at byte ${offset}`;
  const used = use >= 0 ? `last used at ${use}` : "never used";
  const place = line ? `, line ${line}` : "";
  const fault = isFaulty ? ", used after its storage was taken again" : "";
  return `${label}: ${note}, ${bytesText(size)}${inside}, time ${start} to ${end}, ${used}${place}${fault}`;
}

function placeOf(model: MemoryView, start: number, end: number): Readonly<Record<string, string>> {
  const width = (share(model, Math.max(end, start)) - share(model, start)) * 100;
  return { left: `${share(model, start) * 100}%`, width: `max(3px, ${width}%)` };
}
