"""What local functions capture besides variables: dimensions, scalars, and what these were computed from."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from relax_core.bytecode.build import build
from relax_core.diagnostics import RunError
from relax_core.vm.virtual_machine import VirtualMachine
from tests.narrow import is_array
from tests.passes.programs import parse

HEAD = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
        n = T.int64()
"""
# name -> (the body of a function of `x`, whose length is `n`, and `k`; what it returns for three ones and 4)
BODIES: Mapping[str, tuple[str, Any]] = MappingProxyType(
    {
        "a tensor whose dimension is computed": (
            """
            z = R.ones((n * 2,), "float32")
            @R.function
            def f():
                return R.add(z, z)
            out = f()
            return out
            """,
            np.full(6, 2, "float32"),
        ),
        "a truth value that was compared outside": (
            """
            c = R.prim_value(k <= n)
            @R.function
            def f():
                if c:
                    r = R.const(1, "int64")
                else:
                    r = R.const(2, "int64")
                return r
            out = f()
            return out
            """,
            np.array(2),
        ),
        "a scalar and a shape that were computed outside": (
            """
            z = R.prim_value(k * n)
            s = R.shape([n * 2])
            @R.function
            def f():
                return (z, s)
            out = f()
            return out
            """,
            (12, (6,)),
        ),
        "the scalar of a function inside is its own": (
            """
            @R.function
            def f() -> R.Prim("int64"):
                @R.function
                def down(i: R.Prim("int64")) -> R.Prim("int64"):
                    if i <= 0:
                        r = R.prim_value(i)
                    else:
                        less = R.prim_value(i - 1)
                        r = down(less)
                    return r
                out = down(k)
                return out
            out = f()
            return out
            """,
            0,
        ),
        "a function of a second dataflow block is a value there": (
            """
            cls = Module
            with R.dataflow():
                y = R.add(x, x)
                R.output(y)
            with R.dataflow():
                @R.function
                def f(p: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                    return R.add(p, p)
                g = (f, y)
                w = R.add(g[1], g[1])
                R.output(w)
            return w
            """,
            np.full(3, 4, "float32"),
        ),
        "a scalar in a tuple that a branch chose is computed with": (
            """
            if k < 3:
                pair = (k, x)
            else:
                pair = (R.prim_value(k + 1), x)
            a = pair[0]
            b = R.prim_value(a * 2)
            return b
            """,
            10,
        ),
        "a scalar that a captured function returns is computed with": (
            """
            @R.function
            def more(i: R.Prim("int64")) -> R.Prim("int64"):
                return i + n
            fs = (more, more)
            f = fs[1]
            a = f(k)
            b = R.prim_value(a * 2)
            return b
            """,
            14,
        ),
    }
)
CAST = """
            @R.function
            def f(y: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor((n,), "float32"):
                z = R.match_cast(y, R.Tensor((n,), "float32"))
                return z
            other = R.ones((k,), "float32")
            out = f(other)
            return out
            """


def run(body: str, passes: str | None, *args: Any) -> Any:
    text = HEAD + "\n".join(line[4:] for line in body.splitlines())
    return VirtualMachine(build(parse(text), passes=passes))["main"](*args)


@pytest.mark.parametrize("passes", [None, "", "Normalize, LambdaLift, ElideClosureWrappers"])
@pytest.mark.parametrize("name", BODIES)
def test_a_local_function_has_what_it_needs(name: str, passes: str | None) -> None:
    body, expected = BODIES[name]
    found = run(body, passes, np.ones(3, "float32"), 4)
    if is_array(expected):
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    else:
        assert found == expected


def test_a_cast_inside_compares_with_the_dimension_outside() -> None:
    assert run(CAST, None, np.ones(3, "float32"), 3).shape == (3,)
    with pytest.raises(RunError) as caught:
        run(CAST, None, np.ones(3, "float32"), 4)
    assert caught.value.diagnostics[0].code == "VM012"
