"""What becomes of a NaN: evaluated and as a kernel alike, and as in apache-tvm where that is ordered as the text is."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from tests.apache_tvm import from_source, relax, tvm

NAN, INF = np.nan, np.inf
VECTORS = tuple(
    np.array(items, np.float32)
    for items in ([1, 2, 3, NAN], [NAN, 1, 5, 2], [1, NAN, 5, 5], [NAN] * 4, [-INF, NAN, -0.0, INF], [4, 3, 2, 1])
)
CUBE = np.array([[[1, NAN, 3], [4, 2, NAN]], [[NAN, NAN, NAN], [7, INF, 5]]], np.float32)
PICTURE = np.where(np.arange(32) % 7 == 3, NAN, np.arange(32)).astype(np.float32).reshape(1, 2, 4, 4)
OF_VECTORS = (
    "R.max(x)", "R.min(x)", "R.argmax(x)", "R.argmin(x, axis=0, keepdims=True)", "R.nn.relu(x)", "R.clip(x, -1, 2)",
    "R.maximum(x, x2)", "R.minimum(x2, x)",
)  # fmt: skip
OF_OTHERS = (
    *((f"R.{name}(x, axis={axes}, keepdims={keeps})", CUBE)
      for name in ("max", "min") for axes in ([0], [1], [-1], [0, 2]) for keeps in (True, False)),
    ("R.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))", PICTURE),
    ("R.nn.max_pool2d(x, pool_size=(3, 3), strides=(1, 1))", PICTURE),
)  # fmt: skip
SORTED = ("R.sort(x)", "R.sort(x, descending=True)", "R.argsort(x)", "R.topk(x, k=3, ret_type='values')",
          "R.topk(x, k=2, ret_type='indices')")  # fmt: skip


def module_text(calls: tuple[str, ...], shape: tuple[int, ...]) -> str:
    """Return a module that computes `calls` of a tensor and of its elements in reverse."""
    lines = "".join(f"        r{number} = {call}\n" for number, call in enumerate(calls))
    names = ", ".join(f"r{number}" for number in range(len(calls)))
    tensor = f'R.Tensor({shape}, "float32")'
    return (
        "@I.ir_module\nclass Module:\n    @R.function\n"
        f"    def main(x: {tensor}, x2: {tensor}):\n{lines}        return ({names},)\n"
    )


def ours(text: str, passes: str | None, *args: Any) -> tuple[Any, ...]:
    return rc.VirtualMachine(rc.build(rc.parse(text), passes=passes))["main"](*args)


def theirs(text: str, *args: Any) -> tuple[Any, ...]:
    machine = relax.VirtualMachine(relax.build(from_source(text), "llvm"), tvm.cpu())
    return tuple(item.numpy() for item in machine["main"](*map(tvm.runtime.tensor, args)))


def agree(found: tuple[Any, ...], wanted: tuple[Any, ...], calls: tuple[str, ...]) -> None:
    for a, b, call in zip(found, wanted, calls, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=call)


@pytest.mark.tvm
def test_the_greatest_and_the_least_are_those_of_tvm() -> None:
    text = module_text(OF_VECTORS, (4,))
    for vector in VECTORS:
        wanted = theirs(text, vector, vector[::-1].copy())
        for passes in (None, ""):
            agree(ours(text, passes, vector, vector[::-1].copy()), wanted, OF_VECTORS)


@pytest.mark.tvm
@pytest.mark.parametrize("given", [CUBE, PICTURE], ids=["along axes", "in windows"])
def test_those_of_more_dimensions_are_too(given: Any) -> None:
    calls = tuple(call for call, of in OF_OTHERS if of is given)
    text = module_text(calls, given.shape)
    wanted = theirs(text, given, given)
    for passes in (None, ""):
        agree(ours(text, passes, given, given), wanted, calls)


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_sorting_loses_no_element_and_puts_a_nan_behind_the_numbers(vector: Any) -> None:
    text = module_text(SORTED, (4,))
    evaluated = ours(text, "", vector, vector)
    agree(ours(text, None, vector, vector), evaluated, SORTED)
    np.testing.assert_array_equal(evaluated[0], np.sort(vector))
    np.testing.assert_array_equal(evaluated[1], np.sort(vector)[::-1])
