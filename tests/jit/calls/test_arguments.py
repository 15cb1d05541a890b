"""Arguments that do not fit end in a diagnostic that says what was expected and where a value came from."""

from typing import Any

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.ir.prim import Cast, PrimVar, binary, const
from relax_core.ir.tir import NOTHING, Buffer, BufferStore, PrimFunc
from relax_core.jit.engine import Engine
from relax_core.ops.dtypes import BFLOAT16
from tests.jit.programs import elementwise, index, integer, prim_func, tir_matmul

ENGINE = Engine()
F32 = np.dtype("float32")


def zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


def readonly(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((zeros(2, 3), zeros(3, 4)), r"JT003.*`matmul` takes 3 arguments, got 2"),
        ((zeros(2, 3), [[1.0]], zeros(2, 1)), r"JT003.*`B` of `matmul` expects an array, got list"),
        ((zeros(2, 3), 5, zeros(2, 1)), r"JT003.*`B` of `matmul` expects an array, got int"),
        ((zeros(2, 3, dtype="float64"), zeros(3, 4), zeros(2, 4)), r"JT004.*`A` expects dtype float32, got float64"),
        ((zeros(2, 3).astype(">f4"), zeros(3, 4), zeros(2, 4)), r"JT004.*`A` expects dtype float32, got >f4"),
        ((zeros(6), zeros(3, 4), zeros(2, 4)), r"JT005.*`A` expects 2 dimensions, got shape \(6,\)"),
        (
            (zeros(2, 3), zeros(4, 5), zeros(2, 5)),
            r"JT006.*`n` is 3 from dimension 1 of `A`, whose argument has shape \(2, 3\), "
            r"but 4 from dimension 0 of `B`, whose argument has shape \(4, 5\)",
        ),
        ((zeros(3, 2).T, zeros(3, 4), zeros(2, 4)), r"JT008.*`A` expects a C-contiguous, aligned array"),
        ((zeros(2, 6)[:, ::2], zeros(3, 4), zeros(2, 4)), r"JT008.*`A` expects a C-contiguous, aligned array"),
        ((zeros(2, 3), zeros(3, 4), readonly(zeros(2, 4))), r"JT018.*`C` is written by `matmul`"),
        ((zeros(0, 1 << 31), zeros(1 << 31, 0), zeros(0, 0)), r"JT007.*`n` is 2147483648 from .*does not fit int32"),
    ],
)
def test_an_array_that_does_not_fit(args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RunError, match=message):
        ENGINE.kernel(tir_matmul(is_corrected=True), "matmul")(*args)


def test_an_unaligned_array_is_refused() -> None:
    array = np.zeros(17, np.uint8)[1:].view(F32)
    with pytest.raises(RunError, match="JT008"):
        ENGINE.kernel(elementwise(lambda x: x, 1, ("float32",), "float32"), "copy")(array, zeros(4))


def test_inputs_may_be_read_only() -> None:
    out = zeros(3)
    ENGINE.kernel(elementwise(lambda x: x, 1, ("float32",), "float32"), "copy")(readonly(np.ones(3, F32)), out)
    assert out.tolist() == [1, 1, 1]


def test_a_dimension_may_be_an_expression() -> None:
    n = index("n")
    first, second = Buffer("A", (n,)), Buffer("B", (binary("+", binary("*", n, const(2)), const(1)),))
    kernel = ENGINE.kernel(prim_func([first, second], NOTHING), "twice")
    kernel(zeros(3), zeros(7))
    with pytest.raises(RunError, match=r"JT005.*Dimension 0 of `B` expects `n \* 2 \+ 1` = 7, got 8"):
        kernel(zeros(3), zeros(8))


def test_a_constant_dimension_is_compared() -> None:
    with pytest.raises(RunError, match=r"JT005.*Dimension 0 of `A` expects 4, got 5"):
        ENGINE.kernel(prim_func([Buffer("A", (integer(4),))], NOTHING), "four")(zeros(5))


def test_a_symbol_that_nothing_determines_is_named() -> None:
    function = prim_func([Buffer("A", (binary("*", index("n"), const(2)),))], NOTHING)
    with pytest.raises(RunError, match=r"JT009.*determines `n`"):
        ENGINE.kernel(function, "even")(zeros(4))


