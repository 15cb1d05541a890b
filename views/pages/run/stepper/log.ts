// What logpoints write over the run: a list whose lines lead to their time, and a file.

import type { Logged, Logs } from "#generated/models";
import { button, link } from "#shared/controls";
import { type Child, el } from "#shared/dom";
import { download } from "#shared/download";
import { paneHead } from "./pane_head";

const SHOWN = 200;

export function logPane(logs: Logs | null, at: number, go: (time: number) => void): Child {
  if (!logs) return "";
  const { messages, count, fault } = logs;
  const cut = count > messages.length ? ` of ${count.toLocaleString("en")}` : "";
  const save = () => download("log.txt", "text/plain", logText(messages));
  const title = "All of these messages as a text file";
  const saver = messages.length ? button("Download", "t", "", save, { title, data: { focus: "log" } }) : "";
  const note = messages.length
    ? `${messages.length.toLocaleString("en")}${cut}; a line leads to its time`
    : fault
      ? "not known"
      : "none";
  const lines = shownAround(messages, at).map((message) => line(message, at, go));
  return [
    paneHead("Log", note, el("span", { class: "sp" }), saver),
    fault
      ? el("div", { class: "pad muted" }, fault)
      : el("div", { class: "code out log", role: "group", "aria-label": "Log" }, lines),
  ];
}

function line({ time, text, is_fault }: Logged, at: number, go: (time: number) => void): HTMLElement {
  const look = `${is_fault ? "fault" : ""}${time > at ? " ahead" : ""}`.trim();
  const leads = link(`time ${time}`, () => go(time), { class: "link m" });
  return el("div", { class: look, "aria-current": time === at ? "step" : null }, leads, text);
}

/** Of a long list the messages around a time. */
export function shownAround(messages: readonly Logged[], at: number): readonly Logged[] {
  const next = messages.findIndex((message) => message.time > at);
  const here = next < 0 ? messages.length : next;
  const start = Math.max(0, Math.min(here - SHOWN / 2, messages.length - SHOWN));
  return messages.slice(start, start + SHOWN);
}

/** The messages as a file has them. */
export function logText(messages: readonly Logged[]): string {
  return messages.map(({ time, line, text }) => `time ${time}, line ${line}: ${text}\n`).join("");
}
