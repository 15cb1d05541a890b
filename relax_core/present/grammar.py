"""The words, signs and strings of TVMScript and of Relay's text, as tables that two tokenizers read.

`cut_line` cuts a text here; the editor in the browser cuts it by the same tables, which `tools/typescript_models.py`
writes for it. So a pattern is one that `re` and JavaScript's `RegExp` (with the flag `u`) read alike: no group that
captures, no escape that only one of them knows, and `{L}` and `{W}` for a character that begins or continues a name.
Lines are cut one after the other; what a string or a comment leaves open at the end of a line is the state of the next.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from relax_core.present.models import Syntax

GrammarName = Literal["tvmscript", "relay"]
START = "start"

# What Python's \w matches, and what of it may begin a name; the browser's forms are in `tools/typescript_models.py`.
LETTER = r"[^\W\d]"
WORD = r"\w"
_SIGNS = r"(?:[\s(),:;=\[\]{}<>+*|&^~!-]|\.(?![0-9]))+"
"""Signs with which no token of either text begins: half of all pieces, cut off as one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a pattern matches has the look `syntax`; a `word` is looked up. `state` is entered behind it, if given."""

    pattern: str
    syntax: Syntax | Literal["word"]
    state: str = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules of each state, of which the first that matches counts, and what words mean."""

    states: Mapping[str, tuple[Rule, ...]]
    keywords: tuple[str, ...]
    types: str
    """Matches a word that is the name of a type or of a namespace of types."""
    heads: tuple[str, ...] = ()
    """Keywords whose next word is a name that they define."""


def _quoted(quote: str) -> Rule:
    return Rule(rf"{_PREFIX}{quote}(?:[^{quote}\\]|\\.)*(?:{quote}|\\?$)", "synString")


def _long_string(quote: str, name: str) -> dict[str, tuple[Rule, ...]]:
    content = rf"(?:[^{quote}\\]|\\.|\\$|{quote}(?!{quote}{quote}))+"
    return {name: (Rule(quote * 3, "synString", START), Rule(content, "synString"))}


_PREFIX = "(?:[rRbBfFuU]|[bBfF][rR]|[rR][bBfF])?"
_NUMBER = (
    "0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+"
    r"|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?[jJ]?"
)
_TVMSCRIPT = Grammar(
    states=MappingProxyType(
        {
            START: (
                Rule("#.*", "synComment"),
                Rule(f'{_PREFIX}"""', "synString", "double"),
                Rule(f"{_PREFIX}'''", "synString", "single"),
                _quoted('"'),
                _quoted("'"),
                Rule("@{L}{W}*", "synDecor"),
                Rule("{L}{W}*", "word"),
                Rule(_NUMBER, "synNumber"),
            ),
            **_long_string('"', "double"),
            **_long_string("'", "single"),
        }
    ),
    keywords=(
        *("False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def"),
        *("del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda"),
        *("nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"),
    ),
    types="(?:R|T|I|relax|tir|Tensor|Tuple|Object|Shape|Prim|Callable|Buffer)",
    heads=("def", "class"),
)
_RELAY = Grammar(
    states=MappingProxyType(
        {
            START: (
                Rule(r"/\*", "synComment", "comment"),
                Rule("//.*", "synComment"),
                Rule(r"#(?!\[).*", "synComment"),
                Rule(r'"(?:[^"\\]|\\.)*"?', "synString"),
                Rule(r"#\[[^\]]*\]?|meta\[(?:{W}|\.)+\]\[[0-9]+\]", "synDecor"),
                Rule(r"@{L}(?:{W}|[?.])*", "synName"),
                Rule(r"%(?:{W}|[?.])+", ""),
                Rule(r"[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?(?:bf16|[fiu][0-9]*)?", "synNumber"),
                Rule(r"match\?|{L}(?:{W}|\?)*(?:\.{L}(?:{W}|\?)*)*", "word"),
            ),
            "comment": (Rule(r"\*/", "synComment", START), Rule(r"(?:[^*]|\*(?!/))+", "synComment")),
        }
    ),
    keywords=(
        *("def", "fn", "let", "if", "else", "match", "match?", "type", "extern", "free_var", "ref", "ref_read"),
        *("ref_write", "True", "False", "_"),
    ),
    types=r"(?:Tensor|(?:bfloat|float|uint|int)[0-9]+(?:x[0-9]+)?|bool|[A-Z]{W}*)",
)
GRAMMARS: Mapping[GrammarName, Grammar] = MappingProxyType({"tvmscript": _TVMSCRIPT, "relay": _RELAY})


def cut_line(line: str, name: GrammarName, state: str) -> tuple[list[tuple[Syntax, str]], str]:
    """Return the tokens of a line that begins in `state`, at first `START`, and the state in which it ends.

    The tokens spell the line, and one may follow another of the same look.
    """
    return _tokenizer(name).cut(line, state)


@lru_cache(maxsize=len(GRAMMARS))
def _tokenizer(name: GrammarName) -> "_Tokenizer":
    return _Tokenizer(GRAMMARS[name])


class _Tokenizer:
    """A grammar with its patterns compiled; `re` itself keeps what it compiled for another text."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._keywords = frozenset(grammar.keywords)
        self._types = re.compile(_python(grammar.types))
        self._pattern_of = {state: _compiled(rules, state) for state, rules in grammar.states.items()}

    def cut(self, line: str, state: str) -> tuple[list[tuple[Syntax, str]], str]:
        """Return the tokens of a line that begins in `state`, and the state in which it ends."""
        found: list[tuple[Syntax, str]] = []
        at, end = 0, len(line)
        previous = ""
        while at < end:
            match = self._pattern_of[state].match(line, at)
            if match is None or match.end() == at:
                found.append(("", line[at]))
                at += 1
                continue
            at, word = match.end(), match[0]
            if match.lastindex is None:
                found.append(("", word))
                continue
            rule = self._grammar.states[state][match.lastindex - 1]
            found.append((self._looked_up(word, previous) if rule.syntax == "word" else rule.syntax, word))
            previous = word if rule.syntax == "word" else ""
            state = rule.state or state
        return found, state

    def _looked_up(self, word: str, previous: str) -> Syntax:
        if previous in self._grammar.heads:
            return "synName"
        if word in self._keywords:
            return "synKeyword"
        return "synType" if self._types.fullmatch(word) else ""


def _compiled(rules: tuple[Rule, ...], state: str) -> re.Pattern[str]:
    """Return a pattern with a group for each rule; where nothing is open, one without a group cuts off plain signs."""
    patterns = [f"({_python(rule.pattern)})" for rule in rules]
    return re.compile("|".join([_SIGNS, *patterns] if state == START else patterns))


def _python(pattern: str) -> str:
    return pattern.replace("{L}", LETTER).replace("{W}", WORD)
