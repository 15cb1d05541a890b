"""Whatever integer stands in an attribute, a call is refused or has a type that can be: by the tables of operators."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.check.attribute_limits import LIMITS
from relax_core.check.prim.prims import attribute_errors
from relax_core.check.relay.calls import attributes_outside, places_outside
from relax_core.check.rules.impossible import impossible_types
from relax_core.ir.expr import Type, Var, constant
from relax_core.ops import OPS
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.spec import OpTypeError
from tests.narrow import as_tuple, is_tuple
from tests.ops.cases import CASES, Builder
from tests.ops.cases import Case as RelaxCase
from tests.ops.cases_more import MORE
from tests.ops.relay.cases import CASES as RELAY_CASES
from tests.ops.relay.cases import Case as RelayCase
from tests.ops.relay.test_relay_operators import type_of

INSIDE = (0, -1, -5, -70, 65, 1 << 31, 1 << 62)
OUTSIDE = (1 << 63, -(1 << 63) - 1, 1 << 70)


def hostile(value: Any, numbers: tuple[int, ...]) -> Iterator[Any]:
    """Yield `value` with each integer in it replaced by each of `numbers`."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield from numbers
    elif is_tuple(value):
        for place, item in enumerate(value):
            for other in hostile(item, numbers):
                yield (*value[:place], other, *value[place + 1 :])


def checked(type_: Type) -> Type | None:
    """Return a type that can be, `None` for one that is reported."""
    return None if list(impossible_types({Var("x"): type_})) else type_


def relay_type(case: RelayCase, attrs: dict[str, Any]) -> Type | None:
    """Return the type of a call as the checks give it, `None` if they refuse it."""
    exprs = tuple(constant(np.asarray(arg)) for arg in case.args if not isinstance(arg, tuple))
    call = RelayCall(case.op, tuple(map(type_of, case.args)), attrs, exprs)
    if next(attributes_outside(call), None) is not None:
        return None
    relation = RELAY_OPS[case.op].relation
    assert relation is not None
    try:
        found = relation(call)
    except OpTypeError:
        return None
    return None if next(places_outside(call), None) is not None else checked(found)


def relax_type(case: RelaxCase) -> Type | None:
    built = Builder(case, is_variable_fill=True)
    if next(iter(attribute_errors(case.spec, built.types)), None) is not None:
        return None
    try:
        return checked(case.spec.infer(built.call, built.types))
    except OpTypeError:
        return None


def rank_of(case: RelayCase | RelaxCase) -> int | None:
    """Return the rank of the first argument if it is a tensor."""
    first = case.args[0] if case.args else None
    return first.ndim if isinstance(first, np.ndarray) else None


RELAY = [case for case in RELAY_CASES if RELAY_OPS[case.op].relation is not None]


@pytest.mark.parametrize("case", RELAY, ids=str)
def test_an_attribute_of_relay_is_refused_or_means_something(case: RelayCase) -> None:
    attrs = dict(RELAY_OPS[case.op].with_defaults(case.attrs))
    rank = rank_of(case)
    for name, value in attrs.items():
        for other in hostile(value, OUTSIDE):
            assert relay_type(case, {**attrs, name: other}) is None, (name, other)
        for other in hostile(value, INSIDE):
            found = relay_type(case, {**attrs, name: other})
            limit = None if case.op == "strided_slice" else LIMITS.get(name)
            numbers = as_tuple(other)
            if limit is not None and any(isinstance(item, int) and not limit.holds(item) for item in numbers):
                assert found is None, (name, other)
            if name == "axis" and rank is not None and any(abs(item) > rank + 1 for item in numbers):
                assert found is None, (name, other)


@pytest.mark.parametrize("op", sorted({case.op for case in (*CASES, *MORE)}))
def test_an_attribute_of_relax_is_refused_or_means_something(op: str) -> None:
    spec = OPS[f"relax.{op}"]
    for case in [item for item in (*CASES, *MORE) if item.op == op][:3]:
        rank = rank_of(case)
        for place, (param, value) in enumerate(zip(spec.params, case.args, strict=True)):
            if param.kind not in ("prim", "axes", "ints", "shape", "expr") or "float" in str(param.dtype):
                continue
            for other in hostile(value, INSIDE):
                found = relax_type(replace(case, args=(*case.args[:place], other, *case.args[place + 1 :])))
                numbers = as_tuple(other)
                if (
                    param.name in ("axis", "axes")
                    and rank is not None
                    and any(abs(item) > rank + 1 for item in numbers)
                ):
                    assert found is None, (param.name, other)


RELAY_IMAGE = "%x: Tensor[(1, 4, 6, 6), float32], %i: Tensor[(2), int64]"
REFUSED = (
    "nn.space_to_depth(%x, block_size=0)",
    "nn.space_to_depth(%x, block_size=-2)",
    "nn.space_to_depth(%x, block_size=5)",
    "nn.depth_to_space(%x, block_size=4)",
    "expand_dims(%x, axis=0, num_newaxis=-70)",
    "expand_dims(%x, axis=0, num_newaxis=2147483647)",
    "expand_dims(%x, axis=0, num_newaxis=9223372036854775808)",
    "memory.alloc_storage(-5, 64)",
    "nn.softmax(%x, axis=4)",
    "nn.bias_add(%x, %i, axis=-70)",
    "sort(%x, axis=9223372036854775807)",
    "take(%x, %i, axis=0, batch_dims=65)",
    "nn.max_pool2d(%x, pool_size=[0, 2])",
    "nn.conv2d(%x, %x, groups=0)",
    "nn.conv2d(%x, %x, strides=[0, 0])",
    "nn.conv2d(%x, %x, dilation=[-1, 1])",
)


@pytest.mark.parametrize("expression", REFUSED)
def test_check_refuses_an_attribute_that_means_nothing(expression: str) -> None:
    try:
        found = rc.check(rc.parse(f'#[version = "0.0.5"]\ndef @main({RELAY_IMAGE}) {{ {expression} }}\n', "m.relay"))
    except rc.CompileError as error:
        found = error.diagnostics
    assert [item.severity for item in found if item.severity == "error"] == ["error"]
