"""Relay's operators: the table is whole, and its relations agree with NumPy and with the pinned apache-tvm."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.check.check import check
from relax_core.frontend.parse import parse_text
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import OBJECT, Expr, TensorType, TupleType, Type, constant
from relax_core.ir.prim import AnyDim, IntImm
from relax_core.ops import OPS
from relax_core.ops.relay import RELAY_NAME_OF, RELAY_OPS
from relax_core.ops.relay.dims import dims_of, known_size
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.show import show_type
from relax_core.ops.relay.spec import RelayCall, RelayOp
from relax_core.ops.spec import OpTypeError
from tests.apache_tvm import relax
from tests.ops.relay.cases import CASES, Case, Value


def type_of(value: Value) -> Type:
    if isinstance(value, tuple):
        return TupleType(tuple(map(type_of, value)))
    return TensorType(dims_of(*np.shape(value)), str(np.asarray(value).dtype))


def related(name: str, args: tuple[Type, ...], attrs: Mapping[str, AttrValue], exprs: tuple[Expr, ...] = ()) -> Type:
    spec = RELAY_OPS[name]
    assert spec.relation is not None
    assert not spec.missing(attrs)
    return spec.relation(RelayCall(name, args, spec.with_defaults(attrs), exprs))


def unknown(type_: Type) -> Type:
    match type_:
        case TensorType(dims=tuple() as dims, dtype=dtype):
            return TensorType(tuple(AnyDim() for _ in dims), dtype)
        case TupleType(fields=fields):
            return TupleType(tuple(map(unknown, fields)))
        case _:
            return type_


def covers(wide: Type, narrow: Type) -> bool:
    """Tell whether a type says nothing that the narrower one contradicts."""
    match wide, narrow:
        case TupleType(fields=a), TupleType(fields=b):
            return len(a) == len(b) and all(map(covers, a, b))
        case TensorType(), TensorType():
            if wide.dims is None or narrow.dims is None or wide.dtype != narrow.dtype:
                return wide.dims is None
            pairs = zip(wide.dims, narrow.dims, strict=True)
            return all(known_size(a) in (None, known_size(b)) for a, b in pairs)
        case _:
            return False


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_relation_agrees_with_numpy(case: Case) -> None:
    exprs = tuple(constant(np.asarray(arg)) for arg in case.args if not isinstance(arg, tuple))
    found = related(case.op, tuple(map(type_of, case.args)), case.attrs, exprs)
    assert show_type(found) == show_type(type_of(case.compute(*case.args)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_unknown_sizes_lose_no_rank_and_gain_no_size(case: Case) -> None:
    known = related(case.op, tuple(map(type_of, case.args)), case.attrs)
    assert covers(related(case.op, tuple(unknown(type_of(arg)) for arg in case.args), case.attrs), known)


@pytest.mark.parametrize("name", sorted(RELAY_OPS))
def test_an_operator_becomes_one_of_relax_or_says_why_not(name: str) -> None:
    spec = RELAY_OPS[name]
    assert (spec.rule is None) == bool(spec.why)
    assert set(spec.relax) <= set(OPS)


def test_a_misspelt_keyword_of_an_entry_is_refused() -> None:
    misspelt: Any = {"expect": None}
    with pytest.raises(TypeError, match="expect"):
        op("nn.test", "data", "nn.relu", **misspelt)


REFUSED = (
    ("nn.max_pool2d(%x, pool_size=[9, 9])", "RY009", "has a window that is larger than its padded input along H"),
    ("nn.max_pool2d(%x, pool_size=[2, 2, 2])", "RY010", "expects 2 positive integers as `pool_size`, got [2, 2, 2]"),
    ("transpose(%x, axes=[0, 0, 1, 2])", "RY009", "names an axis twice: [0, 0, 1, 2]"),
    ("image.affine_grid(%x, target_shape=[4, 4])", "RY009",
     "expects matrices of rank 3, got Tensor[(1, ?, 8, 8), float32]"),
    ("stack((%x, 1f))", "RY009", "expects equal ranks, got Tensor[(1, ?, 8, 8), float32], float32"),
    ("nn.batch_flatten(1f)", "RY009", "expects a tensor of rank 1 or more, got float32"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words"), REFUSED, ids=[text for text, _, _ in REFUSED])
def test_what_a_translation_refuses_is_told_in_the_words_of_relay(text: str, code: str, words: str) -> None:
    (module,) = parse_text(f"def @main(%x: Tensor[(1, ?, 8, 8), float32]) {{ {text} }}", "m.relay").modules
    (found,) = check(module)
    assert (found.code, found.message) == (code, f"`{text.partition('(')[0]}` {words}")


def test_operands_of_a_product_may_differ_in_dtype() -> None:
    image, weight = TensorType(dims_of(1, 3, 8, 8), "uint8"), TensorType(dims_of(4, 3, 3, 3), "int8")
    assert show_type(related("nn.conv2d", (image, weight), {})) == "Tensor[(1, 4, 6, 6), uint8]"
    rows, columns = TensorType(dims_of(2, 3), "float16"), TensorType(dims_of(5, 3), "float32")
    assert show_type(related("nn.dense", (rows, columns), {})) == "Tensor[(2, 5), float16]"


def test_what_relax_cannot_express_has_a_type_all_the_same() -> None:
    data, indices = TensorType(dims_of(2, 3), "float32"), TensorType(dims_of(2, 4), "int32")
    found = related("take", (data, indices), {"axis": 1, "batch_dims": 1})
    assert show_type(found) == "Tensor[(2, 4), float32]"
    unknown_rank = TensorType(None, "float32")
    assert related("nn.contrib_depthwise_conv2d_NCHWc", (unknown_rank, unknown_rank), BLOCKED) is OBJECT


@pytest.mark.parametrize("name", ["strides", "dilation"])
def test_a_window_moves_by_positive_steps(name: str) -> None:
    image, weight = TensorType(dims_of(1, 3, 8, 8), "float32"), TensorType(dims_of(4, 3, 3, 3), "float32")
    with pytest.raises(OpTypeError, match=f"expects 2 positive integers as `{name}`") as caught:
        related("nn.conv2d", (image, weight), {name: 0})
    assert caught.value.code == "RY010"


BLOCKED: Mapping[str, AttrValue] = {"data_layout": "NCHW4c", "kernel_layout": "OIHW1i4o", "out_layout": "NCHW4c"}


def test_an_operator_of_relax_names_the_first_of_relay_that_it_corresponds_to() -> None:
    names = ("relax.permute_dims", "relax.matmul", "relax.scatter_elements", "relax.triu", "relax.image.resize2d")
    assert [RELAY_NAME_OF[name] for name in names] == [
        "transpose", "nn.matmul", "scatter_elements", "trilu", "image.resize2d",
    ]  # fmt: skip
    assert set(RELAY_NAME_OF) <= set(OPS)


def test_most_operators_have_a_relation() -> None:
    without = {name for name, spec in RELAY_OPS.items() if spec.relation is None}
    assert len(without) * 10 < len(RELAY_OPS)


JUNK: tuple[AttrValue, ...] = (1, 0, -7, "NCHW", "ABCD", (1, 2), (), ((1, 2), (3, 4)), None)
ODD_TYPES = (
    TensorType((), "int32"),
    TensorType(None, None),
    TensorType(dims_of(3), "bool"),
    TensorType(dims_of(2, 3, 4, 5), "float32"),
    TensorType((AnyDim(), AnyDim(), AnyDim()), "int8"),
    TupleType(()),
    TupleType((TensorType(dims_of(2, 3), "float32"),)),
)


@pytest.mark.parametrize("spec", [item for item in RELAY_OPS.values() if item.relation], ids=lambda spec: spec.name)
def test_a_relation_refuses_what_makes_no_sense_in_words(spec: RelayOp) -> None:
    assert spec.relation is not None
    for junk in JUNK:
        required: dict[str, AttrValue] = dict.fromkeys(spec.missing({}), junk)
        attrs = spec.with_defaults(required)
        for type_ in ODD_TYPES:
            answers(spec, type_, attrs)
        for item in spec.attrs:
            answers(spec, ODD_TYPES[3], {**attrs, item.name: junk})


def answers(spec: RelayOp, type_: Type, attrs: Mapping[str, AttrValue]) -> None:
    assert spec.relation is not None
    try:
        words = show_type(spec.relation(RelayCall(spec.name, (type_,) * len(spec.params), attrs)))
    except OpTypeError as error:
        words = error.message if spec.name in error.message else ""
    assert words


SIZES = st.integers(5, 9)
PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))


@pytest.mark.tvm
@given(
    st.tuples(SIZES, SIZES), PAIR, PAIR, PAIR, st.tuples(*(st.integers(0, 2),) * 4), st.sampled_from(("NCHW", "NHWC")),
    st.sampled_from(("OIHW", "HWIO")), st.integers(1, 2), st.sampled_from(("", "float16")),
)  # fmt: skip
def test_convolutions_agree_with_tvm(
    image: tuple[int, int], kernel: tuple[int, int], strides: tuple[int, int], dilation: tuple[int, int],
    padding: tuple[int, ...], layout: str, kernel_layout: str, groups: int, out_dtype: str,
) -> None:  # fmt: skip
    sizes = {"N": 2, "C": 4, "H": image[0], "W": image[1]}
    window = {"O": 6, "I": 4 // groups, "H": kernel[0], "W": kernel[1]}
    shapes = (tuple(sizes[axis] for axis in layout), tuple(window[axis] for axis in kernel_layout))
    attrs: dict[str, Any] = {
        "strides": strides, "padding": padding, "dilation": dilation, "groups": groups, "data_layout": layout,
        "kernel_layout": kernel_layout, "out_dtype": out_dtype,
    }  # fmt: skip
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
    if image[0] + padding[0] + padding[2] < reach[0] or image[1] + padding[1] + padding[3] < reach[1]:
        return
    args = tuple(TensorType(tuple(map(IntImm, shape)), "float32") for shape in shapes)
    found = related("nn.conv2d", args, attrs)
    variables = [relax.Var(f"x{k}", relax.TensorType(list(shape), "float32")) for k, shape in enumerate(shapes)]
    attrs["out_dtype"] = out_dtype or None
    expected = relax.BlockBuilder().normalize(relax.op.nn.conv2d(*variables, **attrs)).ty
    assert isinstance(found, TensorType)
    assert [known_size(dim) for dim in found.dims or ()] == [int(dim) for dim in expected.shape.values]
    assert found.dtype == str(expected.dtype)
