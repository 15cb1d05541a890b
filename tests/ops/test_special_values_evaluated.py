"""Operators without a kernel at special values: compared with a meaning that is written here, or why there is none."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from relax_core.ops import OPS
from tests.ops.cases import Array
from tests.ops.special_values import DTYPES, FLOATS, specials

EVALUATED = {spec.short_name for spec in OPS.values() if spec.evaluate and not spec.legalize}
# What gives its operand, bit for bit, and the arguments that stand behind the operand.
SAME: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "memory.view": (None, None, None),
        "memory.ensure_zero_offset": (),
        "builtin.stop_lift_params": (),
        "to_vdevice": ("cpu:0",),
        "hint_on_device": ("cpu:0", "global"),
        "dist.annotate_sharding": ("mesh[0]", "R"),
        "dist.redistribute": ("mesh[0]", "R"),
        "ccl.allreduce": ("sum", True),
        "ccl.broadcast_from_worker0": (),
    }
)
_SIZES = "It gives sizes and facts of the layout, which depend on no element."
_WORKERS = (
    "It cuts or joins whole tensors by the number of workers; with one worker, the only one here, it is the tensor."
)
_BOXES = (
    "Its numbers are coordinates and scores, of which it gives some as they are; which of them, comparisons with a "
    "threshold decide, and a NaN is in no relation to one. On numbers test_more_against_tvm.py compares them with TVM."
)
NOTHING_TO_COMPARE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((name for name in EVALUATED if name.startswith(("inspect.", "shape_"))), _SIZES),
        "tensor_to_shape": _SIZES,
        "null_value": "It takes nothing.",
        **dict.fromkeys(("ccl.allgather", "ccl.scatter_from_worker0", "dist.redistribute_replica_to_shard"), _WORKERS),
        **dict.fromkeys((name for name in EVALUATED if name.startswith("vision.")), _BOXES),
    }
)


def evaluated(op: str, *args: Any) -> Any:
    evaluate = OPS[f"relax.{op}"].evaluate
    assert evaluate is not None
    return evaluate(args)


def bits(value: Any) -> tuple[str, tuple[int, ...], bytes]:
    data = np.asarray(value)
    return str(data.dtype), data.shape, data.tobytes()


@pytest.mark.parametrize("op", SAME)
def test_what_moves_a_tensor_keeps_its_bits(op: str) -> None:
    for dtype in DTYPES:
        data = specials(dtype)
        assert bits(evaluated(op, data, *SAME[op])) == bits(data)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_slice_at_run_time_has_the_bits_of_its_elements(dtype: str) -> None:
    data = specials(dtype)
    bounds = (np.array([1]), np.array([len(data)]), np.array([2]))
    assert bits(evaluated("dynamic_strided_slice", data, *bounds)) == bits(data[1::2])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_nan_is_not_zero_and_both_zeros_are(dtype: str) -> None:
    data = specials(dtype)
    places = [k for k, item in enumerate(data.tolist()) if item != 0]
    np.testing.assert_array_equal(evaluated("nonzero", data), np.array([places], np.int64), strict=True)


def _distinct(data: Array) -> tuple[list[Any], list[int], list[int]]:
    """Return the numbers in order, each once, NaN as one behind all, with their first places and their counts."""
    found: dict[Any, list[int]] = {}
    for place, item in enumerate(data.tolist()):
        found.setdefault("nan" if item != item else item, []).append(place)
    keys = sorted(found, key=lambda key: (key == "nan", 0 if key == "nan" else key))
    values = [float("nan") if key == "nan" else key for key in keys]
    return values, [found[key][0] for key in keys], [len(found[key]) for key in keys]


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_numbers_are_one_and_so_are_nans(dtype: str) -> None:
    data = np.concatenate([specials(dtype), specials(dtype)[::-1]])
    values, firsts, counts = evaluated("unique", data, True, True, False, True, None)
    wanted, places, numbers = _distinct(data)
    wide = np.float64 if dtype in FLOATS else object
    np.testing.assert_array_equal(values.astype(wide), np.array(wanted, wide))
    np.testing.assert_array_equal(firsts, places)
    np.testing.assert_array_equal(counts, numbers)


def _greatest(window: list[Any]) -> int:
    """Return the place of the first NaN, or else of the first of the greatest."""
    nans = [k for k, item in enumerate(window) if item != item]
    return nans[0] if nans else max(range(len(window)), key=lambda k: (window[k], -k))


def _to_greatest(window: list[Any], grad: Array) -> Array:
    """Nothing goes to the other place, not a NaN of the gradient either."""
    return np.where(np.arange(2) == _greatest(window), grad, np.zeros_like(grad))


def _to_both(_: list[Any], grad: Array) -> Array:
    return np.array([grad / grad.dtype.type(2)] * 2)


GRADIENTS: Mapping[str, Callable[[list[Any], Any], Array]] = MappingProxyType(
    {"grad.max_pool2d_backward": _to_greatest, "grad.avg_pool2d_backward": _to_both}
)


@pytest.mark.parametrize("op", GRADIENTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_gradient_of_a_pool_goes_where_the_value_came_from(op: str, dtype: str) -> None:
    """Windows of all pairs of special values, and each special value as the gradient."""
    values = specials(dtype)
    pairs = np.stack(np.meshgrid(values, values, indexing="ij"), axis=-1).reshape(-1, 2)
    grads = np.resize(values, len(pairs))
    data, incoming = pairs.reshape(1, 1, -1, 2), grads.reshape(1, 1, -1, 1)
    with np.errstate(all="ignore"):
        found = evaluated(op, incoming, data, [1, 2], [1, 2], [0, 0], [1, 1], False, False, "NCHW", None)
        for pair, grad, got in zip(pairs, grads, found.reshape(-1, 2), strict=True):
            wanted = GRADIENTS[op](pair.tolist(), grad)
            np.testing.assert_array_equal(got.astype(np.float64), wanted.astype(np.float64))


def test_every_operator_that_is_evaluated_is_compared_or_has_nothing_to_compare() -> None:
    compared = {*SAME, *GRADIENTS, "dynamic_strided_slice", "nonzero", "unique"}
    assert not compared & {*NOTHING_TO_COMPARE}
    assert compared | {*NOTHING_TO_COMPARE} == EVALUATED


def test_what_neither_has_a_kernel_nor_is_evaluated_computes_nothing() -> None:
    """Calls, allocation and closures: a pass lowers them to what moves values; those that are only shown do not run."""
    for spec in OPS.values():
        if spec.evaluate is None:
            assert spec.legalize is None, spec.name
            assert spec.realized_by in ("lowering", "shown"), spec.name
