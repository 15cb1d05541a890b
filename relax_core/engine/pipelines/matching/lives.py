"""The life of a part of a recorded program, and the origins of all lines of one of its forms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from relax_core.analysis.matching.links import Confidence, Link, weakest
from relax_core.analysis.matching.parts import Part
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.pipelines.matching.chain import Forms, LateFunctions, Poll, Step, steps_of, unheard
from relax_core.present.models import Mark
from relax_core.present.nodes.origin_models import LifeLine, LifeStage, NodeLife

_LINE_LIMIT: Final = 200
"""How many lines of one stage are shown."""
_SAME: Final = "same text"


@dataclass(frozen=True, slots=True)
class Reached:
    """How a part was reached: the link that led to it, and the lowest confidence on the way."""

    confidence: Confidence = "sure"
    why: str = ""
    weakest: Confidence = "sure"


Reach: TypeAlias = dict[Part, Reached]


class Chain:
    """The forms of a recorded program, matched with each other once."""

    def __init__(self, pipeline: Forms, poll: Poll = unheard) -> None:
        self.steps = tuple(steps_of(pipeline, poll))
        self._texts = [(step.stage.text or "").split("\n") for step in self.steps]
        self._stages = pipeline.stages

    def number_of(self, position: int) -> int:
        """Return the number of the form that a stage has: of its own, or of the last one before it.

        Raises:
            CompileError: PL013, there is no such stage, or it is no form of the program.
        """
        stages = self._stages
        if not 0 <= position < len(stages):
            message = f"there is no stage at position {position}; the last one is at {len(stages) - 1}"
            raise CompileError((Diagnostic("PL013", message),))
        stage = stages[position]
        found = [number for number, step in enumerate(self.steps) if step.position <= position]
        # A stage that changed nothing has the text of the form before it.
        if not found or self.steps[found[-1]].stage.text != stage.text:
            message = f"stage {stage.number}, {stage.pass_name}, is no form of the program, so that it has no origins"
            raise CompileError((Diagnostic("PL013", message),))
        return found[-1]

    def text_of(self, number: int, line: int) -> str:
        """Return a line of the text of a form without its indentation."""
        lines = self._texts[number]
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def lines_of(self, number: int) -> Sequence[str]:
        """Return the lines of the text of a form."""
        return self._texts[number]

    def parts_at(self, number: int, line: int) -> tuple[Part, ...]:
        """Return the parts that begin in a line of a form.

        Raises:
            CompileError: EN005, there is no such line.
        """
        count = len(self._texts[number])
        if not 0 < line <= count:
            raise CompileError((Diagnostic("EN005", f"there is no line {line}: the text has {count}"),))
        return self.steps[number].parts_at(line)

    def parts_called(self, number: int, name: str) -> tuple[Part, ...]:
        """Return the first part with a name, `function.name` or `name`; a function comes first."""
        function, _, short = name.rpartition(".")
        step = self.steps[number]
        whole = step.functions.get(short.removeprefix("@")) if not function else None
        if whole is not None and whole.is_here:
            return (whole.outline.function,)
        for key in (function,) if function else step.functions:
            item = step.functions.get(key)
            found = next((part for part in item.outline.parts if part.name == short), None) if item else None
            if item is not None and item.is_here and found is not None:
                return (found,)
        return ()

    def read_all(self, poll: Poll = unheard) -> None:
        """Read and match all functions of all forms."""
        for number, step in enumerate(self.steps, 1):
            poll(f"Matching {step.stage.pass_name}", number, len(self.steps))
            if isinstance(step.functions, LateFunctions):
                step.functions.read_all()

    def follow(self, number: int, parts: Iterable[Part], poll: Poll = unheard) -> tuple[Reach, ...]:
        """Return for each form what the parts of the form `number` stem from, or became."""
        count = len(self.steps)
        found: list[Reach] = [{} for _ in self.steps]
        found[number] = {part: Reached() for part in parts}
        for at in range(number, 0, -1):
            poll(f"Back to {self.steps[at - 1].stage.pass_name}", number - at + 1, count)
            found[at - 1] = _back(found[at], self.steps[at], self.steps[at - 1])
        for at in range(number + 1, count):
            poll(f"On to {self.steps[at].stage.pass_name}", at + 1, count)
            found[at] = _on(found[at - 1], self.steps[at])
        return tuple(found)


def _back(reach: Reach, step: Step, before: Step) -> Reach:
    """Return what parts of a form stem from."""
    made: Reach = {}
    for part, reached in reach.items():
        if before.function_of(part) is not None:
            _reach(made, part, Reached("sure", _SAME, reached.weakest))
        else:
            for link in step.origins_of(part):
                _reach(made, link.before, _over(link, reached))
    return made


def _on(reach: Reach, step: Step) -> Reach:
    """Return what parts of the form before became."""
    made: Reach = {}
    for part, reached in reach.items():
        if step.function_of(part) is not None:
            _reach(made, part, Reached("sure", _SAME, reached.weakest))
        for link in step.became_of(part):
            _reach(made, link.after, _over(link, reached))
    return made


def _over(link: Link, reached: Reached) -> Reached:
    return Reached(link.confidence, link.why, weakest((link.confidence, reached.weakest)))


def _reach(made: Reach, part: Part, reached: Reached) -> None:
    """Add a part; if there are several ways to it, the best founded one counts."""
    old = made.get(part)
    if old is None or (old.weakest != reached.weakest and weakest((old.weakest, reached.weakest)) == old.weakest):
        made[part] = reached


def life_of(chain: Chain, position: int, line: int = 0, name: str = "", poll: Poll = unheard) -> NodeLife:
    """Follow what begins in a line, or has a name, through all forms of the program.

    Raises:
        CompileError: there is no such stage or line, or nothing of that name.
    """
    number = chain.number_of(position)
    parts = chain.parts_called(number, name) if name else chain.parts_at(number, line)
    step = chain.steps[number]
    if not parts:
        if name:
            message = f"nothing is called {name} in stage {step.stage.number}, {step.stage.pass_name}"
            raise CompileError((Diagnostic("EN005", message, hint="say function.name for a name within a function"),))
        return NodeLife("", position, line, words=(f"no part of the program begins in line {line}",))
    line = step.line_of(parts[0])
    reach = chain.follow(number, parts, poll)
    stages: list[LifeStage] = []
    for at in range(len(chain.steps)):
        stage = _stage(chain, reach, at, number)
        if stage is not None:
            stages.append(stage)
    return NodeLife(_title(parts[0]), position, line, tuple(stages), tuple(_ends(chain, reach, number)))


def _title(part: Part) -> str:
    if part.parent is None:
        return f"{part.kind} @{part.name}"
    return f"{part.kind} {part.name}".rstrip() + f" of @{part.function}"


def _stage(chain: Chain, reach: Sequence[Reach], at: int, chosen: int) -> LifeStage | None:
    """Present one form; `None` where the part is not, but for the first one behind its end."""
    step, found = chain.steps[at], reach[at]
    fault = step.fault_of(found)
    if fault:
        words = f"it cannot be read: {fault}" if found else ""
        return LifeStage(step.position, step.label, words=words) if words else None
    if not found:
        is_end = at > chosen and bool(reach[at - 1])
        words = "nothing here is matched to it"
        return LifeStage(step.position, step.label, mark="removed", words=words) if is_end else None
    lines = _lines(chain, found, at)
    words = "" if lines else "not in this stage, which holds other functions only"
    return LifeStage(step.position, step.label, lines[:_LINE_LIMIT], _mark(reach, at), words)


def _mark(reach: Sequence[Reach], at: int) -> Mark:
    if at == 0:
        return "unchanged"
    if not reach[at - 1]:
        return "added"
    return "unchanged" if reach[at].keys() == reach[at - 1].keys() else "changed"


def _lines(chain: Chain, found: Reach, at: int) -> tuple[LifeLine, ...]:
    """Return the lines of parts, without those that stand in another one that is shown."""
    step = chain.steps[at]
    rows: dict[int, LifeLine] = {}
    for part, reached in found.items():
        line = step.line_of(part)
        if not step.holds(part) or line in rows or not line or _is_within(part, found):
            continue
        rows[line] = LifeLine(
            line, chain.text_of(at, line), part.kind, part.name, part.function, reached.confidence, reached.why,
            reached.weakest,
        )  # fmt: skip
    return tuple(rows[line] for line in sorted(rows))


def _is_within(part: Part, found: Reach) -> bool:
    outer = part.parent
    while outer is not None:
        if outer in found and outer.parent is None and part.kind not in ("binding", "call", "parameter"):
            return True
        outer = outer.parent
    return False


def _ends(chain: Chain, reach: Sequence[Reach], chosen: int) -> Iterable[str]:
    """Yield where a life begins and ends, if that is within the recording."""
    first = next(at for at in range(chosen + 1) if reach[at])
    if first:
        yield f"nothing in {chain.steps[first - 1].label} is matched to it: {chain.steps[first].label} made it"
    gone = next((at for at in range(chosen + 1, len(reach)) if not reach[at]), None)
    if gone is not None:
        yield f"{chain.steps[gone].label} leaves nothing that is matched to it"
