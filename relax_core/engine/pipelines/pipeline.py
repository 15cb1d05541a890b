"""A recorded pipeline: the stages that another compiler printed, in order, and what is known of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.diagnostics import CompileError, Diagnostic, plural
from relax_core.engine.pipelines.matching import line_origins, lives
from relax_core.engine.pipelines.matching.chain import Poll, unheard
from relax_core.engine.pipelines.recorded_run import RecordedRun
from relax_core.engine.pipelines.scan import StageKind, constant_uses, constants_in, kind_of
from relax_core.frontend.parse import Parsed, parse_text
from relax_core.ir.module import IRModule
from relax_core.present.nodes.origin_models import NodeLife, Origins

Array: TypeAlias = npt.NDArray[Any]
SourceKind: TypeAlias = Literal["dumps", "log", "files", "trace"]

INPUT: Final = "(input)"
"""The name of the stage in front of the first pass."""
_HELPERS: Final = ("folded call", "no functions", "no text")
_NO_ARRAYS: Mapping[str, Array] = MappingProxyType({})
_NO_FACTS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ConstantEntry:
    """A tensor of a stage's metadata table: its key among the arrays, "" if it was not kept, and its type."""

    key: str
    shape: tuple[int, ...] = ()
    dtype: str = ""

    @property
    def type(self) -> str:
        """Such as `(3, 4) float32`; "" if it is not known."""
        sizes = f"({', '.join(map(str, self.shape))}{',' if len(self.shape) == 1 else ''})"
        return f"{sizes} {self.dtype}" if self.dtype else ""


@dataclass(frozen=True, slots=True)
class MissingConstant:
    """A tensor that a text refers to and that is not at hand: its name there, its type if known, and its first use."""

    stage: int
    name: str
    type: str
    line: int
    use: str


@dataclass(frozen=True, slots=True, eq=False)
class RecordedStage:
    """The module behind one pass.

    `number` is the source's own: that of the file, or the position. `depth` is 0 for passes that no other pass called,
    `None` if the source does not tell. `text` is `None` if the pass did not return; `error` then says why. `file` and
    `line` are where the text stands. `seconds` is the time of the pass, -1 if the source does not tell.
    """

    number: int
    pass_name: str
    text: str | None
    file: str = ""
    line: int = 1
    depth: int | None = None
    seconds: float = -1.0
    error: str = ""
    constants: tuple[ConstantEntry, ...] = ()
    digest: str = ""
    """A hash of the module, if the text was not kept."""

    @property
    def name(self) -> str:
        """Number and pass as a file name, such as `004_LegalizeOps.py`."""
        safe = "".join("_" if char in '<>:"/\\|?*' or not char.isprintable() else char for char in self.pass_name)
        return f"{self.number:03d}_{safe}.py"

    @property
    def kind(self) -> StageKind:
        """What the stage holds."""
        return kind_of(self.text)

    @property
    def has_stopped(self) -> bool:
        """Whether the pass did not return, and the recording says why; of a light one texts alone are missing."""
        return self.text is None and bool(self.error) and not self.digest


