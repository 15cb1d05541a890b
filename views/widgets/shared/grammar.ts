// Cuts lines into tokens by the tables of `relax_core/present/grammar.py`, as Python does.

import { GRAMMARS } from "#generated/grammar";
import type { Syntax } from "#generated/models";
import type { Piece } from "./code";

export type GrammarName = keyof typeof GRAMMARS;

interface Rule {
  readonly pattern: string;
  readonly syntax: Syntax | "word";
  readonly state: string;
}

interface Tables {
  readonly states: Readonly<Record<string, readonly Rule[]>>;
  readonly keywords: readonly string[];
  readonly types: string;
  readonly heads: readonly string[];
}

/** What a line leaves to the next one, and the word before on the same line. */
export interface LineState {
  state: string;
  previous: string;
}

interface Found {
  readonly length: number;
  readonly syntax: Syntax;
}

const START = "start";

export class Grammar {
  private readonly patterns: ReadonlyMap<string, RegExp>;
  private readonly keywords: ReadonlySet<string>;
  private readonly heads: ReadonlySet<string>;
  private readonly types: RegExp;
  // What may leave something open behind a line that begins with nothing open.
  private readonly opener: RegExp;

  constructor(private readonly tables: Tables) {
    const patterns = Object.entries(tables.states).map(([name, rules]) => {
      const source = rules.map((rule) => `(${rule.pattern})`).join("|");
      return [name, new RegExp(source, "uy")] as const;
    });
    this.patterns = new Map(patterns);
    this.keywords = new Set(tables.keywords);
    this.heads = new Set(tables.heads);
    this.types = new RegExp(`^(?:${tables.types})$`, "u");
    const openers = (tables.states[START] ?? []).filter((rule) => rule.state).map((rule) => `(?:${rule.pattern})`);
    this.opener = new RegExp(openers.join("|") || "(?!)", "u");
  }

  start(): LineState {
    return { state: START, previous: "" };
  }

  /** The token at a place of a line; `state` goes on behind it. */
  next(line: string, at: number, state: LineState): Found {
    const rules = this.tables.states[state.state] ?? [];
    const pattern = this.patterns.get(state.state);
    if (pattern) pattern.lastIndex = at;
    const match = pattern?.exec(line);
    const rule = match && rules[match.slice(1).findIndex((group) => group !== undefined)];
    if (!rule || !match[0]) return { length: 1, syntax: "" };
    const isWord = rule.syntax === "word";
    const syntax = rule.syntax === "word" ? this.lookUp(match[0], state.previous) : rule.syntax;
    state.previous = isWord ? match[0] : "";
    state.state = rule.state || state.state;
    return { length: match[0].length, syntax };
  }

  /** The tokens of a line, of which those that look alike are one; `state` goes on behind it. */
  line(text: string, state: LineState): readonly Piece[] {
    const out: Piece[] = [];
    state.previous = "";
    for (let at = 0; at < text.length; ) {
      const { length, syntax } = this.next(text, at, state);
      const last = out.at(-1);
      const piece = text.slice(at, at + length);
      if (last && last[1] === syntax) out[out.length - 1] = [last[0] + piece, syntax];
      else out.push([piece, syntax]);
      at += length;
    }
    return out;
  }

  /** Whether a line that begins with nothing open surely ends so. */
  leavesNothingOpen(text: string): boolean {
    return !this.opener.test(text);
  }

  private lookUp(word: string, previous: string): Syntax {
    if (this.heads.has(previous)) return "synName";
    if (this.keywords.has(word)) return "synKeyword";
    return this.types.test(word) ? "synType" : "";
  }
}

export const grammars: Readonly<Record<GrammarName, Grammar>> = {
  tvmscript: new Grammar(GRAMMARS.tvmscript),
  relay: new Grammar(GRAMMARS.relay),
};

/** The tokens of the lines of a text, each cut when it is asked for. */
export class Tokens {
  // The state in which each line begins, as far as it is known.
  private readonly states: string[] = [START];
  private readonly grammar: Grammar;

  constructor(
    private readonly lines: readonly string[],
    language: GrammarName,
  ) {
    this.grammar = grammars[language];
  }

  /** The tokens of a line, none of one that is not there. */
  at(index: number): readonly Piece[] {
    for (let i = this.states.length - 1; i < index; i += 1) this.states.push(this.behind(i));
    return this.grammar.line(this.lines[index] ?? "", { state: this.states[index] ?? START, previous: "" });
  }

  private behind(index: number): string {
    const [text, state] = [this.lines[index] ?? "", this.states[index] ?? START];
    if (state === START && this.grammar.leavesNothingOpen(text)) return START;
    const found = { state, previous: "" };
    this.grammar.line(text, found);
    return found.state;
  }
}

/** Cuts a text as `relax_core.present.code.tokenize` does. */
export function tokenize(text: string, language: GrammarName): readonly (readonly Piece[])[] {
  const lines = text.split("\n");
  const tokens = new Tokens(lines, language);
  return lines.map((_, index) => tokens.at(index));
}
