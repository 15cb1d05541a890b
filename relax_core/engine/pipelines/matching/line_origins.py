"""What all lines of one form of a recorded program became, and what they stem from."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from relax_core.analysis.matching.links import Confidence, Link, weakest
from relax_core.analysis.matching.parts import Part
from relax_core.engine.pipelines.matching.chain import Poll, Step, unheard
from relax_core.engine.pipelines.matching.lives import Chain
from relax_core.present.nodes.origin_models import LineLink, OriginLayer, OriginLine, Origins


@dataclass(slots=True)
class _Known:
    """The lines that a part is linked to, how well the links on the way are founded, and what the last rests on."""

    lines: set[int] = field(default_factory=set[int])
    confidence: Confidence = "sure"
    why: str = ""


_Lines: TypeAlias = dict[Part, _Known]


def origins_of(chain: Chain, position: int, line: int = 0, poll: Poll = unheard) -> Origins:
    """Return all forms of the program, each line with the lines of the form at `position` that it is linked to.

    With `line`, only what that line is linked to is there.

    Raises:
        CompileError: there is no such stage or line.
    """
    number = chain.number_of(position)
    step = chain.steps[number]
    if line:
        chosen: Iterable[Part] = chain.parts_at(number, line)
    else:
        chain.read_all(poll)
        chosen = (part for item in step.functions.values() if item.is_here for part in item.outline.parts)
    # Within one line the outermost part stands for the others; a line inside a part, such as `T.reads`, is that part's.
    own = {part: _Known({line or step.line_of(part)}) for part in chosen if step.line_of(part)}
    found: list[_Lines] = [{} for _ in chain.steps]
    found[number] = own
    for at in range(number, 0, -1):
        found[at - 1] = _back(found[at], chain.steps[at], chain.steps[at - 1])
    for at in range(number + 1, len(chain.steps)):
        found[at] = _on(found[at - 1], chain.steps[at])
    layers = tuple(_layer(chain, at, found[at]) for at in range(len(chain.steps)) if not chain.steps[at].fault)
    name = step.stage.name
    return Origins(name, tuple(chain.lines_of(number)), layers, step.stage.number)


def _back(lines: _Lines, step: Step, before: Step) -> _Lines:
    made: _Lines = {}
    for part, known in lines.items():
        if before.function_of(part) is not None:
            _add(made, part, known, None)
        else:
            for link in step.origins_of(part):
                _add(made, link.before, known, link)
    return made


def _on(lines: _Lines, step: Step) -> _Lines:
    made: _Lines = {}
    for part, known in lines.items():
        if step.function_of(part) is not None:
            _add(made, part, known, None)
        for link in step.became_of(part):
            _add(made, link.after, known, link)
    for name in step.made:
        outline = step.functions[name].outline
        whole = made.get(outline.function)
        if whole is not None:
            # What is in a function that was made whole stems from what that does.
            for part in outline.parts[1:]:
                made.setdefault(part, _Known(set(whole.lines), whole.confidence, f"part of @{name}"))
    return made


def _add(made: _Lines, part: Part, known: _Known, link: Link | None) -> None:
    """Let a part have the lines of another one; the weakest of its links is the one that is told."""
    confidence = known.confidence if link is None else weakest((link.confidence, known.confidence))
    found = made.setdefault(part, _Known(set(), confidence, known.why if link is None else link.why))
    found.lines |= known.lines
    if weakest((found.confidence, confidence)) != found.confidence:
        found.confidence, found.why = confidence, "" if link is None else link.why


def _layer(chain: Chain, at: int, lines: _Lines) -> OriginLayer:
    step = chain.steps[at]
    known_at: dict[int, _Known] = {}
    for part, known in lines.items():
        line = step.line_of(part) if step.holds(part) else 0
        # A result begins where the last binding may stand as well.
        if line and (line not in known_at or part.parent is None):
            known_at[line] = known
    rows = tuple(
        OriginLine(number, text, tuple(sorted(known_at[number].lines)) if number in known_at else ())
        for number, text in enumerate(chain.lines_of(at), 1)
    )
    links = tuple(LineLink(line, known.confidence, known.why) for line, known in sorted(known_at.items()))
    return OriginLayer(step.stage.pass_name, "stage", rows, step.stage.number, links)