@dataclass(frozen=True, slots=True)
class Recording:
    """What a source gave: stages in order, arrays by key, facts such as versions, runs, and remarks on the source.

    `runs` are those of TVM; `machine_runs` are the entries of runs of this machine, which the file holds as well.
    """

    name: str
    source_kind: SourceKind
    stages: tuple[RecordedStage, ...]
    arrays: Mapping[str, Array] = field(default_factory=lambda: _NO_ARRAYS)
    facts: Mapping[str, str] = field(default_factory=lambda: _NO_FACTS)
    runs: tuple[RecordedRun, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    machine_runs: tuple[str, ...] = ()


class Pipeline:
    """A recorded pipeline. Texts are parsed when their modules are first asked for, equal ones once."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._position_of = {stage.number: at for at, stage in enumerate(recording.stages)}
        self._parsed: dict[tuple[str, tuple[ConstantEntry, ...]], Parsed] = {}
        self._kinds: dict[str, StageKind] = {}
        self._chain: lives.Chain | None = None

    @property
    def name(self) -> str:
        """The path that was opened."""
        return self._recording.name

    @property
    def source_kind(self) -> SourceKind:
        """What it was opened from."""
        return self._recording.source_kind

    @property
    def stages(self) -> tuple[RecordedStage, ...]:
        """All stages in order; those without a text, or with that of the stage before, among them."""
        return self._recording.stages

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The recorded arrays by key: constants, inputs, results."""
        return self._recording.arrays

    @property
    def facts(self) -> Mapping[str, str]:
        """What the recorder wrote about the build: versions, target, configuration."""
        return self._recording.facts

    @property
    def runs(self) -> tuple[RecordedRun, ...]:
        """The runs that were recorded."""
        return self._recording.runs

    @property
    def machine_runs(self) -> tuple[str, ...]:
        """The entries of the runs of this machine that the file holds, which are no part of the pipeline."""
        return self._recording.machine_runs

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What there is to say about the source: holes, what was dropped, a pass that did not return."""
        return self._recording.diagnostics

    @property
    def has_crash(self) -> bool:
        """Whether a pass, what is behind the passes, or a run did not return."""
        return any(stage.has_stopped for stage in self.stages) or any(
            run.error or not run.is_finished for run in self.runs
        )

    @property
    def recording(self) -> Recording:
        """All of it as a value."""
        return self._recording

    def stage(self, number: int) -> RecordedStage:
        """Return the stage with a number.

        Raises:
            CompileError: PL013, there is none.
        """
        at = self._position_of.get(number)
        if at is None:
            numbers = [stage.number for stage in self.stages]
            hint = f"stages: {numbers[0]} to {numbers[-1]}" if numbers else ""
            raise CompileError((Diagnostic("PL013", f"{self.name} has no stage {number}", hint=hint),))
        return self.stages[at]

    def kind(self, stage: RecordedStage) -> StageKind:
        """Return what a stage holds; each text is looked at once."""
        if stage.text is None:
            return "no text"
        if stage.text not in self._kinds:
            self._kinds[stage.text] = kind_of(stage.text)
        return self._kinds[stage.text]

    def is_helper(self, stage: RecordedStage) -> bool:
        """Tell whether a stage holds none of the program's functions, so that it is no form of the program.

        A prim func that FoldConstant compiles is one only where there is a module that it is not in.
        """
        kind = self.kind(stage)
        return self._has_program if kind == "folded call" else kind in _HELPERS

    @cached_property
    def _has_program(self) -> bool:
        return any(self.kind(item) in ("module", "prim funcs") for item in self.stages)

    def forms(self) -> tuple[RecordedStage, ...]:
        """Return the different forms of the program in order: no helpers, and the first of equal stages in a row."""
        found: list[RecordedStage] = []
        for stage in self.stages:
            if not self.is_helper(stage) and not (found and _is_equal(found[-1], stage)):
                found.append(stage)
        return tuple(found)

    def with_constants(self, arrays: Mapping[int, Array]) -> "Pipeline":
        """Return the pipeline with tensors for the metadata of its stages, by their numbers in the first form's text.

        What the source itself has stays. TVM numbers tensors by where they first appear, so that a stage that refers to
        other numbers than the first form does is given none.
        """
        first = next((constants_in(stage.text or "") for stage in self.forms()), ())
        keys = {number: f"given-{number}" for number in arrays}
        named = {**self.arrays, **{keys[number]: array for number, array in arrays.items()}}

        def filled(stage: RecordedStage) -> RecordedStage:
            numbers = constants_in(stage.text or "")
            if numbers != first:
                return stage
            entries = [*stage.constants, *[ConstantEntry("")] * (max(numbers, default=-1) + 1 - len(stage.constants))]
            for number in numbers:
                if number in arrays and not entries[number].key:
                    array = arrays[number]
                    entries[number] = ConstantEntry(keys[number], array.shape, array.dtype.name)
            return replace(stage, constants=tuple(entries))

        stages = tuple(map(filled, self.stages))
        return Pipeline(replace(self._recording, stages=stages, arrays=MappingProxyType(named)))

    def constants(self, stage: RecordedStage) -> tuple[Array | None, ...]:
        """Return the tensors of a stage's metadata by their numbers; `None` for one that is not at hand."""
        return tuple(self.arrays.get(entry.key) if entry.key else None for entry in stage.constants)

    def missing_constants(self) -> tuple[MissingConstant, ...]:
        """Return the tensors that are not at hand, by the first form of the program that needs each."""
        found: dict[str, MissingConstant] = {}
        for stage in self.forms():
            for missing in self.missing_in(stage):
                found.setdefault(missing.name, missing)
        return tuple(found.values())

    def missing_in(self, stage: RecordedStage) -> tuple[MissingConstant, ...]:
        """Return the tensors of one stage that are not at hand."""
        at_hand = self.constants(stage)
        found: list[MissingConstant] = []
        for number, (name, line, use) in sorted(constant_uses(stage.text or "").items()):
            if number < len(at_hand) and at_hand[number] is not None:
                continue
            type_ = stage.constants[number].type if number < len(stage.constants) else ""
            found.append(MissingConstant(stage.number, name, type_, line, use))
        return tuple(found)

    def parsed(self, stage: RecordedStage) -> Parsed:
        """Read the text of a stage; its errors are among the diagnostics.

        Raises:
            CompileError: PL009, the stage has no text.
        """
        if stage.text is None:
            why = stage.error or "its text was not kept"
            raise CompileError((Diagnostic("PL009", f"there is no module behind {stage.pass_name}: {why}"),))
        key = stage.text, stage.constants
        if key not in self._parsed:
            self._parsed[key] = parse_text(stage.text, stage.name, self.constants(stage))
        return self._parsed[key]

    def module(self, number: int) -> IRModule:
        """Return the module of the stage with a number.

        Raises:
            CompileError: there is no such stage, or its text has errors.
        """
        parsed = self.parsed(self.stage(number))
        errors = tuple(item for item in parsed.diagnostics if item.severity == "error")
        if errors or not parsed.modules:
            raise CompileError(errors or parsed.diagnostics)
        return parsed.modules[0]

    def is_read(self, number: int) -> bool:
        """Tell whether the text of the stage with a number was parsed."""
        stage = self.stage(number)
        return (stage.text, stage.constants) in self._parsed

    def excerpt(self, number: int, text: str) -> IRModule:
        """Return the module of a part of the text of the stage with a number.

        Raises:
            CompileError: it has errors.
        """
        stage = self.stage(number)
        parsed = parse_text(text, stage.name, self.constants(stage))
        errors = tuple(item for item in parsed.diagnostics if item.severity == "error")
        if errors or not parsed.modules:
            raise CompileError(errors or parsed.diagnostics)
        return parsed.modules[0]

    def life(self, stage: int, where: int | str) -> NodeLife:
        """Follow what begins in a line of the stage with a number, or has a name there, through all forms.

        TVM tells no origins: forms in a row are matched by names, structure and position, and each link says how sure
        it is and why. A name within a function is `function.name`.

        Raises:
            CompileError: there is no such stage or line, or nothing of that name.
        """
        position = self._position_of[self.stage(stage).number]
        line, name = (0, where) if isinstance(where, str) else (where, "")
        return lives.life_of(self.chain(), position, line, name)

    def origins(self, stage: int, line: int = 0) -> Origins:
        """Say which lines of the stage with a number every line of every form is linked to; see `life`.

        Raises:
            CompileError: there is no such stage or line.
        """
        return line_origins.origins_of(self.chain(), self._position_of[self.stage(stage).number], line)

    def chain(self, poll: Poll = unheard) -> "lives.Chain":
        """Return the forms of the program matched with each other, which is done once."""
        if self._chain is None:
            self._chain = lives.Chain(self, poll)
        return self._chain

    def to_text(self) -> str:
        """Print a line per stage: number, nesting, pass, what it holds and whether it changed anything."""
        forms = frozenset(stage.number for stage in self.forms())
        rows = [_row(self, stage, is_form=stage.number in forms) for stage in self.stages]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
        lines = ["  ".join((*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3])).rstrip() for row in rows]
        lines.append(f"{plural(len(self.stages), 'stage')}, {plural(len(forms), 'different form')} of the program")
        return "\n".join(lines)


