"""Random programs with closures, scalars, symbols and effects give what was computed beside their making."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.build import build
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from relax_core.passes.pipeline import DEFAULT_PIPELINE, run_pipeline
from relax_core.printer.tvmscript import print_module
from relax_core.vm.external.packed import Registry
from relax_core.vm.virtual_machine import VirtualMachine, entry_arguments
from tests.narrow import is_array, is_dict, is_list, is_tuple
from tests.vm.programs import HEAD
from tests.vm.tiers import differences

PROGRAMS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    tomllib.loads(Path(__file__).with_name("generated.toml").read_text(encoding="utf-8"))
)
KERNELS = """
    @T.prim_func(private=True, s_tir=True)
    def k_add(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.sblock("add"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + B[v] * T.float32(2)

    @T.prim_func(private=True, s_tir=True)
    def k_shift(a: T.handle, c: T.handle, s: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n,), "int64")
        C = T.match_buffer(c, (n,), "int64")
        for i in range(n):
            with T.sblock("shift"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] + s
"""
PIPELINES = (None, "")


def registry() -> Registry:
    """What the programs call by name."""

    def sub_out(a: Any, b: Any, out: Any) -> None:
        out[...] = a - b

    def bump(a: Any) -> None:
        a += np.float32(1)

    def add(a: Any, b: Any) -> Any:
        return np.asarray(a + b)

    def same(a: Any) -> Any:
        return a

    def apply(function: Any, x: Any) -> Any:
        return function(x)

    made = Registry()
    made.register("my.add", add, is_pure=True)
    made.register("my.same", same, is_pure=True)
    made.register("my.sub_out", sub_out, writes=(2,))
    made.register("my.bump", bump, writes=(0,))
    made.register("my.apply", apply, writes=())
    return made


def module_of(name: str) -> IRModule:
    text = f"{HEAD}@I.ir_module\nclass Module:{KERNELS}{PROGRAMS[name]['text']}"
    return parse_text(text, f"{name}.py").modules[0]


def given(name: str) -> tuple[Any, ...]:
    return tuple(map(decoded, json.loads(PROGRAMS[name]["given"])))


def decoded(value: Any) -> Any:
    if is_dict(value):
        return np.array(value["data"], value["dtype"]).reshape(value["shape"])
    return tuple(map(decoded, value)) if is_list(value) else value


def encoded(value: Any) -> Any:
    if is_array(value):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "data": value.reshape(-1).tolist()}
    if is_tuple(value):
        return list(map(encoded, value))
    return "closure" if callable(value) else value


@pytest.mark.parametrize("passes", PIPELINES, ids=["default", "none"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_and_prints_what_is_expected(name: str, passes: str | None) -> None:
    lines: list[str] = []
    executable = build(module_of(name), passes=passes)
    found = VirtualMachine(executable, registry=registry(), on_output=lines.append)["main"](*given(name))
    assert encoded(found) == json.loads(PROGRAMS[name]["returns"])
    assert "\n".join(lines) == PROGRAMS[name]["prints"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_tiers_do_the_same(name: str) -> None:
    executable = build(module_of(name))
    assert not differences(
        executable, "main", lambda: entry_arguments(executable, "main", given(name)), registry=registry()
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_printed_of_every_stage_is_read_as_the_same_module(name: str) -> None:
    module = module_of(name)
    for stage in (module, *(item.after for item in run_pipeline(module, DEFAULT_PIPELINE) if item.is_changed)):
        printed = print_module(stage).text
        again = parse_text(printed, "printed.py")
        assert first_difference(stage, again.modules[0], strict=True) is None, printed
