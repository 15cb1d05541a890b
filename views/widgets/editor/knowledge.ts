// What the operator table and the checker know, asked by the text around the caret.

import type { Code, LastValue, NameFact, Term } from "#generated/models";

export interface Known {
  readonly language: Code["language"];
  readonly terms: readonly Term[];
  readonly names: readonly NameFact[];
  /** What names held last in a run of this very text. */
  readonly values: readonly LastValue[];
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
  const at = openBracket(before, before.length);
  return calleeAt(before, at);
}

// The bracket nearest before a place that nothing closes; -1 if there is none within reach.
function openBracket(text: string, end: number): number {
  let depth = 0;
  for (let at = end - 1; at >= Math.max(0, text.length - CALL_REACH); at -= 1) {
    const sign = text.charAt(at);
    if (")]}".includes(sign)) depth += 1;
    else if ("([{".includes(sign) && depth > 0) depth -= 1;
    else if ("([{".includes(sign)) return at;
  }
  return -1;
}

function calleeAt(text: string, bracket: number): string {
  return text.charAt(bracket) === "(" ? (CALLEE.exec(text.slice(0, bracket))?.[1] ?? "") : "";
}

/** How an operator is called, cut at its parameters; `active` is the one that stands at the caret, -1 for none. */
export interface Signature {
  readonly callee: string;
  readonly parameters: readonly string[];
  readonly active: number;
  readonly term: Term;
}

/** The signature of the operator whose call a text leaves open; undefined where no operator is called. */
export function signatureAt(known: Known, before: string): Signature | undefined {
  let bracket = openBracket(before, before.length);
  // Brackets without a callee belong to an argument.
  while (bracket >= 0 && !calleeAt(before, bracket)) bracket = openBracket(before, bracket);
  const term = known.language === "plain" ? undefined : termOf(known, calleeAt(before, bracket));
  const [, callee, inside] = /^([^(]*)\((.*)\)$/su.exec(term?.signature ?? "") ?? [];
  if (!term || callee === undefined || !inside) return undefined;
  const parameters = partsOf(inside);
  return { callee, parameters, active: activeOf(parameters, partsOf(before.slice(bracket + 1))), term };
}

// Which parameter the last of the arguments so far is for, by its name or by its place.
function activeOf(parameters: readonly string[], args: readonly string[]): number {
  const keyword = /^([\p{L}_][\p{L}\p{N}_]*)\s*=(?!=)/u.exec(args.at(-1) ?? "")?.[1];
  if (keyword !== undefined) return parameters.findIndex((text) => /^\w+(?=[:=])/.exec(text)?.[0] === keyword);
  return args.length <= parameters.length ? args.length - 1 : -1;
}

// The parts of a list at its commas that no bracket holds.
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if ("([{".includes(sign)) depth += 1;
    else if (")]}".includes(sign)) depth -= 1;
    else if (sign === "," && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
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

/** What a name that is defined in a line held last when the text was run. */
export function lastValueOf({ values }: Known, [name, , , line]: NameFact): LastValue | undefined {
  const plain = name.replace(/^[@%]/, "");
  return values.find(([variable, bound]) => variable === plain && bound === line);
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
