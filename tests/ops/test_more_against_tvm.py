"""Types and values of the further operators agree with the pinned apache-tvm; where not, a table says why."""

import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from relax_core.ir.expr import PrimType, TupleType, Type
from tests.apache_tvm import relax
from tests.ops.cases import Builder, Case
from tests.ops.cases_evaluated import EVALUATED
from tests.ops.cases_more import MORE
from tests.ops.disagreements import NOT_GIVEN, TYPES, VALUES, reason
from tests.ops.test_against_tvm import described, described_tvm
from tests.ops.test_more_operators import TOLERANCE, values_of
from tests.ops.tvm_calls import TvmCall, build, run, type_of

pytestmark = pytest.mark.tvm

GIVEN = tuple(case for case in (*MORE, *EVALUATED) if reason(NOT_GIVEN, case) is None)
RUN = tuple(case for case in GIVEN if reason(VALUES, case) is None and reason(TYPES, case) is None)
# It runs these on a device or among several processes only, or under a name of its own.
_NOT_RUN = ("ccl.", "dist.", "grad.start", "grad.end", "grad.no", "builtin.")
# One case of each; a device mesh, which the others need, cannot be written as a value.
UNSAFE = tuple(
    {
        key: case
        for case in reversed((*MORE, *EVALUATED))
        for key in (str(case), case.op)
        if key in NOT_GIVEN and not key.startswith("dist.")
    }.values()
)
REPOSITORY = Path(__file__).resolve().parent.parent.parent
CASES_OF: Mapping[str, tuple[Case, ...]] = MappingProxyType(
    {
        op: tuple(case for case in RUN if case.op == op)
        for op in dict.fromkeys(case.op for case in RUN)
        if not op.startswith(_NOT_RUN)
    }
)


def ours(case: Case, *, is_symbolic: bool) -> list[Any]:
    built = Builder(case, is_symbolic=is_symbolic)
    found = case.spec.infer(built.call, built.types)
    return [_described(item) for item in (found.fields if isinstance(found, TupleType) else (found,))]


def _described(type_: Type) -> Any:
    return ("prim", type_.dtype) if isinstance(type_, PrimType) else described(type_)


def theirs(case: Case, *, is_symbolic: bool) -> list[Any]:
    found: Any = type_of(TvmCall(case, is_symbolic=is_symbolic))
    items: Any = getattr(found, "fields", (found,))
    return [_described_tvm(item) for item in items]


def _described_tvm(type_: Any) -> Any:
    if isinstance(type_, relax.TensorType | relax.ShapeType):
        return described_tvm(type_)
    return "prim", str(type_.dtype)


@pytest.mark.parametrize("is_symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", [case for case in GIVEN if reason(TYPES, case) is None], ids=str)
def test_the_type_is_that_of_tvm(case: Case, *, is_symbolic: bool) -> None:
    assert ours(case, is_symbolic=is_symbolic) == theirs(case, is_symbolic=is_symbolic)


@pytest.mark.parametrize("op", CASES_OF)
def test_the_values_are_those_of_tvm(op: str) -> None:
    calls = [TvmCall(case, is_symbolic=False) for case in CASES_OF[op]]
    machine = build(calls)
    for number, (case, call) in enumerate(zip(CASES_OF[op], calls, strict=True)):
        for result, expected in zip(run(machine, number, call), values_of(case), strict=True):
            tolerance = max(TOLERANCE.get(str(np.asarray(expected).dtype), 0), 1e-5)
            np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance, err_msg=str(case))


def test_every_disagreement_is_about_a_case() -> None:
    names = {str(case) for case in (*MORE, *EVALUATED)} | {case.op for case in (*MORE, *EVALUATED)}
    assert {*NOT_GIVEN, *TYPES, *VALUES} <= names


@pytest.mark.parametrize("case", [case for case in GIVEN if reason(TYPES, case)], ids=str)
def test_a_disagreement_about_types_is_one(case: Case) -> None:
    try:
        found = [theirs(case, is_symbolic=is_symbolic) for is_symbolic in (False, True)]
    # The wheel raises errors of several classes, some of them its own without a common base.
    except Exception as error:
        if is_of_the_wheel(error):
            return
        raise
    assert found != [ours(case, is_symbolic=is_symbolic) for is_symbolic in (False, True)]


DIFFERENT = tuple(case for case in GIVEN if reason(VALUES, case) and reason(TYPES, case) is None)


@pytest.mark.parametrize("case", DIFFERENT, ids=str)
def test_a_disagreement_about_values_is_one(case: Case) -> None:
    call = TvmCall(case, is_symbolic=False)
    try:
        found = run(build([call]), 0, call)
    # The wheel raises errors of several classes, some of them its own without a common base.
    except Exception as error:
        if is_of_the_wheel(error):
            return
        raise
    assert not all(is_same(one, other) for one, other in zip(found, values_of(case), strict=True)), case


def is_same(result: Any, expected: Any) -> bool:
    one, other = np.asarray(result), np.asarray(expected)
    return one.shape == other.shape and one.dtype == other.dtype and np.allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", UNSAFE, ids=str)
def test_what_is_not_given_fails_in_a_process_of_its_own(case: Case) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.ops.alone", str(case)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode != 0, f"it agrees: {ran.stdout}"
    assert "is no case" not in ran.stderr


def is_of_the_wheel(error: Exception) -> bool:
    """Tell whether `error` was raised in apache-tvm, whose C++ frames stand in the traceback too."""
    place = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    return place.suffix == ".cc" or bool({"tvm", "tvm_ffi"} & set(place.parts))
