"""The packed library: its samples give what NumPy written out here gives, and wrong arguments stop at their call."""

import math
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import relax_core as rc
from relax_core.check.unify import contradiction
from relax_core.ops.packed.registry import DECLARED, PACKED
from relax_core.ops.packed.spec import PackedSpec
from relax_core.vm.external.operators import type_of_value
from relax_core.vm.external.packed import DEFAULT_PACKED, Packed, Registry
from relax_core.vm.external.packed_arguments import known_facts
from relax_core.vm.limits import Limits
from relax_core.vm.packed_library.arrays import Given
from relax_core.vm.packed_library.table import LIBRARY
from relax_core.vm.runtime_library.table import FUNCTIONS, STATEFUL
from tests.callables import Compute
from tests.narrow import is_tuple
from tests.vm.assemble import result_of
from tests.vm.programs import HEAD, SAMPLES, floats, run_sample, run_text

N = np.array


def gelu(x: Any, kind: str = "none") -> Any:
    if kind == "tanh":
        return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    return x * N([[0.5 * math.erfc(-v / 1.4142135623730951)] for v in x.ravel()]).reshape(x.shape)


def softmax(x: Any, axes: tuple[int, ...]) -> Any:
    e = np.exp(x)
    return e / e.sum(axes, keepdims=True)