def test_strides_and_offset_of_a_parameter_are_bound() -> None:
    n, m, s, t, offset = (index(name) for name in ("n", "m", "s", "t", "o"))
    buffer = Buffer("A", (n, m), strides=(s, t), elem_offset=offset)
    total = binary("+", binary("+", s, binary("*", t, const(10))), binary("*", offset, const(100)))
    out = Buffer("B", (integer(1),), "int64")
    result = zeros(1, dtype="int64")
    ENGINE.kernel(prim_func([buffer, out], BufferStore(out, (integer(0),), total)), "strides")(zeros(2, 7), result)
    assert result[0] == 17


def test_strides_that_are_not_those_of_the_array_are_refused() -> None:
    buffer = Buffer("A", (index("n"), index("m")), strides=(integer(100), integer(1)))
    with pytest.raises(RunError, match=r"JT008.*A stride of `A` is `100` = 100, but the array has 7 elements"):
        ENGINE.kernel(prim_func([buffer], NOTHING), "strides")(zeros(2, 7))


def stores_scalar(dtype: str) -> PrimFunc:
    out, scalar = Buffer("Out", (integer(1),), dtype), PrimVar("s", dtype)
    return prim_func([out], BufferStore(out, (integer(0),), scalar), [scalar])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int8", -128),
        ("int32", -5),
        ("int64", -(2**63)),
        ("uint8", 255),
        ("uint64", 2**64 - 1),
        ("bool", True),
        ("float16", 0.1),
        ("float32", 0.1),
        ("float64", 0.1),
        ("float32", np.float32(3.5)),
        ("float64", 3),
        ("int32", np.int16(7)),
    ],
)
def test_scalars_arrive_unchanged(dtype: str, value: Any) -> None:
    out = np.zeros(1, dtype)
    ENGINE.kernel(stores_scalar(dtype), "scalar")(out, value)
    assert out[0] == np.dtype(dtype).type(value)


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("int8", 128, r"JT004.*`s` = 128 does not fit int8"),
        ("uint32", -1, r"JT004.*`s` = -1 does not fit uint32"),
        ("int32", 1.5, r"JT003.*`s` expects an integer, got float"),
        ("float32", "1", r"JT003.*`s` expects a real number, got str"),
        ("float32", np.complex64(1), r"JT003.*`s` expects a real number, got complex64"),
        ("bfloat16", 3.4e38, r"JT004.*does not fit bfloat16"),
        ("float16", 1e9, r"JT004.*does not fit float16"),
    ],
)
def test_a_scalar_that_does_not_fit(dtype: str, value: Any, message: str) -> None:
    with pytest.raises(RunError, match=message):
        ENGINE.kernel(stores_scalar(dtype), "scalar")(np.zeros(1, dtype), value)


def test_a_scalar_parameter_may_be_a_dimension() -> None:
    n = index("n")
    buffer = Buffer("A", (n,))
    kernel = ENGINE.kernel(
        prim_func([buffer], BufferStore(buffer, (binary("-", n, const(1)),), const(1.0)), [n]), "last"
    )
    array = zeros(4)
    kernel(array, 4)
    assert array.tolist() == [0, 0, 0, 1]
    with pytest.raises(RunError, match=r"JT006.*`n` is 4 from dimension 0 of `A`.*but 3 from the argument `n`"):
        kernel(array, 3)


@pytest.mark.parametrize("value", [1.001, -1.00390625, 1.01171875, 3.0, 1e-40, -1e-50, -0.0, np.inf, np.nan])
def test_a_bfloat16_is_rounded_before_it_is_computed_with(value: float) -> None:
    scalar, out = PrimVar("s", "bfloat16"), Buffer("Out", (integer(1),), "float32")
    function = prim_func([out], BufferStore(out, (integer(0),), Cast(scalar, "float32")), [scalar])
    array = zeros(1)
    ENGINE.kernel(function, "wide")(array, value)
    assert array.tobytes() == np.float32(BFLOAT16.type(value)).tobytes()


@pytest.mark.parametrize("argument", [None, 0, zeros(1)], ids=["nothing", "a number", "an array"])
def test_a_handle_that_is_not_used_takes_anything(argument: object) -> None:
    assert ENGINE.kernel(PrimFunc((PrimVar("p", "handle"),), (), NOTHING), "opaque")(argument) is None
