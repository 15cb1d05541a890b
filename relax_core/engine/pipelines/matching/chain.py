"""The forms of a recorded program as functions with their parts, and the links from each form to the one before.

Most forms of a long pipeline hold prim funcs alone, and a life passes through few of them: such a form is read and
matched function by function, as each is asked for.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from relax_core.analysis.matching.links import Link, Links
from relax_core.analysis.matching.modules import match_outlines
from relax_core.analysis.matching.outlines import outline_of
from relax_core.analysis.matching.parts import Outline, Part
from relax_core.diagnostics import CompileError
from relax_core.engine.pipelines.matching.excerpts import Excerpt, excerpts_of, masked
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
    def is_read(self, number: int) -> bool: ...
    def excerpt(self, number: int, text: str) -> IRModule: ...


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


@dataclass(slots=True, eq=False)
class Step:
    """A form of the program, and what its parts stem from in the form before; `fault` says why it cannot be read."""

    position: int
    stage: StageOfForms
    functions: "Mapping[str, PlacedFunction]"
    _links: Links = field(default_factory=Links)
    _became: defaultdict[Part, list[Link]] = field(default_factory=lambda: defaultdict[Part, list[Link]](list))
    """By the part of the form before."""
    fault: str = ""

    @property
    def made(self) -> tuple[str, ...]:
        """The functions that the pass made whole."""
        return tuple(self._links.made)

    def add(self, links: Links) -> None:
        """Add the links of functions that were matched."""
        self._links.of |= links.of
        self._links.made |= links.made
        for found in links.of.values():
            for link in found.values():
                self._became[link.before].append(link)

    def origins_of(self, part: Part) -> Sequence[Link]:
        """Return what a part of this form stems from in the one before."""
        self.functions.get(part.function)
        return self._links.origins_of(part)

    def became_of(self, part: Part) -> Sequence[Link]:
        """Return what a part of the form before became."""
        self.functions.get(part.function)
        return self._became.get(part, ())

    def fault_of(self, parts: Iterable[Part]) -> str:
        """Say why the form, or a function that one of the parts is in, cannot be read; empty if all can."""
        faults = self.functions.faults if isinstance(self.functions, LateFunctions) else {}
        return self.fault or next((faults[part.function] for part in parts if part.function in faults), "")

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
        late = self.functions
        names = late.names_at(line) if isinstance(late, LateFunctions) else tuple(late)
        for function in (self.functions[name] for name in names):
            if function.is_here and function.first_line <= line <= function.last_line:
                begun = [part for part in function.outline.parts if part.line + function.offset == line]
                if begun:
                    return tuple(part for part in begun if part.kind == begun[0].kind)
                before = [part for part in function.outline.parts if part.line + function.offset <= line]
                return tuple(before[-1:])
        return ()


class LateFunctions(Mapping[str, PlacedFunction]):
    """The functions of a form that holds the same prim funcs as the one before: each is read when it is asked for."""

    def __init__(
        self, forms: Forms, stage: StageOfForms, excerpts: Mapping[str, Excerpt], known: Mapping[str, PlacedFunction]
    ) -> None:
        self._forms, self._stage, self._excerpts, self._known = forms, stage, excerpts, known
        self._names = (*excerpts, *(name for name in known if name not in excerpts))
        self._found: dict[str, PlacedFunction] = {}
        self.step: Step | None = None
        self.faults: dict[str, str] = {}
        """Why a function cannot be read, by its name."""

    def __getitem__(self, name: str) -> PlacedFunction:
        if name not in self._found:
            self._found[name] = self._load(name, self._known[name])
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def names_at(self, line: int) -> tuple[str, ...]:
        """Return the function whose text holds a line."""
        return tuple(name for name, item in self._excerpts.items() if item.first_line <= line <= item.last_line)

    def read_all(self) -> None:
        """Read the whole text at once, where all functions are asked for."""
        if len(self._found) < len(self._names):
            self._whole()
            for name in self._names:
                self.get(name)

    def _load(self, name: str, before: PlacedFunction) -> PlacedFunction:
        excerpt, step = self._excerpts.get(name), self.step
        assert step is not None, "the step of its functions is made with them"
        if excerpt is None:
            return PlacedFunction(before.outline, before.text, 0, 0, before.offset, is_here=False)
        same = excerpt.line_of(before.text)
        if same:
            shift = same - before.outline.function.line
            return PlacedFunction(before.outline, before.text, same, same + before.text.count("\n"), shift)
        try:
            definition = self._definition(name, excerpt)
        except CompileError as error:
            self.faults[name] = _words_of(error)
            return before
        with collector_held():
            made = _placed(definition, before)
            if _is_new(made, before):
                step.add(match_outlines({name: before.outline}, {name: made.outline}))
        return made

    def _definition(self, name: str, excerpt: Excerpt) -> Definition:
        """Return a function, read from its own lines if these say all."""
        number = self._stage.number
        if self._forms.is_read(number) and (found := self._whole().get(name)) is not None:
            return found
        try:
            module = self._forms.excerpt(number, masked(self._stage.text or "", self._excerpts, excerpt))
        except CompileError:
            module = self._forms.module(number)
        return next(item for item in module.definitions if item.var.name == name)

    def _whole(self) -> Mapping[str, Definition]:
        """Return the functions of the whole text, none if it has errors."""
        try:
            module = self._forms.module(self._stage.number)
        except CompileError:
            return {}
        return {item.var.name: item for item in module.definitions}


def _top(part: Part) -> Part:
    while part.parent is not None:
        part = part.parent
    return part


def _words_of(error: CompileError) -> str:
    return error.diagnostics[0].message if error.diagnostics else "it has errors"


def steps_of(pipeline: Forms, poll: Poll = unheard) -> Iterator[Step]:
    """Yield the forms of the program in order. `poll` is told how far it is.

    A form of prim funcs alone is matched with what was last seen of each: what it does not hold is kept.
    """
    position_of = {stage.number: position for position, stage in enumerate(pipeline.stages)}
    known: Mapping[str, PlacedFunction] = {}
    names: frozenset[str] = frozenset()
    forms = pipeline.forms()
    for number, stage in enumerate(forms):
        poll(f"Matching {stage.pass_name}", number + 1, len(forms))
        position = position_of[stage.number]
        excerpts = excerpts_of(stage.text or "")
        if excerpts and names == frozenset(excerpts):
            late = LateFunctions(pipeline, stage, excerpts, known)
            late.step = step = Step(position, stage, late)
        else:
            try:
                module = pipeline.module(stage.number)
            except CompileError as error:
                yield Step(position, stage, known, fault=_words_of(error))
                continue
            # Each form is kept: the collector would look through all of them time and again, and find nothing.
            with collector_held():
                step = _step(position, stage, module, known)
            names = (
                frozenset(item.var.name for item in module.definitions) if not module.relax_functions else frozenset()
            )
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
    step = Step(position, stage, functions)
    step.add(links)
    return step


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