def conv(x: Any, w: Any, stride: tuple[int, int], padding: tuple[int, int]) -> Any:
    p = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    height, width = ((p.shape[2 + k] - w.shape[2 + k]) // stride[k] + 1 for k in range(2))
    out = np.zeros((len(x), len(w), height, width))
    for i in range(height):
        for j in range(width):
            window = p[:, :, i * stride[0] :, j * stride[1] :][:, :, : w.shape[2], : w.shape[3]]
            out[:, :, i, j] = (window[:, None] * w[None]).sum((2, 3, 4))
    return out


def my_mod(a: Any, b: Any) -> Any:
    values, inverse = np.unique(a + 2 * b, return_inverse=True)
    return values, inverse.reshape(32, 32)


def masked(g: Any, x: Any) -> Any:
    y = x - x.mean(1, keepdims=True)
    return g - g.mean(1, keepdims=True) - y * (g * y).mean(1, keepdims=True), None, g.sum(0)


def places(x: Any, index: Any) -> Any:
    c = np.pad(np.roll(x[::-1], 1, 1), ((0, 0), (1, 1)), constant_values=9)
    return c[index], (c[index[:1]], c[index[1:]])


def norms(x: Any, mean: Any, var: Any) -> Any:
    a = (x - mean) / np.sqrt(var + 1e-3)
    return (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5)


X, Y = floats(2, 3), floats(2, 3) * 2
IMAGE, WEIGHT, BIAS = floats(1, 3, 8, 8), floats(4, 3, 3, 3), floats(4)
INTS = N([3, 1, 3, 2, 1, 1])
# sample -> (arguments, expected from them)
EXPECTED: dict[str, tuple[tuple[Any, ...], Compute[Any, Any]]] = {
    "add_alpha": ((X, Y), lambda x, y: x + 3 * y),
    "cat_list": ((X, floats(4, 3)), lambda x, y: np.stack([np.vstack([x, y])] * 2, 1)),
    "clamp_optional": ((floats(4), N(0.25, "float32")), lambda x, m: (np.maximum(x, 0), x.clip(-0.5, m))),
    "computed_alpha": ((floats(3),), lambda x: x * 7),
    "computed_axis": ((floats(2, 3, 4), -2), lambda x, axis: x.sum(axis, keepdims=True)),
    "conv_lists": (
        (IMAGE, WEIGHT, BIAS),
        lambda x, w, b: (conv(x, w, (2, 2), (1, 1)) + b[:, None, None], conv(x, w, (1, 2), (0, 1))),
    ),
    "einsum_text": ((X, floats(3, 4)), lambda x, y: (x @ y).T),
    "fill_in_place": ((floats(3),), lambda x: (np.full(3, 2.5), np.full(3, 2.5))),
    "full_size": ((floats(4, 3),), lambda x: (np.full((4, 2), 7), N([0.0, 3, 6, 9]))),
    "gelu_string": ((floats(4),), lambda x: gelu(gelu(x, "tanh"))),
    "masked_gradients": ((X, Y), masked),
    "my_mod": ((floats(32, 32), floats(32, 32)[::-1].copy()), my_mod),
    "norms": ((X, floats(3), N([1.0, 2, 3], "float32")), norms),
    "places": ((floats(4, 3), N([2, 0])), places),
    "softmax_axes": ((floats(2, 3, 4),), lambda x: (softmax(x, (2,)), softmax(x, (1, 2)))),
    "tensor_to_scalar": ((floats(3),), lambda x: x + x * x.sum()),
    "topk_pair": ((floats(2, 6),), lambda x: (np.sort(x)[:, :2], np.argsort(x)[:, :2])),
    "unique_tuple": ((INTS,), lambda x: (N([1, 2, 3]), N([3, 1, 2]))),
}


def agree(found: Any, expected: Any) -> None:
    """Compare nested tuples of tensors; a float32 against float64 here agrees to 1e-4."""
    if is_tuple(expected):
        assert is_tuple(found)
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            agree(a, b)
    elif expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        assert found.shape == np.shape(expected)


def test_every_sample_has_an_expected_value() -> None:
    assert {f"packed_{name}" for name in EXPECTED} == {path.stem for path in (SAMPLES / "prim").glob("packed_*.py")}


@pytest.mark.parametrize("record", [True, False], ids=["recorded", "not recorded"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_gives_what_numpy_gives(name: str, record: bool) -> None:
    args, compute = EXPECTED[name]
    agree(result_of(run_sample(f"prim/packed_{name}.py", *args, record=record)), compute(*args))


def test_every_declared_function_is_there_and_the_other_way_round() -> None:
    assert {*LIBRARY, *FUNCTIONS, *STATEFUL} == set(PACKED)


def body(call: str, *, params: str = 'x: R.Tensor((2, 3), "float32")', rest: str = "") -> str:
    lines = f"    @R.function(pure=False)\n    def main({params}):\n        y = {call}\n{rest}        return y\n"
    return f"{HEAD}@I.ir_module\nclass Module:\n{lines}"


F16, BF16 = N([1.5, -2], "float16"), N([1.5, -2]).astype(ml_dtypes.bfloat16)
# what is computed: (call, argument, expected value, its dtype)
CALLS: dict[str, tuple[str, Any, Any, str]] = {
    "add of integers": ('"libtorch_add", x, x, alpha=3', N([1, 2], "int32"), N([4, 8]), "int32"),
    "add of bool": ('"libtorch_add", x, x', N([True, False]), N([True, False]), "bool"),
    "add of float16": ('"libtorch_add", x, x, alpha=0.5', F16, F16 * 1.5, "float16"),
    "any along an axis": ('"libtorch_any", x, dim=0', N([[0, 1], [0, 0]]), N([False, True]), "bool"),
    "arange down": ('"libtorch_arange", 5, 0, -2', X, N([5, 3, 1]), "int64"),
    "arange of floats": ('"libtorch_arange", 0.0, 1.0, 0.4', X, N([0, 0.4, 0.8]), "float32"),
    "cumsum of bytes": ('"libtorch_cumsum", x, 0', N([200, 100], "uint8"), N([200, 300]), "int64"),
    "full of bool": ('"libtorch_full", [2], True, dtype="bool"', X, N([True, True]), "bool"),
    "full of bfloat16": ('"libtorch_full", [2], 1.5, dtype="bfloat16"', X, N([1.5, 1.5]), "bfloat16"),
    "full without axes": ('"libtorch_full", [], 2.5', X, N(2.5), "float32"),
    "gelu of bfloat16": ('"libtorch_gelu", x', BF16, gelu(N([1.5, -2])), "bfloat16"),
    "mean of nothing": ('"libtorch_mean", x', N([], "float32"), N(math.nan), "float32"),
    "norm 1": ('"libtorch_norm", x, p=1, dim=1', X, np.abs(X).sum(1), "float32"),
    "norm of infinity": ('"libtorch_norm", x, p=T.float32("inf")', X, np.abs(X).max(), "float32"),
    "norm 0": ('"libtorch_norm", x, p=0', N([0, 2, 3], "float32"), N(2), "float32"),
    "roll of all": ('"libtorch_roll", x, 1', X, np.roll(X, 1), "float32"),
    "pad that cuts": ('"libtorch_constant_pad_nd", x, [-1, 0]', X, X[:, 1:], "float32"),
    "softmax of rank 0": ('"libtorch_softmax", x, 0', N(3, "float32"), N(1), "float32"),
    "softmax in float64": ('"libtorch_softmax", x, 1, dtype="float64"', X, softmax(X, (1,)), "float64"),
    "sum of integers": ('"libtorch_sum", x', N([1, 2], "int8"), N(3), "int64"),
    "sum of an empty list of axes": ('"libtorch_sum", x, dim=[]', X, X.sum(), "float32"),
    "sum over all, kept": ('"libtorch_sum", x, keepdim=True', X, X.sum(keepdims=True), "float32"),
    "upsample": (
        '"libtorch_upsample_nearest2d", x, [4, 3]',
        floats(1, 1, 2, 3),
        floats(1, 1, 2, 3).repeat(2, 2),
        "float32",
    ),
    "where of two dtypes": (
        '"libtorch_where", R.greater(x, R.const(2)), x, 0.5',
        N([1, 3], "int64"),
        N([0.5, 3]),
        "float32",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_value_and_dtype_of_pytorch(name: str) -> None:
    call, given, expected, dtype = CALLS[name]
    found = result_of(run_text(body(f"R.call_packed({call})", params="x: R.Tensor"), given))
    assert str(found.dtype) == dtype
    # bfloat16 has 8 bits of mantissa.
    np.testing.assert_allclose(
        found.astype(np.float64), expected, rtol=1e-2 if dtype == "bfloat16" else 1e-4, atol=1e-6
    )
    assert found.shape == np.shape(expected)


# what is wrong: (call, arguments, code, words)
WRONG: dict[str, tuple[str, Any, str, str]] = {
    "float alpha of integers": ('"libtorch_add", x, x, alpha=0.5', N([1]), "VM041", "alpha is an integer"),
    "shapes": ('"libtorch_add", x, R.zeros((4,), "float32")', X, "VM041", "cannot be broadcast"),
    "no bound": ('"libtorch_clamp_out", x, None, None, x', X, "VM041", "at least one of min and max"),
    "rank of a Scalar": ('"libtorch_fill_", x, x', X, "VM040", "`value` of `libtorch_fill_` must be Scalar"),
    "integers for gelu": ('"libtorch_gelu", x', N([1]), "VM041", "floating-point"),
    "too large a k": ('"libtorch_topk", x, 9', X, "VM041", "k is at most the size 3"),
    "negative index": ('"libtorch_index_select", x, 0, R.const([-1])', X, "VM041", "from 0 to 1, got -1"),
    "an axis": ('"libtorch_sum", x, dim=5', X, "VM041", "from -2 to 1, got 5"),
    "an equation": ('"libtorch_einsum", "ij,jk", (x,)', X, "VM041", "names 2 tensors, got 1"),
    "letters": ('"libtorch_einsum", "i1->j", (x,)', X, "VM041", "letters, commas"),
    "an empty list": ('"libtorch_cat", R.tuple()', X, "VM041", "not empty"),
    "other sizes": ('"libtorch_cat", (x, R.zeros((1, 2), "float32"))', X, "VM041", "agree but for axis 0"),
    "several elements": ('"libtorch_item", x', X, "VM041", "one element, got 6"),
    "a huge result": ('"libtorch_full", [100000, 100000, 100], 0', X, "VM006", "8,000,000,000,000 bytes"),
    "an endless range": ('"libtorch_arange", 0, 5, -1', X, "VM041", "step leads"),
    "odd pairs": ('"libtorch_constant_pad_nd", x, [1, 1, 1]', X, "VM041", "got 3 numbers"),
    "no statistics": ('"libtorch_batch_norm", x', X, "VM041", "training is True"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_stops_the_run_at_its_call(name: str) -> None:
    call, given, code, words = WRONG[name]
    error = run_text(body(f"R.call_packed({call})", params="x: R.Tensor"), given).error
    assert error is not None
    assert (error.code, error.span.line if error.span else 0) == (code, 10)
    assert words in error.message
    assert code == "VM006" or error.hint.startswith("its schema: libtorch_")


def test_a_destination_of_another_dtype_is_refused() -> None:
    call = 'R.call_dps_packed("libtorch_add_out", (x, x), out_ty=R.Tensor((2, 3), "int64"))'
    error = run_text(body(call, params="x: R.Tensor"), X).error
    assert error is not None
    assert error.code == "VM041"
    assert "float32 does not go into out of int64" in error.message


def test_a_registered_function_is_called_by_its_schema() -> None:
    seen: list[Any] = []

    def scale(x: Any, by: Any, sizes: Any, out: Any) -> None:
        seen.append((by, sizes))
        out[...] = x * by

    rc.register_packed(
        "test_scale", scale, schema="scale(Tensor self, *, Scalar by=2, int[2] sizes=1, Tensor(a!) out) -> Tensor(a!)"
    )
    call = (
        'R.call_dps_packed("test_scale", (x,), sizes=4, by=R.const(3.0, "float32"), out_ty=R.Tensor((2, 3), "float32"))'
    )
    agree(result_of(run_text(body(call), X)), X * 3)
    assert seen == [(3.0, (4, 4))]
    assert [str(spec.schema) for spec in DECLARED.all() if spec.name == "test_scale"] == [
        "test_scale(Tensor self, *, Scalar by=2, int[2] sizes=1, Tensor(a!) out) -> Tensor(a!)"
    ]


def test_a_packed_function_gets_copies_of_host_scalars() -> None:
    def grow(sizes: Any) -> Any:
        assert isinstance(sizes, tuple)
        sizes = [*sizes, 99]
        return np.array(len(sizes))

    registry = Registry()
    registry.register_schema("grow", grow, "grow(int[] sizes) -> Tensor")
    rest = '        z = R.call_packed("grow", t, ty_args=R.Tensor)\n        w = (y, z, t)\n'
    text = body('R.call_packed("grow", t, ty_args=R.Tensor)', rest=rest).replace("return y", "return w")
    text = text.replace("        y =", "        t = (R.prim_value(1), R.prim_value(2))\n        y =")
    first, second, kept = result_of(run_text(text, X, registry=registry))
    assert (int(first), int(second), kept) == (3, 3, (1, 2))


def test_the_debugger_keeps_what_a_function_writes_by_its_schema() -> None:
    trace = run_sample("prim/packed_fill_in_place.py", floats(3))
    changed = [event for event, owners in trace.memory_changes().items() if owners]
    registers = range(len(trace.registers_at(0, 0)))
    seen = [[trace.value_at(at, 0, register) for at in (changed[-1], changed[-1] + 1)] for register in registers]
    # One register holds x + x before the call, and 2.5 after it.
    assert any(
        isinstance(old, np.ndarray) and np.allclose(old, 2 * floats(3)) and np.all(N(new) == 2.5) for old, new in seen
    )


def test_a_result_that_is_too_large_is_refused_before_it_is_made() -> None:
    text = body('R.call_packed("libtorch_full", [1000, 1000], 1.0)')
    assert run_text(text, X, limits=Limits(memory_bytes=1 << 20)).error is not None


def checked(spec: PackedSpec, found: Packed) -> Packed:
    """Make a packed function whose result is compared with the type that the schema's rule gives for the arguments."""

    def function(given: Given) -> Any:
        inferred = None if spec.infer is None else spec.infer(known_facts(given.value_of))
        result = found.function(given)
        if inferred is not None and not spec.writes:
            words = contradiction(type_of_value(result), inferred)
            assert words is None, f"{spec.schema}: {words}"
        return result

    return replace(found, function=function)


CHECKED = Registry({name: checked(PACKED[name], DEFAULT_PACKED[name]) for name in PACKED})


@pytest.mark.parametrize("name", CALLS)
def test_the_inferred_type_is_that_of_the_result(name: str) -> None:
    call, given, *_ = CALLS[name]
    result_of(run_text(body(f"R.call_packed({call})", params="x: R.Tensor"), given, registry=CHECKED))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_inferred_types_are_those_of_the_results_of_a_sample(name: str) -> None:
    result_of(run_sample(f"prim/packed_{name}.py", *EXPECTED[name][0], registry=CHECKED))
