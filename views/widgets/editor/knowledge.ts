// What the operator table and the checker know, asked by the text around the caret.

import type { Code, NameFact, Term } from "#generated/models";

export interface Known {
  readonly language: Code["language"];
  readonly terms: readonly Term[];
  readonly names: readonly NameFact[];
}

/** What may stand at the caret in place of the text from `from` on. */
export interface Offer {
  readonly from: number;
  readonly options: readonly Option[];
}

export interface Option {
  readonly label: string;
  readonly kind: Term["kind"] | NameFact[1] | "keyword argument";
  /** Beside the label: a type, a default. */
  readonly detail: string;
  readonly term?: Term;
}

/** The text before the caret, and the number of its line. */
export interface Place {
  readonly before: string;
  readonly line: number;
}

// Operators of TVMScript stand behind one of these.
const PREFIX = /(?<![\p{L}\p{N}_.])(?:R|relax)\.((?:[\p{L}\p{N}_]+\.)*[\p{L}\p{N}_]*)$/u;
const WORD = /(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*$/u;
const RELAY_WORD = /[@%]?[\p{L}\p{N}_.?]*$/u;
const CALLEE = /([\p{L}_][\p{L}\p{N}_.]*)\s*$/u;
// A call that begins further away is not looked for.
const CALL_REACH = 2000;

/** The names that are known on a line; of several of one name the one defined last before it. */
export function namesOn(names: readonly NameFact[], line: number): readonly NameFact[] {
  const found = new Map<string, NameFact>();
  for (const fact of names) {
    const [name, , , at, , first, last] = fact;
    const known = found.get(name);
    const isNearer = !known || (at <= line && (at > known[3] || known[3] > line));
    if (line >= first && line <= last && isNearer) found.set(name, fact);
  }
  return [...found.values()];
}

/** The operator of the innermost call that is open at the end of a text; empty if there is none. */
export function openCall(before: string): string {
  const text = before.slice(-CALL_REACH);
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const sign = text.charAt(at);
    if (")]}".includes(sign)) depth += 1;
    else if ("([{".includes(sign) && depth > 0) depth -= 1;
    else if (sign === "(") return CALLEE.exec(text.slice(0, at))?.[1] ?? "";
    else if ("[{".includes(sign)) return "";
  }
  return "";
}

/** The word at an offset of a line, with its dots and signs; empty if there is none. */
export function wordAt(line: string, at: number, language: Code["language"]): string {
  const pattern =
    language === "relay" ? /[@%]?[\p{L}\p{N}_.?]+/gu : /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*/gu;
  for (const match of line.matchAll(pattern)) {
    if (match.index <= at && at <= match.index + match[0].length) return match[0];
  }
  return "";
}

/** The operator, type or dtype that a word means. */
export function termOf(known: Known, word: string): Term | undefined {
  const isOperator = known.language === "relay" || /^(?:R|relax)\./.test(word);
  const name = known.language === "relay" ? word : word.replace(/^(?:R|relax)\./, "");
  return known.terms.find((term) => term.name === name && (isOperator || term.kind !== "operator"));
}

/** The definition of the name that a word means on a line: its last part, where it is `cls.f`. */
export function definitionOf(known: Known, word: string, line: number): NameFact | undefined {
  const names = namesOn(known.names, line);
  const parts = known.language === "relay" ? [word, word.replace(/\.\d+$/, "")] : [word, word.split(".").at(-1) ?? ""];
  return parts.map((part) => names.find(([name]) => name === part)).find((found) => found !== undefined);
}

/** What may be written at a place; null where nothing is known. */
export function offerAt(known: Known, { before, line }: Place): Offer | null {
  if (known.language === "plain") return null;
  const current = before.slice(before.lastIndexOf("\n") + 1);
  const quoted = /^(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*"([^"\\]*)$/.exec(current)?.[1];
  if (quoted !== undefined) return quotedOffer(known, before.length - quoted.length);
  return known.language === "relay" ? relayOffer(known, before, line) : scriptOffer(known, before, line);
}

function quotedOffer({ terms }: Known, from: number): Offer {
  return { from, options: terms.filter((term) => term.kind === "dtype" || term.kind === "device").map(optionOf) };
}

function scriptOffer(known: Known, before: string, line: number): Offer | null {
  const member = PREFIX.exec(before)?.[1];
  if (member !== undefined) {
    const options = known.terms.filter((term) => term.kind === "operator" || term.kind === "type").map(optionOf);
    return { from: before.length - member.length, options };
  }
  const word = WORD.exec(before)?.[0];
  if (word === undefined) return null;
  const words = known.terms.filter((term) => term.kind === "keyword").map(optionOf);
  const names = namesOn(known.names, line).map(nameOption);
  return { from: before.length - word.length, options: [...argumentsOf(known, before), ...names, ...words] };
}

function relayOffer(known: Known, before: string, line: number): Offer | null {
  const word = RELAY_WORD.exec(before)?.[0] ?? "";
  const from = before.length - word.length;
  const sign = /^[@%]/.exec(word)?.[0];
  if (sign) {
    return {
      from,
      options: namesOn(known.names, line)
        .filter(([name]) => name.startsWith(sign))
        .map(nameOption),
    };
  }
  return word ? { from, options: [...argumentsOf(known, before), ...known.terms.map(optionOf)] } : null;
}

// What the operator whose call is open takes by name.
function argumentsOf(known: Known, before: string): readonly Option[] {
  const term = termOf(known, openCall(before));
  return (term?.keywords ?? []).map((text) => {
    const [name = "", value = ""] = text.split(/=(.*)/s);
    return { label: `${name}=`, kind: "keyword argument", detail: value };
  });
}

function optionOf(term: Term): Option {
  return { label: term.name, kind: term.kind, detail: "", term };
}

function nameOption([name, kind, type]: NameFact): Option {
  return { label: name, kind, detail: type };
}
