"""The value from which everything on a screen is computed."""

import re
from typing import Final, Literal

import msgspec

from relax_core.jit.options import Mode

_RULES_PASS: Final = "ApplyRules"
_NAMES_IT: Final = re.compile(rf"(?<![\w.]){_RULES_PASS}(?!\w)")
_BEFORE_RULES: Final = re.compile(r"\s*((RelayToRelax|Normalize)\s*(,\s*|$))*")


class ChangeAt(msgspec.Struct, frozen=True):
    """A change to the stopped program: `x[0, 1] = 0.5`, `skip`, `skip: ones()`, `replace f by g`.

    See `relax_core.vm.changes.interventions`.
    """

    time: int
    text: str
    depth: int = -1
    """Of the frame, 0 being the oldest; -1: the one that runs."""
    is_in_place: bool = False
    """Whatever shares memory with the tensor sees it."""
    content: bytes = b""
    """The .npy file that `file()` stands for."""


class StandInFor(msgspec.Struct, frozen=True):
    """A packed function that something stands in for: zeros of its declared type, recorded results, or Python."""

    name: str
    how: Literal["zeros", "recorded", "python"] = "zeros"


class Program(msgspec.Struct, frozen=True):
    """All that a screen is made from: text, module, pipeline, entry and inputs.

    Node ids and event numbers are reproduced from these values alone.
    """

    text: str
    name: str = "module.py"
    """File name, for messages."""
    module: str = ""
    """Which module of the text; empty: the first one."""
    pipeline: str | None = None
    """Such as `LambdaLift, FuseOps(max_depth=4)`; None is the default pipeline."""
    entry: str = ""
    """Function that runs; empty: `main`, or else the first one that can be entered."""
    seed: int = 0
    """Of the generated inputs."""
    sizes: tuple[tuple[str, int], ...] = ()
    """Sizes of symbolic dimensions by name; the others are chosen small."""
    as_in: Literal["fixed", "reported"] = "fixed"
    tables: str = ""
    """The text of a table file (`rc.read_tables`): patterns of composites and what targets support."""
    rules: str = ""
    """Rewrite rules, which the pass ApplyRules applies: docs/rules.md has their grammar."""
    mode: Mode = "exact"
    """How kernels round."""
    finds_uninitialised: bool = False
    """The run stops where an element is read to which nothing was written."""
    poisons_memory: bool = False
    """Every new tensor in a storage is filled with bytes 0xFF, whatever lay there."""
    inputs: bytes | None = None
    """An npz archive of the inputs (`in_0`, `in_1_0`, ...); None: they are generated. Empty bytes are no archive."""
    constants: bytes = b""
    """An npz archive of the tensors that the text refers to as `metadata["ir.GenericConst"][0]`, by number: `0`, ..."""
    changes: tuple[ChangeAt, ...] = ()
    """What the host changes while it runs, in order of time; the run is forked at each."""
    stand_ins: tuple[StandInFor, ...] = ()
    """What answers for packed functions."""
    recorded: bytes = b""
    """A trace of a run with the results of the functions for which recorded results stand in."""
    run_file: bytes = b""
    """A trace with a recorded run of this very program, which is shown in place of a run."""
    verify: bool = False
    """What every pass leaves is checked, and the pipeline ends where it is ill-formed."""
    pass_count: int | None = None
    """How many passes of the pipeline run, from its beginning; None: all of them."""
    is_signed: bool = False
    """Generated floats are from -1 to 1 where no operator, such as a logarithm, wants them positive; else from 0 on."""


class Against(msgspec.Struct, frozen=True):
    """What a tensor of a run is compared with."""

    what: Literal["nothing", "time", "run", "numpy", "array"] = "nothing"
    """`numpy`: the operators of its binding by their definitions."""
    time: int = -1
    program: Program | None = None
    """Of `run`: the other run is looked at where it has come as far."""
    content: bytes = b""
    """Of `array`: a .npy file."""
    name: str = ""
    """What it is called; a time needs no name."""
    problem: str = ""
    """Of `array`: why there is none."""


NOTHING: Final = Against()


def with_rules_stage(pipeline: str) -> str:
    """Return a pipeline that applies the rules of the program: as it is, or with that pass as early as it can stand."""
    if _NAMES_IT.search(pipeline):
        return pipeline
    found = _BEFORE_RULES.match(pipeline)
    end = found.end() if found is not None else 0
    before, behind = pipeline[:end].strip().rstrip(",").strip(), pipeline[end:].strip()
    return ", ".join(part for part in (before, _RULES_PASS, behind) if part)
