"""Any arguments of the schema's types are computed or refused, and the result is of the inferred type."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.check.unify import contradiction
from relax_core.diagnostics import RunError
from relax_core.ops.packed.registry import PACKED
from relax_core.ops.packed.schema import SchemaType
from relax_core.vm.external.operators import type_of_value
from relax_core.vm.external.packed_arguments import by_schema, known_facts
from relax_core.vm.objects.values import DTypeValue, Value
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.packed_library.table import LIBRARY

SHAPES = ((), (0,), (1,), (3,), (2, 3), (3, 2), (2, 3, 4), (1, 2, 3, 4), (2, 0))
DTYPES = ("float32", "float16", "int32", "int64", "bool", "uint8")
ITEMS: dict[str, st.SearchStrategy[Any]] = {
    "Scalar": st.sampled_from((0, 1, -2, 0.5, True, math.inf)),
    "int": st.integers(-3, 4),
    "float": st.sampled_from((0.5, 1e-5, 2.0)),
    "bool": st.booleans(),
    "str": st.sampled_from(("none", "tanh", "ij->ji", "ab,bc", "")),
    "ScalarType": st.sampled_from(DTYPES).map(DTypeValue),
    "Tensor": st.builds(
        lambda shape, dtype: (np.arange(math.prod(shape)) - 1).reshape(shape).astype(dtype),
        st.sampled_from(SHAPES),
        st.sampled_from(DTYPES),
    ),
}


def values(type_: SchemaType) -> st.SearchStrategy[Value]:
    item: st.SearchStrategy[Any] = ITEMS[type_.base]
    if type_.is_list:
        count = type_.length if type_.length and type_.length > 1 else None
        item = st.lists(item, min_size=count or 0, max_size=count or 3).map(tuple)
    return st.none() | item if type_.is_optional else item


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NaN and infinity are values here
@pytest.mark.parametrize("name", [name for name in PACKED if name != "libtorch_item"])
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
