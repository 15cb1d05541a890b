"""Cut Relay text into tokens. The tokens of a text are parallel tuples, so that reading them is cheap."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from relax_core.frontend.relay.report import Report
from relax_core.source import Source, Span

KEYWORDS = frozenset(
    (
        *("let", "fn", "def", "if", "else", "type", "match", "match?", "extern", "free_var"),
        *("ref", "ref_read", "ref_write", "True", "False", "_"),
    )
)
END = "end of text"
LOOKAHEAD = 3

_NAME = r"[^\W\d][\w?]*(?:\.[^\W\d][\w?]*)*"
_DEVICES = "cpu|cuda|gpu|cl|opencl|vulkan|metal|vpi|rocm|ext_dev|hexagon|webgpu|micro_dev|sdaccel|aocl|llvm|remote_cpu"
# In order of frequency; of two with a common prefix the longer one stands first.
_GROUPS = (
    # A name may hold slashes, as those of TensorFlow do; `%x/2` and `%x/%y` are divisions.
    ("local", rf"%{_NAME}(?:/[^\W\d][\w?]*)*"),
    ("inf", r"(?:inf|nan)f(?:16|32|64)?\b"),
    ("meta", r"meta\[[\w.]+\]\[\d+\]"),
    ("ident", _NAME),
    ("number", r"\d+(?:\.(?=\D|$)|\.\d+)?(?:[eE][+-]?\d+)?(?:bf16|[fiu]\d*)?"),
    ("graph", r"%\d+"),
    ("mark", rf"<(?:{_DEVICES})\(-?\d+\)>"),
    ("comment", r"(?://|\#(?!\[[ ]*(?:version|metadata)))[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/"),
    # TVM quotes with `"`, but for what it prints for people, such as targets.
    ("string", r"""\"(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""),
    ("elision", r"\.\.\.|\u2026"),
    ("project", r"\.[ ]?\d+"),
    ("global", rf"@{_NAME}"),
    ("version", r'\#\[[ ]*version[ ]*=[ ]*"[^"\n]*"[ ]*\]'),
    ("metadata", r"\#\[[ ]*metadata[ ]*\]"),
    ("punctuation", r"->|=>|==|!=|<=|>=|:=|;;|/(?!\*)|[(){}\[\],;:=<>+*|?.^-]"),
)
_TOKEN = re.compile(r"\s*(?:" + "|".join(f"({pattern})" for _, pattern in _GROUPS) + ")")
_KINDS = ("", *(name for name, _ in _GROUPS))
_TYPE_COMMENT = re.compile(r"/\*\s*ty=")
_OPEN_STRING = re.compile(r'"[^\n]*?(?=[ )\]},;]*(?://[^\n]*)?(?:\n|$))')
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_OLD_VERSION = re.compile(r"\s*v(\d+\.\d+\.\d+)[ \t]*(?=\n|$)")


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Tokens, padded with `END` for lookahead. The kind of a keyword or punctuation mark is its text.

    `type_comments` maps the number of the token behind a comment `/* ty=... */` to the range of its type.
    """

    source: Source
    kinds: tuple[str, ...]
    texts: tuple[str, ...]
    starts: tuple[int, ...]
    type_comments: Mapping[int, tuple[int, int]]
    metadata_start: int | None = None

    @property
    def count(self) -> int:
        """Number of tokens, without the `END` behind them."""
        return len(self.kinds) - LOOKAHEAD

    def span(self, first: int, last: int | None = None) -> Span:
        """Return the span from token `first` to token `last`, both included."""
        last = first if last is None else max(last, first)
        return Span(self.source, self.starts[first], self.starts[last] + len(self.texts[last]))


@dataclass(slots=True)
class _Growing:
    kinds: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    starts: list[int] = field(default_factory=list[int])
    type_comments: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def add(self, kind: str, text: str, start: int) -> None:
        self.kinds.append(kind)
        self.texts.append(text)
        self.starts.append(start)


def tokenize(source: Source, report: Report, start: int = 0, end: int | None = None) -> Tokens:
    """Tokenize the text from `start` to `end`; anything else is reported and skipped. Linear in the text."""
    text = source.text
    end = len(text) if end is None else end
    made = _Growing()
    kinds, texts, starts = made.kinds, made.texts, made.starts
    match, keywords, names = _TOKEN.match, KEYWORDS, _KINDS
    old = _OLD_VERSION.match(text, start, end)
    position = old.end() if old else start
    if old:
        made.add("version", old[0].strip(), old.start(1) - 1)
    metadata_start: int | None = None
    while position < end:
        found = match(text, position, end)
        if found is None:
            position = _other(made, source, report, (position, end))
            continue
        position = found.end()
        number = found.lastindex or 0
        word = found[number]
        kind = names[number]
        if kind == "comment":
            _note_type_comment(made, word, position)
            continue
        if kind == "punctuation" or (kind == "ident" and word in keywords):
            kind = word if word != ";;" else ";"
        elif kind == "metadata":
            metadata_start = position
            break
        kinds.append(kind)
        texts.append(word)
        starts.append(position - len(word))
    # An error at the end is shown at the last word, not at the blank line behind it.
    last = min(end, starts[-1] + len(texts[-1])) if starts else start
    for _ in range(LOOKAHEAD):
        made.add(END, "", last)
    comments = MappingProxyType(made.type_comments)
    return Tokens(source, tuple(kinds), tuple(texts), tuple(starts), comments, metadata_start)


def _note_type_comment(made: _Growing, comment: str, end: int) -> None:
    found = _TYPE_COMMENT.match(comment)
    if found is None:
        return
    start = end - len(comment)
    cut = comment.find(" span=")
    made.type_comments[len(made.kinds)] = (start + found.end(), start + cut if cut > 0 else end - 2)


def _other(made: _Growing, source: Source, report: Report, place: tuple[int, int]) -> int:
    """Continue where no token starts: at blanks, nested comments, an unclosed string, a foreign character."""
    position, end = place
    text = source.text
    while position < end and text[position].isspace():
        position += 1
    if position >= end:
        return end
    if text.startswith("/*", position):
        return _nested_comment(made, source, report, (position, end))
    if text[position] == '"':
        # The string probably ends before the brackets at the end of the line.
        found = _OPEN_STRING.match(text, position, end)
        stop = found.end() if found is not None else end
        report.error("RL002", Span(source, position, stop), "the string is not closed on its line", 'add a `"`')
        made.add("string", text[position:stop], position)
        return stop
    stop = position + 1
    while stop < end and not text[stop].isspace() and _TOKEN.match(text, stop, end) is None:
        stop += 1
    shown = text[position : min(stop, position + 20)]
    report.error("RL002", Span(source, position, stop), f"{shown!r} is not Relay text")
    return stop


def _nested_comment(made: _Growing, source: Source, report: Report, place: tuple[int, int]) -> int:
    start, end = place
    depth = 0
    for edge in _COMMENT_EDGE.finditer(source.text, start, end):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            _note_type_comment(made, source.text[start : edge.end()], edge.end())
            return edge.end()
    report.error("RL002", Span(source, start, min(start + 2, end)), "the comment is not closed", "add a `*/`")
    return end
