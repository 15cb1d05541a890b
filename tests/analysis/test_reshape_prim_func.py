"""Prim funcs that only reshape: those of LegalizeOps, as apache-tvm tells them, and index arithmetic at random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relax_core as rc
from relax_core.analysis.reshape_prim_func import is_reshape
from relax_core.ir.integer.evaluate import evaluate
from tests.apache_tvm import from_source, relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import passed, remarks
from tests.tir_interpreter import run_prim_func


@pytest.mark.parametrize(
    ("shape", "call", "expected"),
    [
        ((2, 3, 4), "R.reshape(x, R.shape([4, 6]))", True),
        ((2, 3, 4), "R.reshape(x, R.shape([2, 2, 3, 2]))", True),
        ((2, 1, 4), "R.squeeze(x, axis=[1])", True),
        ((2, 3, 4), "R.flatten(x)", True),
        ((2, 3, 4), "R.permute_dims(x, axes=[0, 2, 1])", False),
        ((2, 3, 4), "R.flip(x, axis=1)", False),
        ((2, 1, 4), "R.permute_dims(x, axes=[1, 0, 2])", True),
        ((1, 3), "R.broadcast_to(x, R.shape([2, 3]))", False),
        ((2, 3), "R.exp(x)", False),
    ],
)
def test_what_legalize_ops_makes_of_a_reshape_is_known_as_one(
    shape: tuple[int, ...], call: str, expected: bool
) -> None:
    text = f"""
    @R.function
    def main(x: R.Tensor({shape}, "float32")):
        return {call}
"""
    module = passed(parse(text), "LegalizeOps").after
    ((_, function),) = module.prim_funcs
    assert is_reshape(function) is expected


SYMBOLIC = [
    ("n, 16", "n, 4, 4"),
    ("b, n, 2, 8", "b, n, 16"),
    ("b, n, 16", "b, n, 2, 8"),
    ("b * n, 16", "b, n, 16"),
    ("b, n, 16", "b * n, 16"),
    ("n * m", "n, m"),
    ("n, m", "m, n"),
    ("n, m, k", "n, m * k"),
    ("n, 6", "n * 3, 2"),
    ("n, 4, m", "n * 2, 2, m"),
    ("n, m, 12", "n * m * 2, 6"),
    ("1, n, m", "n * m, 1"),
    ("n, m, k, 8", "n * m, k * 8"),
    ("n, 4", "4, n"),
    ("n // 4 * 4, m", "n // 4, 4, m"),
    ("n + 1, 4", "n * 4 + 4"),
]


@pytest.mark.parametrize(("source", "target"), SYMBOLIC)
def test_a_reshape_of_symbolic_sizes_is_known_as_one_as_in_tvm(source: str, target: str) -> None:
    names = [name for name in "bnmk" if name in source]
    dims = ", ".join(f'"{dim.strip()}"' for dim in source.split(","))
    text = f"""
    @R.function
    def main(x: R.Tensor(({dims},), "float32"), s: R.Shape([{", ".join(f'"{name}"' for name in names)}])):
        {"; ".join(f"{name} = T.int64()" for name in names)}
        with R.dataflow():
            y = R.reshape(x, R.shape([{target}]))
            z = R.add(y, y)
            R.output(z)
        return z
"""
    stage = passed(parse(text), "LegalizeOps,RewriteDataflowReshape")
    assert remarks(stage, "applied") == ["@reshape only reshapes: y is a view"]
    read = from_source("@I.ir_module\nclass Module:\n" + text)
    with tvm.target.Target("llvm"):
        theirs = relax.transform.RewriteDataflowReshape()(relax.transform.LegalizeOps()(read))
    assert "R.reshape(x" in theirs.script()


PRODUCTS = ["1", "2", "4", "n", "m", "2 * n", "2 * m", "n * m", "4 * n", "n * m * 2"]
SOURCES = {"n, m, 2": ["m * 2", "2", "1"], "n * 2, m": ["m", "1"], "m, 4, n": ["4 * n", "n", "1"], "2, n": ["n", "1"]}
TARGETS = ["n, m, 2", "n * m * 2", "m, n * 2", "m * 2, n * 2", "m * n, 4", "n * 2"]


@given(st.data(), st.sampled_from(sorted(SOURCES)), st.sampled_from(TARGETS))
def test_what_is_known_as_a_reshape_is_one(data: st.DataObject, source: str, target: str) -> None:
    sizes = [size.strip() for size in target.split(",")]
    number = "0"
    for axis, size in enumerate(sizes):
        number = f"({number} * ({size}) + v{axis})"
    # Divisors and moduli are mostly the right ones.
    indices = ", ".join(
        f"{number} // ({data.draw(st.sampled_from([stride] * 9 + PRODUCTS))})"
        f" % ({data.draw(st.sampled_from([dim] * 9 + PRODUCTS))})"
        for dim, stride in zip(source.split(","), SOURCES[source], strict=True)
    )
    axes = ", ".join(f"v{axis}" for axis in range(len(sizes)))
    text = f"""
@T.prim_func
def copy(a: T.handle, b: T.handle, n: T.int64, m: T.int64):
    A = T.match_buffer(a, ({source},), "float32")
    B = T.match_buffer(b, ({target},), "float32")
    for {axes.replace("v", "i")} in T.grid({target}):
        with T.block("copy"):
            {axes} = T.axis.remap("{"S" * len(sizes)}", [{axes.replace("v", "i")}])
            B[{axes}] = A[{indices}]
"""
    ((_, function),) = rc.parse(text).prim_funcs
    if not is_reshape(function):
        return
    for n, m in ((3, 2), (2, 5), (1, 1)):
        sizes_of = dict(zip(function.params[2:], (n, m), strict=True))
        given_shape, wanted_shape = (
            tuple(int(evaluate(dim, sizes_of)) for dim in item.buffer.shape) for item in function.buffers
        )
        x = np.arange(np.prod(given_shape), dtype=np.float32).reshape(given_shape)
        made = run_prim_func(function, [x], np.zeros(wanted_shape, np.float32), (n, m))
        np.testing.assert_array_equal(made, x.reshape(wanted_shape))
