// Cuts lines into tokens by the tables of `relax_core/present/grammar.py`, as Python does.

import { StreamLanguage, type StringStream } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { GRAMMARS } from "#generated/grammar";
import type { Code, Syntax } from "#generated/models";
import type { Piece } from "#shared/code";

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

  constructor(private readonly tables: Tables) {
    const patterns = Object.entries(tables.states).map(([name, rules]) => {
      const source = rules.map((rule) => `(${rule.pattern})`).join("|");
      return [name, new RegExp(source, "uy")] as const;
    });
    this.patterns = new Map(patterns);
    this.keywords = new Set(tables.keywords);
    this.heads = new Set(tables.heads);
    this.types = new RegExp(`^(?:${tables.types})$`, "u");
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

  private lookUp(word: string, previous: string): Syntax {
    if (this.heads.has(previous)) return "synName";
    if (this.keywords.has(word)) return "synKeyword";
    return this.types.test(word) ? "synType" : "";
  }
}

const grammars: Readonly<Record<keyof typeof GRAMMARS, Grammar>> = {
  tvmscript: new Grammar(GRAMMARS.tvmscript),
  relay: new Grammar(GRAMMARS.relay),
};

/** Cuts a text as `relax_core.present.code.tokenize` does: tokens that look alike are one. */
export function tokenize(text: string, language: keyof typeof GRAMMARS): readonly (readonly Piece[])[] {
  const grammar = grammars[language];
  const state = grammar.start();
  return text.split("\n").map((line) => {
    const out: Piece[] = [];
    state.previous = "";
    for (let at = 0; at < line.length; ) {
      const { length, syntax } = grammar.next(line, at, state);
      const last = out.at(-1);
      const piece = line.slice(at, at + length);
      if (last && last[1] === syntax) out[out.length - 1] = [last[0] + piece, syntax];
      else out.push([piece, syntax]);
      at += length;
    }
    return out;
  });
}

const TAGS = {
  synKeyword: tags.keyword,
  synName: tags.definition(tags.name),
  synString: tags.string,
  synNumber: tags.number,
  synType: tags.typeName,
  synComment: tags.comment,
  synDecor: tags.meta,
} as const;

/** The tag of each look, and the class that the style sheets give a colour. */
export const TAG_CLASSES = Object.entries(TAGS).map(([name, tag]) => ({ tag, class: name }));

/** The language of a text for CodeMirror; null for a text of none. */
export function languageOf(language: Code["language"]): StreamLanguage<LineState> | null {
  return language === "plain" ? null : LANGUAGES[language];
}

const LANGUAGES = { tvmscript: streamOf("tvmscript", "#"), relay: streamOf("relay", "//") };

function streamOf(name: keyof typeof GRAMMARS, line: string): StreamLanguage<LineState> {
  const grammar = grammars[name];
  return StreamLanguage.define<LineState>({
    name,
    startState: () => grammar.start(),
    copyState: (state) => ({ ...state }),
    token(stream: StringStream, state: LineState): string | null {
      if (stream.sol()) state.previous = "";
      const { length, syntax } = grammar.next(stream.string, stream.pos, state);
      stream.pos += length;
      return syntax || null;
    },
    languageData: { commentTokens: { line } },
    tokenTable: TAGS,
  });
}
