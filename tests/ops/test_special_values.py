"""At special values, too, an operator means one thing: evaluated, and as a kernel in each mode of the compiler."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.ir.expr import Type, Var
from relax_core.ir.integer.evaluate import evaluate
from relax_core.ir.node import postorder
from relax_core.ir.prim import Binary, Intrinsic, dtype_of
from relax_core.ir.tir import Block
from relax_core.jit.engine import Engine
from relax_core.jit.options import KernelOptions, Mode
from relax_core.ops import OPS
from relax_core.ops.spec import Legalized, OpSpec, OpValueError
from tests.narrow import as_tuple
from tests.ops.bounds import bound_of, excess
from tests.ops.cases import SIZES, Array, Builder, Case
from tests.ops.special_values import (
    DTYPES,
    ON_ELEMENTS,
    Filled,
    fillings,
    is_typed,
    on_elements,
    structured,
)

STRUCTURED: Mapping[str, tuple[Case, ...]] = structured()
Outcome = tuple[Array, ...] | str


@cache
def engine(mode: Mode) -> Engine:
    return Engine(options=KernelOptions(mode=mode, threads=1))


class Kernels:
    """The prim func of a call, for all values of its type."""

    def __init__(self, case: Case) -> None:
        built = Builder(case, is_variable_fill=True)
        self.variables = tuple(built.variables)
        out_type: Type = case.spec.infer(built.call, built.types)
        assert case.spec.legalize is not None
        self.legalized: Legalized | None = case.spec.legalize(built.call, built.types, out_type)

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes whose code differs.

        Without a function "bitwise" is "exact"; so is "fast" without a float that is added to a product or that many
        are added or multiplied to, for these alone are computed in another way.
        """
        assert self.legalized is not None
        nodes = tuple(postorder(self.legalized.prim_func))
        floats = {node.op for node in nodes if isinstance(node, Binary) and "float" in dtype_of(node)}
        is_reduced = any(isinstance(node, Block) and node.init is not None for node in nodes)
        is_fast = bool((floats & {"+", "-"} and "*" in floats) or (floats & {"+", "*"} and is_reduced))
        has_functions = any(isinstance(node, Intrinsic) for node in nodes)
        return ("exact", *(("bitwise",) if has_functions else ()), *(("fast",) if is_fast else ()))

    def run(self, case: Case, mode: Mode) -> Outcome:
        """Return the results, or the code of the diagnostic with which the kernel stops."""
        assert self.legalized is not None
        of = dict(zip(self.variables, Builder(case, is_variable_fill=True).variables.values(), strict=True))
        inputs = [np.array(of[arg], order="C") for arg in self.legalized.args if isinstance(arg, Var)]
        shapes = [tuple(int(evaluate(dim, SIZES)) for dim in out.dims or ()) for out in self.legalized.out]
        results = [np.zeros(s, np.dtype(str(out.dtype))) for s, out in zip(shapes, self.legalized.out, strict=True)]
        scalars = [int(evaluate(item, SIZES)) for item in self.legalized.tir_vars]
        try:
            engine(mode).kernel(self.legalized.prim_func, self.legalized.name)(*inputs, *results, *scalars)
        except RunError as error:
            return error.diagnostics[0].code
        return tuple(results)


def evaluated(case: Case) -> Outcome:
    assert case.spec.evaluate is not None
    try:
        found = case.spec.evaluate(case.args)
    except OpValueError as error:
        return error.code
    return tuple(map(np.asarray, as_tuple(found)))


def differences(filled: Filled, kernels: Kernels, mode: Mode) -> list[str]:
    case = filled.case
    got, want = kernels.run(case, mode), evaluated(case)
    if isinstance(got, str) or isinstance(want, str):
        return [] if got == want else [f"{mode}, {filled.words}: {got} and {want}"]
    found: list[str] = []
    for result, value in zip(got, want, strict=True):
        if (result.shape, result.dtype) != (value.shape, value.dtype):
            found.append(f"{mode}: {result.dtype}{result.shape} and {value.dtype}{value.shape}")
            continue
        wrong = excess(bound_of(case, mode), case, result, value)
        if wrong.any():
            first = tuple(int(k) for k in np.argwhere(wrong)[0])
            found.append(
                f"{case}, {mode}, {filled.words}: {wrong.sum()} differ, at {first} {result[first]} {value[first]}"
            )
    return found


@pytest.mark.parametrize("spec", ON_ELEMENTS, ids=lambda spec: spec.short_name)
def test_operators_on_elements_mean_one_thing(spec: OpSpec) -> None:
    tried, found = 0, list[str]()
    for dtype in DTYPES:
        filled = on_elements(spec, dtype)
        if is_typed(filled.case):
            kernels = Kernels(filled.case)
            tried += 1
            found += [line for mode in kernels.modes for line in differences(filled, kernels, mode)]
    assert tried
    assert not found, "\n".join(found)


@pytest.mark.parametrize("op", STRUCTURED)
def test_other_operators_mean_one_thing(op: str) -> None:
    tried, found = 0, list[str]()
    for case in STRUCTURED[op][:1]:
        for dtype in DTYPES:
            all_filled = tuple(fillings(case, dtype))
            if not is_typed(all_filled[0].case):
                continue
            kernels = Kernels(all_filled[0].case)
            if kernels.legalized is not None:
                tried += 1
                lines = [line for m in kernels.modes for item in all_filled for line in differences(item, kernels, m)]
                found += lines[:3]
    assert tried
    assert not found, "\n".join(found)


def test_every_operator_with_a_kernel_is_tried() -> None:
    """What takes no tensor has no special values."""
    tried = {spec.short_name for spec in ON_ELEMENTS} | {*STRUCTURED}
    of_kernels = (spec for spec in OPS.values() if spec.legalize and spec.evaluate)
    takes_tensors = {spec.short_name for spec in of_kernels if any(p.kind in ("tensor", "tuple") for p in spec.params)}
    assert takes_tensors - tried == set()
