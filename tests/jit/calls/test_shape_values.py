"""Dimensions that are expressions, for arguments for which these have no value."""

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.jit.engine import Engine
from tests.jit.programs import parsed


@pytest.mark.parametrize("dim", ["n // (n - 3)", "n % (n - 3)", "T.shift_left(n, n * 100)"])
def test_a_dimension_without_a_value_is_told(dim: str) -> None:
    function = parsed(f"""def f(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, ({dim},), "float32")
    B[0] = A[0]
""")
    with pytest.raises(RunError) as caught:
        Engine().kernel(function, "f")(np.zeros(3, "float32"), np.zeros(1, "float32"))
    assert [item.code for item in caught.value.diagnostics] == ["JT005"]
    assert "has no value" in caught.value.diagnostics[0].message


def test_the_arithmetic_of_shapes_does_not_wrap_around() -> None:
    # What VMShapeLower makes of n * 2**62 * 4: its result would be 0.
    function = parsed("""def f(h: T.handle):
    T.func_attr({"tirx.is_host_func": True})
    H = T.match_buffer(h, (4,), "int64")
    H[1] = H[0] * T.int64(4611686018427387904) * H[2]
    H[3] = T.Cast("int64", T.Cast("uint64", H[0]))
""")
    slots = np.array([2, 7, 2, 0], "int64")
    with pytest.raises(RunError) as caught:
        Engine().kernel(function, "f")(slots)
    assert [item.code for item in caught.value.diagnostics] == ["JT021"]
    assert slots[1] == 7
    slots = np.array([-1, 7, 2, 0], "int64")
    Engine().kernel(function, "f")(slots)
    assert slots.tolist() == [-1, -(1 << 63), 2, -1]
