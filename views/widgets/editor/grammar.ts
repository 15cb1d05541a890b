// The grammars as languages of CodeMirror.

import { StreamLanguage, type StringStream } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import type { Code } from "#generated/models";
import { type GrammarName, grammars, type LineState } from "#shared/grammar";

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

function streamOf(name: GrammarName, line: string): StreamLanguage<LineState> {
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
