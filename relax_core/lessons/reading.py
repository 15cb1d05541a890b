"""Reads the file of a lesson: front matter between `+++`, a step per heading `##`, blocks of TOML in fences."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.lessons.model import Block, Do, Exercise, Explain, Fix, Lesson, Located, Look, Predict, Shown, Step
from relax_core.source import Source, Span

_FRONT: Final = "+++"
_SHOW: Final = "show"
_EXERCISES: Final[Mapping[str, type[Exercise]]] = MappingProxyType(
    {"look": Look, "predict": Predict, "do": Do, "fix": Fix, "explain": Explain}
)
_PATH: Final = re.compile(r" - at `\$\.?(.*?)`$")
_TOML_LINE: Final = re.compile(r" \(at line (\d+), column (\d+)\)")


class FrontMatter(Block, frozen=True, forbid_unknown_fields=True):
    """What a lesson says of itself."""

    title: str
    about: str
    minutes: int
    order: int
    group: str = ""
    needs: tuple[str, ...] = ()
    """Names of the lessons that come before."""
    program: str = ""
    """What the first step shows, if it does not say."""


def read_lesson(name: str, source: Source) -> Lesson:
    """Read a lesson; `name` is that of its folder.

    Raises:
        CompileError: EN032 for each mistake, located in the file.
    """
    return _Reader(source).lesson(name)


class _Reader:
    """Reads one file, and collects what is wrong with its blocks."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.text.split("\n")
        self._found: list[Diagnostic] = []

    def lesson(self, name: str) -> Lesson:
        """Read the whole file."""
        end = self._front_end()
        front = self._block(FrontMatter, 1, end)
        body = "\n" * (end + 1) + "\n".join(self._lines[end + 1 :])
        tokens = MarkdownIt("commonmark").parse(body)
        heads = [(token, tokens[place + 1]) for place, token in enumerate(tokens) if _is_step(token)]
        starts = [_first(token) for token, _ in heads]
        ends = [*starts[1:], len(self._lines)]
        if not heads:
            self._refuse(end, end + 1, "a lesson has at least one step, which begins with `## Title`")
            raise CompileError(self._found)
        shown = Shown(page="source", program=front.program if front else "")
        steps: list[Step] = []
        for (_, title), start, stop in zip(heads, starts, ends, strict=True):
            fences = [item for item in tokens if item.type == "fence" and start <= _first(item) < stop]
            steps.append(self._step(title.content, (start, stop), fences, shown))
            shown = steps[-1].shown
        if self._found or front is None:
            raise CompileError(self._found)
        introduction = "\n".join(self._lines[end + 1 : starts[0] if starts else None]).strip()
        order, needs = front.order, front.needs
        return Lesson(
            name, front.title, front.about, front.group, front.minutes, order, needs, introduction, tuple(steps)
        )

    def _front_end(self) -> int:
        """Return the line at which the front matter ends."""
        ends = [number for number, line in enumerate(self._lines) if number and line.strip() == _FRONT]
        if self._lines[0].strip() != _FRONT or not ends:
            self._refuse(0, 1, "a lesson begins with front matter in TOML between two lines `+++`")
            raise CompileError(self._found)
        return ends[0]

    def _step(self, title: str, lines: tuple[int, int], fences: list[Token], before: Shown) -> Step:
        start, stop = lines
        blocks = [item for item in fences if item.info.strip() in (_SHOW, *_EXERCISES)]
        text = "\n".join(self._without(start + 1, stop, blocks)).strip()
        shown, shown_at = before, self._at(start, start + 1)
        exercise, exercise_at = None, self._at(start, start + 1)
        for fence in blocks:
            kind, (first, last) = fence.info.strip(), _range(fence)
            if kind == _SHOW:
                found = self._block(Shown, first + 1, last - 1)
                shown, shown_at = (before if found is None else over(before, found)), self._at(first, last)
                continue
            if exercise is not None:
                self._refuse(first, last, f"a step has one exercise, and `{kind}` is a second one")
            exercise, exercise_at = self._block(_EXERCISES[kind], first + 1, last - 1), self._at(first, last)
        return Step(title, text, shown, exercise, self._at(start, start + 1), shown_at, exercise_at)

    def _without(self, start: int, stop: int, blocks: list[Token]) -> Iterator[str]:
        taken = {line for item in blocks for line in range(*_range(item))}
        yield from (self._lines[line] for line in range(start, stop) if line not in taken)

    def _block(self, kind: type[Any], first: int, last: int) -> Any:
        """Read the TOML of lines as a struct; `None` if it is wrong, which is said."""
        text = "\n".join(self._lines[first:last])
        try:
            return msgspec.convert(tomllib.loads(text), kind)
        except tomllib.TOMLDecodeError as error:
            where = _TOML_LINE.search(str(error))
            line = first + int(where[1]) - 1 if where else first
            self._refuse(line, line + 1, f"this is no TOML: {_TOML_LINE.sub('', str(error))}")
        except msgspec.ValidationError as error:
            path = _PATH.search(str(error))
            words = _PATH.sub("", str(error)).replace("Object", "The block")
            unknown = re.search(r"unknown field `(\w+)`", words)
            key = unknown[1] if unknown else (path[1].split(".")[0].split("[")[0] if path else "")
            line = next((at for at in range(first, last) if re.match(rf"{key}\s*=", self._lines[at])), first - 1)
            self._refuse(line, line + 1, f"{words}{f': `{key}`' if path and path[1] and not unknown else ''}")
        return None

    def _at(self, first: int, last: int) -> Located:
        return Located(self._source.offset(first + 1, 1), self._source.offset(last, len(self._lines[last - 1]) + 1))

    def _refuse(self, first: int, last: int, message: str) -> None:
        at = self._at(max(0, first), max(1, min(last, len(self._lines))))
        self._found.append(Diagnostic("EN032", message, Span(self._source, at.start, at.end)))


def over(before: Shown, own: Shown) -> Shown:
    """Return the screen of a step: what it says, and of what it does not say what the step before said.

    Another program, or another pipeline, begins where it begins: at no stage, time or node.
    """
    is_other = own.program not in ("", before.program)
    kept = Shown(page=before.page, program=before.program) if is_other else before
    if own.pipeline or own.page not in (None, before.page):
        kept = msgspec.structs.replace(
            kept,
            stage=-1,
            time=-1,
            node="",
            inside=-1,
            clock=0,
            view="",
            function="",
            kernel="",
            by_hand=None,
            schedule="",
            tab="",
            lets="",
            pair=-1,
        )
    default = Shown()
    said = {name: value for name, value in msgspec.structs.asdict(own).items() if value != getattr(default, name)}
    return msgspec.structs.replace(kept, **said)


def refused(source: Source, at: Located, code: str, message: str, hint: str = "") -> Diagnostic:
    """Say what is wrong with a block of a lesson, where it stands."""
    return Diagnostic(code, message, Span(source, at.start, at.end), hint)


def _is_step(token: Token) -> bool:
    return token.type == "heading_open" and token.tag == "h2" and token.level == 0


def _range(token: Token) -> tuple[int, int]:
    first, last = token.map or (0, 0)
    return first, last


def _first(token: Token) -> int:
    return _range(token)[0]
