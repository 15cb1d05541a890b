"""The screen of a step: the program that it is about, and the address of the page, whose names the engine resolves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.programs.program import Program, with_rules_stage
from relax_core.engine.protocol import Failure, PropertiesOf
from relax_core.engine.replies import PropertyList
from relax_core.engine.samples import SAMPLES, list_recordings, list_tables
from relax_core.jit.options import DEFAULT_OPTIONS, MODES
from relax_core.lessons.model import Shown

Ask: TypeAlias = Callable[[PropertiesOf], PropertyList | Failure]
"""Asks the engine for properties."""

_ADDRESS: Final[Mapping[str, str]] = MappingProxyType({"rules": "rule_text"})
"""Keys of a block `show` that an address calls otherwise."""
_NAMED: Final = ("stage", "time", "node", "inside")


@dataclass(frozen=True, slots=True)
class Held:
    """How far the page of a step may be followed while its prediction waits for an answer.

    A pipeline, a recorded one too, goes on to a stage, a run to a time, and inside a kernel to a statement. Pages that
    show one result, Devices and Kernels, have the program alone.
    """

    stage: int
    time: int
    clock: int
    tab: str = ""
    """What the step itself shows beside the run."""


def sample_path(folder: Path, program: str) -> str:
    """Return the path, below `samples`, of a program of a lesson: a file of its folder or a sample.

    Raises:
        CompileError: EN032, there is none.
    """
    for path in (folder / program, SAMPLES / program):
        if program and path.is_file():
            resolved = path.resolve()
            return resolved.relative_to(SAMPLES).as_posix() if resolved.is_relative_to(SAMPLES) else str(resolved)
    raise CompileError((Diagnostic("EN032", f"neither the folder of the lesson nor `samples` has `{program}`"),))


def program_of(folder: Path, shown: Shown) -> Program:
    """Return the program of a screen.

    Raises:
        CompileError: EN032, there is no such program, table or size.
    """
    path = sample_path(folder, shown.program)
    tables = dict(list_tables())
    if shown.table and shown.table not in tables:
        raise CompileError((Diagnostic("EN032", f"there is no table `{shown.table}`", hint=", ".join(tables)),))
    text = (SAMPLES / path).read_text(encoding="utf-8")
    pipeline = shown.pipeline or None
    return Program(
        text,
        Path(path).name,
        pipeline=with_rules_stage(pipeline) if shown.rules and pipeline else pipeline,
        entry=shown.entry,
        seed=shown.seed,
        sizes=_sizes(shown.dims),
        as_in="reported" if shown.as_in == "reported" else "fixed",
        tables=tables.get(shown.table, ""),
        rules=shown.rules,
        mode=MODES[MODES.index(shown.mode)] if shown.mode in MODES else DEFAULT_OPTIONS.mode,
        finds_uninitialised=bool(shown.unwritten),
        poisons_memory=bool(shown.poisoned),
        is_signed=bool(shown.signed),
    )


def _sizes(dims: str) -> tuple[tuple[str, int], ...]:
    pairs = [item.partition("=") for item in dims.split(",") if item.strip()]
    if any(not size.strip().isdecimal() for _, _, size in pairs):
        raise CompileError((Diagnostic("EN032", f"sizes are written as n=4,m=8, not `{dims}`"),))
    return tuple((name.strip(), int(size)) for name, _, size in pairs)


def names_of(shown: Shown, look: str = "") -> dict[str, str]:
    """Return the properties that the names of a screen stand for; `look` is a further place to look at."""
    at = f" after {shown.stage}" if isinstance(shown.stage, str) else ""
    asked: dict[str, str] = {}
    if isinstance(shown.stage, str):
        asked["stage"] = f"stage of {shown.stage}"
    if isinstance(shown.time, str):
        asked["time"] = f"time of {shown.time}"
    if isinstance(shown.inside, str):
        asked["inside"] = f"call of {shown.inside}"
    if place := look or shown.node:
        asked["node"] = place if "/" in place else f"node of {place}{at}"
    return asked


def address_of(folder: Path, shown: Shown, resolved: Mapping[str, str]) -> dict[str, str | int]:
    """Return the fields of the app's address for a screen; `resolved` are the values of `names_of`.

    Raises:
        CompileError: EN032, there is no such recording.
    """
    if shown.recording and shown.recording not in {item.path for item in list_recordings()}:
        raise CompileError((Diagnostic("EN032", f"`samples` has no recorded pipeline `{shown.recording}`"),))
    address: dict[str, str | int] = {"sample": sample_path(folder, shown.program)}
    default = msgspec.structs.asdict(Shown())
    for name, value in msgspec.structs.asdict(shown).items():
        if name in ("page", "program", *_NAMED) or value == default[name]:
            continue
        address[_ADDRESS.get(name, name)] = value
    for name in _NAMED:
        value = resolved.get(name, getattr(shown, name))
        if value not in ("", -1):
            address[name] = str(value) if name == "node" else int(value)
    return address


def held_at(ask: Ask, folder: Path, shown: Shown) -> Held:
    """Return where a screen stops.

    Raises:
        CompileError: the screen names a program, variable or pass that does not exist.
    """
    address = resolved_address(ask, folder, shown)
    stage = address.get("recorded_stage" if shown.page == "pipeline" else "stage", 0)
    time = address.get("inside", address.get("time", 0))
    return Held(int(stage), int(time), int(address.get("clock", 0)), shown.tab)


def values_of(ask: Ask, message: PropertiesOf) -> tuple[str, ...]:
    """Return the values of properties.

    Raises:
        CompileError: EN033, one has none, or the engine failed.
    """
    reply = ask(message)
    if isinstance(reply, Failure):
        raise CompileError((Diagnostic("EN033", f"{reply.title}: {reply.message}"),))
    for text, value in zip(message.properties, reply.values, strict=True):
        if value.problem:
            raise CompileError((Diagnostic("EN033", f"`{text}` has no value: {value.problem}"),))
    return tuple(value.text for value in reply.values)


def resolved_address(ask: Ask, folder: Path, shown: Shown, look: str = "") -> dict[str, str | int]:
    """Return the address of a screen, whose names the engine resolves.

    Raises:
        CompileError: the screen names a program, variable or pass that does not exist.
    """
    names = names_of(shown, look)
    asked = {name: text for name, text in names.items() if "/" not in text}
    values = values_of(ask, PropertiesOf(program_of(folder, shown), tuple(asked.values()))) if asked else ()
    return address_of(folder, shown, {**names, **dict(zip(asked, values, strict=True))})
