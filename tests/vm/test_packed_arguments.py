"""Any arguments of the schema's types are computed or refused, and the result is of the inferred type."""

import contextlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.bytecode.build import build
from relax_core.check.unify import contradiction
from relax_core.diagnostics import RunError
from relax_core.frontend.parse import parse_text
from relax_core.ops.packed.registry import PACKED
from relax_core.ops.packed.schema import SchemaType
from relax_core.vm.external.operators import type_of_value
from relax_core.vm.external.packed import DEFAULT_PACKED
from relax_core.vm.external.packed_arguments import by_schema, known_facts
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import DTypeValue, Value
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.packed_library.table import LIBRARY
from relax_core.vm.runtime_library import kv_cache, paged_cache, rnn_state
from relax_core.vm.runtime_library.table import FUNCTIONS, STATEFUL

NOTHING = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1,), "float32")):
        return x
"""
SHAPES = ((), (0,), (1,), (3,), (2, 3), (3, 2), (2, 3, 4), (1, 2, 3, 4), (2, 0))
DTYPES = ("float32", "float16", "int32", "int64", "bool", "uint8")


def _tensor(shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
    return (np.arange(math.prod(shape)) - 1).reshape(shape).astype(dtype)


ITEMS: dict[str, st.SearchStrategy[Any]] = {
    "Scalar": st.sampled_from((0, 1, -2, 0.5, True, math.inf)),
    "int": st.integers(-3, 4),
    "float": st.sampled_from((0.5, 1e-5, 2.0)),
    "bool": st.booleans(),
    "str": st.sampled_from(("none", "tanh", "ij->ji", "ab,bc", "")),
    "ScalarType": st.sampled_from(DTYPES).map(DTypeValue),
    "Tensor": st.builds(_tensor, st.sampled_from(SHAPES), st.sampled_from(DTYPES)),
}


def values(type_: SchemaType) -> st.SearchStrategy[Value]:
    item: st.SearchStrategy[Any] = ITEMS[type_.base]
    if type_.is_list:
        count = type_.length if type_.length and type_.length > 1 else None
        item = st.lists(item, min_size=count or 0, max_size=count or 3).map(tuple)
    return st.none() | item if type_.is_optional else item


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NaN and infinity are values here
@pytest.mark.parametrize("name", [name for name in LIBRARY if name != "libtorch_item"])
@settings(max_examples=30)
@given(data=st.data())
def test_arguments_are_computed_or_refused(name: str, data: st.DataObject) -> None:
    spec = PACKED[name]
    args = tuple(data.draw(values(param.type)) for param in spec.params)
    try:
        named = by_schema(spec, args)
        inferred = None if spec.infer is None else spec.infer(known_facts(named))
        result = LIBRARY[name](Given(named))
    except (RunError, ArgumentError):
        return
    if inferred is not None and not spec.writes:
        assert contradiction(type_of_value(result), inferred) is None


def states(machine: Machine) -> tuple[Value, ...]:
    """Return objects of the runtime to choose from, the caches with a batch of two tokens that is open."""
    plain = kv_cache.create(machine, Given({"init_data": ones(2, 3), "reserve_shape": (4, 3), "init_fill_count": -1}))
    sizes: dict[str, Any] = {"cache_config": (2, 32, 8, 4, 0), "layer_indptr": (0, 1), "attn_kinds": (0,)}
    heads = dict(zip(("num_qo_heads", "num_kv_heads", "qk_head_dim", "v_head_dim"), (2, 1, 2, 2), strict=True))
    rotation = {"rope_mode": 1, "rotary_scale": 1.0, "rotary_theta": 1e4, "rope_ext_factors": 0, "f_split_rotary": None}
    rest = {"enable_kv_transfer": False, "init": ones(), **rotation}
    paged = paged_cache.create(machine, Given({**sizes, **heads, **rest}))
    counts = {"num_layers": 1, "reserved_num_seqs": 2, "max_history": 2}
    rnn = rnn_state.create(machine, Given({**counts, "init_layer_value": (ones(3),)}))
    for state, kind in ((paged, paged_cache), (rnn, rnn_state)):
        kind.add_sequence(machine, state, 0)
        kind.begin_forward(machine, state, (0,), (2,), None)
    return plain, paged, rnn


def ones(*shape: int) -> "np.ndarray[Any, Any]":
    return np.ones(shape, np.float32)


def tensors(*shapes: tuple[int, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from([np.ones(shape, dtype) for shape in (*shapes, (2,), ()) for dtype in ("float32", "int32")])


FITTING = tensors((2, 4, 2), (2, 2, 2), (2, 1, 2), (2, 2), (2, 3), (1, 3), (1, 1, 2, 2))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*FUNCTIONS, *STATEFUL])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_function_of_the_runtime_computes_or_refuses(name: str, data: st.DataObject) -> None:
    machine = Machine(build(parse_text(NOTHING, "m.py").modules[0]), record=False)
    others = [None, 1, (), ones(2), (ones(2), ones(2))]
    objects = st.sampled_from([*states(machine) * 3, *others])
    known = {"any": objects | st.tuples(objects), "Tensor": FITTING, "int": st.integers(-1, 3)}

    def drawn(type_: SchemaType) -> st.SearchStrategy[Any]:
        item: st.SearchStrategy[Any] = known.get(type_.base, ITEMS[type_.base] if type_.base in ITEMS else st.none())
        return st.lists(item, max_size=6).map(tuple) if type_.is_list else item

    args = tuple(data.draw(drawn(param.type)) for param in PACKED[name].params)
    packed = DEFAULT_PACKED[name]
    with contextlib.suppress(RunError, ArgumentError):
        found = Given(by_schema(PACKED[name], args))
        packed.function(*((machine, found) if packed.takes_context else (found,)))
