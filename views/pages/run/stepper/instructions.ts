// Instructions as tokens, like those of the source.

import type { Piece } from "#shared/code";

const PARTS = /^(?:call|ret|goto|if)\b|\b(?:in|dst|else): |(%\w+)|(f\[[^\]]*\])|(\bi-?[\d.]+|\bc\[\d+\]|\b\d+\b)/g;

/** Cuts an instruction into tokens; the name of what is called stays plain. */
export function instructionTokens(text: string): readonly Piece[] {
  if (text.startsWith("@")) return [[text, "synName"]];
  const name = /^call {2}\S+/.exec(text)?.[0] ?? "";
  const tokens: Piece[] = name
    ? [
        ["call", "synKeyword"],
        [name.slice("call".length), ""],
      ]
    : [];
  let at = name.length;
  for (const found of text.slice(name.length).matchAll(PARTS)) {
    const from = name.length + found.index;
    tokens.push([text.slice(at, from), ""], [found[0], syntaxOf(found, from)]);
    at = from + found[0].length;
  }
  return [...tokens, [text.slice(at), ""] as const].filter(([part]) => part);
}

function syntaxOf([, register, constant, number]: RegExpExecArray, from: number): string {
  if (register) return "synType";
  if (constant) return "synName";
  if (number) return "synNumber";
  return from ? "text2" : "synKeyword";
}

/** What can be explained of an instruction: its opcode, and a function of the machine that it calls. */
export function namesIn(text: string): readonly string[] {
  const [, opcode = "", callee = ""] = /^(\w+) *(\S*)/.exec(text) ?? [];
  // The functions of a program have no dot in their names.
  return [`instruction/${opcode}`, ...(opcode === "call" && callee.includes(".") ? [callee] : [])];
}