def _is_equal(one: RecordedStage, other: RecordedStage) -> bool:
    return one.text == other.text and (one.text is not None or one.digest == other.digest) and (
        [item.key for item in one.constants] == [item.key for item in other.constants]
    )  # fmt: skip


def _row(pipeline: Pipeline, stage: RecordedStage, *, is_form: bool) -> tuple[str, str, str, str]:
    name = f"{'  ' * (stage.depth or 0)}{stage.pass_name}"
    kind = pipeline.kind(stage)
    if pipeline.is_helper(stage):
        what = stage.error or ("a helper's module" if kind != "no text" else "no text")
    else:
        what = f"changed, {len((stage.text or '').splitlines())} lines" if is_form else "unchanged"
    time = f"{stage.seconds * 1000:.1f} ms" if stage.seconds >= 0 else ""
    return f"{stage.number:>4}", name, time, what if kind in ("module", "no text") else f"{what} ({kind})"


def numbered(stages: Iterable[RecordedStage]) -> tuple[RecordedStage, ...]:
    """Return stages numbered by their positions."""
    return tuple(replace(stage, number=at) for at, stage in enumerate(stages))


def array_type(array: Array) -> str:
    """Return shape and dtype of an array: `(2, 3) float32`."""
    return ConstantEntry("", tuple(map(int, np.shape(array))), array.dtype.name).type
