"""The forms of a recorded program as functions with their parts, and the links from each form to the one before."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from relax_core.analysis.matching.links import Link, Links
from relax_core.analysis.matching.modules import match_outlines
from relax_core.analysis.matching.outlines import outline_of
from relax_core.analysis.matching.parts import Outline, Part
from relax_core.diagnostics import CompileError
from relax_core.frontend.collector import collector_held
from relax_core.ir.module import Definition, IRModule

KERNEL: Final = "the prim func that it calls"
Poll: TypeAlias = Callable[[str, int, int], None]
"""Told what is being done, and how much of it is done of how much; raises to stop it."""


class StageOfForms(Protocol):
    """What matching asks of a recorded stage."""

    @property
    def number(self) -> int: ...
    @property
    def pass_name(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str | None: ...


class Forms(Protocol):
    """What matching asks of a recorded pipeline."""

    @property
    def stages(self) -> Sequence[StageOfForms]: ...
    def forms(self) -> Sequence[StageOfForms]: ...
    def module(self, number: int) -> IRModule: ...


def unheard(_what: str, _done: int, _total: int) -> None:
    """Report to nobody."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedFunction:
    """A function in one form of the program.

    A function whose text stays keeps its outline: `offset` is how far its lines are from those of the outline.
    `is_here` is false for one that the form does not hold, because it holds prim funcs only, or only those of a device.
    """

    outline: Outline
    text: str
    first_line: int
    last_line: int
    offset: int = 0
    is_here: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A form of the program, and what its parts stem from in the form before; `fault` says why it cannot be read."""

    position: int
    stage: StageOfForms
    functions: Mapping[str, PlacedFunction]
    links: Links = field(default_factory=Links)
    became: Mapping[Part, tuple[Link, ...]] = field(default_factory=dict[Part, tuple[Link, ...]])
    """By the part of the form before."""
    fault: str = ""

    @property
    def label(self) -> str:
        """Number and pass."""
        return f"{self.stage.number:03d} {self.stage.pass_name}"

    def function_of(self, part: Part) -> PlacedFunction | None:
        """Return the function that a part is in, `None` if it is of another form."""
        found = self.functions.get(part.function)
        return found if found is not None and found.outline.parts[0] is _top(part) else None

    def holds(self, part: Part) -> bool:
        """Tell whether a part stands in the text of this form."""
        found = self.function_of(part)
        return found is not None and found.is_here

    def line_of(self, part: Part) -> int:
        """Return the line of a part in the text of this form."""
        found = self.function_of(part)
        return part.line + found.offset if found is not None and part.line else 0

    def parts_at(self, line: int) -> tuple[Part, ...]:
        """Return the parts that begin in a line, the outermost of them; else the one that the line is a part of."""
        for function in self.functions.values():
            if function.is_here and function.first_line <= line <= function.last_line:
                begun = [part for part in function.outline.parts if part.line + function.offset == line]
                if begun:
                    return tuple(part for part in begun if part.kind == begun[0].kind)
                before = [part for part in function.outline.parts if part.line + function.offset <= line]
                return tuple(before[-1:])
        return ()


def _top(part: Part) -> Part:
    while part.parent is not None:
        part = part.parent
    return part


def steps_of(pipeline: Forms, poll: Poll = unheard) -> Iterator[Step]:
    """Yield the forms of the program in order. `poll` is told how far it is.

    A form of prim funcs alone is matched with what was last seen of each: what it does not hold is kept.
    """
    position_of = {stage.number: position for position, stage in enumerate(pipeline.stages)}
    known: Mapping[str, PlacedFunction] = {}
    forms = pipeline.forms()
    for number, stage in enumerate(forms):
        poll(f"Matching {stage.pass_name}", number + 1, len(forms))
        position = position_of[stage.number]
        try:
            module = pipeline.module(stage.number)
        except CompileError as error:
            yield Step(position, stage, known, fault=error.diagnostics[0].message if error.diagnostics else "")
            continue
        # Each form is kept: the collector would look through all of them time and again, and find nothing.
        with collector_held():
            step = _step(position, stage, module, known)
        known = step.functions
        yield step


def _step(position: int, stage: StageOfForms, module: IRModule, known: Mapping[str, PlacedFunction]) -> Step:
    functions = {item.var.name: _placed(item, known.get(item.var.name)) for item in module.definitions}
    changed = {name: item.outline for name, item in functions.items() if _is_new(item, known.get(name))}
    links = (
        match_outlines({name: item.outline for name, item in known.items()}, changed, functions) if known else Links()
    )
    if known and not module.relax_functions:
        # What such a form leaves out is still a part of the program.
        for name, item in known.items():
            if name not in functions:
                functions[name] = PlacedFunction(item.outline, item.text, 0, 0, item.offset, is_here=False)
        _link_kernels(known, functions, links)
    became: defaultdict[Part, list[Link]] = defaultdict(list)
    for found in links.of.values():
        for link in found.values():
            became[link.before].append(link)
    return Step(position, stage, functions, links, {part: tuple(items) for part, items in became.items()})


def _placed(definition: Definition, before: PlacedFunction | None) -> PlacedFunction:
    span = definition.function.span
    if span is None:
        return PlacedFunction(outline_of(definition), "", 0, 0)
    text, first, last = span.text, span.line, span.source.line_column(max(span.start, span.end - 1))[0]
    if before is not None and before.text == text:
        shift = first - before.outline.function.line
        return PlacedFunction(before.outline, text, first, last, shift)
    return PlacedFunction(outline_of(definition), text, first, last)


def _is_new(function: PlacedFunction, before: PlacedFunction | None) -> bool:
    return before is None or function.outline is not before.outline


def _link_kernels(known: Mapping[str, PlacedFunction], functions: Mapping[str, PlacedFunction], links: Links) -> None:
    """Link the prim funcs of the first form without Relax functions to the calls of them."""
    for item in known.values():
        if item.outline.is_prim or not item.is_here:
            continue
        for part in item.outline.parts:
            kernel = functions.get(part.callee) if part.callee else None
            if kernel is not None and kernel.is_here and kernel.outline.is_prim:
                links.link(part, kernel.outline.function, "sure", KERNEL)
