"""Compare a pass with that of apache-tvm on one text, and what a module computes before and behind it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.expr import Call, Function, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.prim import PrimExpr, PrimVar, const
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.rewriting.substitute import replace_symbols
from relax_core.passes.core import Stage
from relax_core.pattern.partition.tables import NO_TABLES
from tests.apache_tvm import from_source
from tests.narrow import is_list, is_tuple

SIZES: Mapping[str, int] = {"n": 3, "m": 5, "k": 2}
"""What symbolic dimensions are in a run, by name."""


def in_tvm(text: str, *, is_checked: bool = True) -> Any:
    """Read the functions of a text as apache-tvm does."""
    return from_source(f"@I.ir_module\nclass Module:\n{text}", check_well_formed=is_checked)


def agrees(text: str, theirs: Any, ours: str) -> Stage:
    """Run a pass of both on a text, check that they give the same module, and return our stage."""
    module = in_tvm(text)
    stage = passed(rc.parse(module.script()), ours)
    assert first_difference(stage.after, rc.parse(theirs(module).script())) is None
    return stage


def passed(module: IRModule, passes: str, tables: rc.Tables = NO_TABLES) -> Stage:
    """Run passes, of which the last one's stage is returned: its module is sound, and its calls have places."""
    stages = rc.run_pipeline(module, passes, tables=tables)
    assert [str(item) for item in stages[-1].diagnostics] == []
    assert [str(item) for item in rc.check(stages[-1].after) if item.severity == "error"] == []
    log = RewriteLog.merged(stage.log for stage in stages)
    for name, function in stages[-1].after.relax_functions:
        lost = [item for item in preorder(function) if isinstance(item, Call) and log.locate(item) is None]
        assert lost == [], name.name
    return stages[-1]


def remarks(stage: Stage, kind: str) -> list[str]:
    """Return what a pass said of one kind, in order."""
    return [item.message for item in stage.remarks if item.kind == kind]


def same_values(before: IRModule, after: IRModule, entry: str = "main", rtol: float = 1e-6) -> None:
    """Run a function before and behind a pass, and compare the results."""
    function = before[entry]
    assert isinstance(function, Function)
    inputs = tuple(input_of(param.annotation, seed) for seed, param in enumerate(function.params))
    results = [
        flat(rc.VirtualMachine(rc.build(item), on_output=lambda _: None)[entry](*inputs)) for item in (before, after)
    ]
    assert len(results[0]) == len(results[1])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol)


def input_of(type_: Type | None, seed: int) -> Any:
    """Make a value of a type: small numbers, the same for the same seed."""
    match type_:
        case TensorType(shape=tuple() as dims, dtype=dtype):
            shape = tuple(map(_size, dims))
            numbers = np.random.default_rng(seed).uniform(-1, 1, shape)
            return np.asarray(numbers > 0 if dtype == "bool" else numbers).astype(dtype)
        case ShapeType(values=tuple() as dims):
            return tuple(map(_size, dims))
        case PrimType(dtype="int64"):
            return 4
        case TupleType(fields=fields):
            return tuple(input_of(item, seed + number) for number, item in enumerate(fields))
        case _:
            raise AssertionError(f"no input of type {type_}")


def _size(dim: PrimExpr) -> int:
    sizes = {item: const(SIZES[item.name]) for item in preorder(dim) if isinstance(item, PrimVar)}
    value = constant_value(replace_symbols(dim, sizes))
    assert isinstance(value, int)
    return value


def flat(value: Any) -> list[Any]:
    """Return the tensors of a value, those of tuples in it one by one."""
    if is_tuple(value) or is_list(value):
        return [part for item in value for part in flat(item)]
    return [value]
