"""PyTorch's operators as packed functions, by a stand-in for torch; the library against torch itself if it is there.

torch is no requirement, and a large download: install it (`pip install torch`) to run the comparison, which is skipped
with that reason otherwise.
"""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from relax_core.ops.packed.registry import DECLARED, PACKED
from relax_core.vm.external import torch_operators
from relax_core.vm.external.packed import HOST
from relax_core.vm.external.packed_arguments import by_schema
from relax_core.vm.external.torch_operators import declaration, packed, read_schema
from relax_core.vm.packed_library.arrays import ArgumentError, Given
from relax_core.vm.packed_library.table import LIBRARY
from tests.narrow import is_tuple

SCHEMAS = {
    "aten::xlogy": {
        "Scalar_Self": "aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
        "Tensor": "aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
        "OutTensor": "aten::xlogy.OutTensor(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    },
    "aten::max": {
        "": "aten::max(Tensor self) -> Tensor",
        "dim": "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    },
    "aten::relu": {"": "aten::relu(Tensor self) -> Tensor"},
    "aten::full_like": {"": "aten::full_like(Tensor self, Weird? x) -> Tensor"},
}


class FakeTensor:
    """An array with the few methods that are used."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.dtype = str(array.dtype)

    def detach(self) -> "FakeTensor":
        return self

    contiguous = clone = detach

    def numpy(self) -> Any:
        return self.array


def run_xlogy(self: FakeTensor, other: FakeTensor, *, out: FakeTensor | None = None) -> FakeTensor:
    result = self.array * np.log(other.array)
    if out is not None:
        out.array[...] = result
    return FakeTensor(result)


def run_max(self: FakeTensor, dim: int, keepdim: bool) -> tuple[FakeTensor, FakeTensor]:
    if dim > self.array.ndim:
        raise IndexError("Dimension out of range\nand more")
    return FakeTensor(self.array.max(dim, keepdims=keepdim)), FakeTensor(self.array.argmax(dim, keepdims=keepdim))


@dataclass(frozen=True)
class FunctionSchema:
    """What torch says of an overload, whose text is the schema."""

    overload_name: str
    text: str

    def __str__(self) -> str:
        return self.text


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a stand-in be imported as torch."""

    def schemas(name: str) -> list[Any]:
        return [FunctionSchema(key, text) for key, text in SCHEMAS.get(name, {}).items()]

    aten = SimpleNamespace(
        xlogy=SimpleNamespace(Tensor=run_xlogy, OutTensor=run_xlogy),
        max=SimpleNamespace(dim=run_max),
    )
    module = SimpleNamespace(
        _C=SimpleNamespace(_jit_get_schemas_for_operator=schemas),
        ops=SimpleNamespace(aten=aten),
        Tensor=FakeTensor,
        bfloat16="bfloat16",
        from_numpy=FakeTensor,
        no_grad=nullcontext,
        set_num_threads=lambda count: None,  # pyright: ignore[reportUnknownLambdaType]  # a stand-in
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    torch_operators.forget()
    yield
    torch_operators.forget()


@pytest.mark.usefixtures("fake")
def test_a_name_leads_to_the_operator_with_its_own_schema() -> None:
    found = packed("libtorch_xlogy")
    assert found is not None
    assert found.spec is not None
    assert str(found.spec.schema) == "libtorch_xlogy(Tensor self, Tensor other) -> Tensor"
    x, y = np.array([2.0, 3.0]), np.array([1.0, 4.0])
    np.testing.assert_allclose(found.function(Given(by_schema(found.spec, (x, y)))), [0, 3 * np.log(4)])


@pytest.mark.usefixtures("fake")
def test_an_out_name_leads_to_the_overload_that_writes() -> None:
    found = packed("libtorch_xlogy_out")
    assert found is not None
    assert found.spec is not None
    assert found.writes == (2,)
    x, out = np.array([2.0]), np.zeros(1)
    assert found.function(Given(by_schema(found.spec, (x, x, out)))) is None
    np.testing.assert_allclose(out, 2 * np.log(2))


@pytest.mark.usefixtures("fake")
def test_an_overload_can_be_named_and_its_failure_is_a_refusal() -> None:
    found = packed("libtorch_max.dim")
    assert found is not None
    values, indices = found.function(Given({"self": np.array([[1, 5], [7, 2]]), "dim": 1, "keepdim": False}))
    assert (values.tolist(), indices.tolist()) == ([5, 7], [1, 0])
    with pytest.raises(ArgumentError, match=r"^Dimension out of range$"):
        found.function(Given({"self": np.zeros(2), "dim": 9, "keepdim": False}))


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    "name", ["libtorch_from_file", "libtorch_rand", "libtorch_relu_", "libtorch_save", "xlogy", "libtorch_full_like"]
)
def test_a_name_that_is_not_allowed_or_not_readable_leads_nowhere(name: str) -> None:
    assert packed(name) is None
    assert declaration(name) is None


def test_the_allowed_names_write_nothing_and_draw_no_numbers() -> None:
    for name in torch_operators.ALLOWED:
        assert not name.endswith("_")
        assert not any(word in name for word in ("rand", "file", "dropout", "bernoulli", "set_", "resize", "save"))


def test_this_process_does_not_ask_for_torch() -> None:
    assert HOST.find("libtorch_xlogy") is None
    assert DECLARED.find("libtorch_xlogy") is None


READ = {
    "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,"
    " bool? pin_memory=None) -> Tensor": "f(int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor",
    "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]": (
        "f(Tensor self, int split_size, int dim=0) -> Tensor[]"
    ),
    "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[]) -> Tensor": (
        "f(Tensor self, int[1] kernel_size, int[] stride=[]) -> Tensor"
    ),
    "aten::nan_to_num(Tensor self, float? nan=None) -> Tensor": "f(Tensor self, float? nan=None) -> Tensor",
    "aten::x(Tensor self, *, Generator? generator=None) -> Tensor": "f(Tensor self) -> Tensor",
    "aten::x(Dimname self) -> Tensor": None,
}


@pytest.mark.parametrize("text", READ)
def test_pytorchs_schemas_are_read_without_devices_and_layouts(text: str) -> None:
    found = read_schema(text, "f")
    assert (None if found is None else str(found)) == READ[text]


RNG = np.random.default_rng(7)
X = RNG.standard_normal((2, 3, 4)).astype("float32")
INTS = RNG.integers(-5, 5, (2, 3)).astype("int32")
B = INTS > 0
IMAGES, WEIGHTS = (
    RNG.standard_normal((2, 3, 6, 7)).astype("float32"),
    RNG.standard_normal((4, 3, 3, 2)).astype("float32"),
)
C = np.abs(RNG.standard_normal(3)).astype("float32") + 0.5
POINT = np.array(2.5, "float32")
ORDERS = (0, 1, 2, 3.5, float("inf"), -float("inf"))
# function of the library -> arguments; torch's function of the same name gets them too
SAME: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    *((f"libtorch_{name}", name, (X,)) for name in ("any", "norm")),
    *(("libtorch_add", "add", pair) for pair in ((X, X), (INTS, INTS), (B, B), (X, INTS[0, :1]))),
    *(("libtorch_add", "add", pair) for pair in ((INTS, POINT), (X, X[0, 0]))),
    *(("libtorch_gelu", "nn.functional.gelu", (x,)) for x in (X, X.astype("float64"), X.astype("float16"), POINT)),
    *(("libtorch_where", "where", (B, INTS, y)) for y in (INTS, INTS.astype("float64"), INTS[:, :1], POINT)),
    *(("libtorch_softmax", "softmax", (X, dim)) for dim in (0, -1)),
    *(("libtorch_sum", "sum", args) for args in ((X,), (INTS,), (B,), (X, (0, 2)), (X, (1,), True))),
    ("libtorch_sum", "sum", (X.astype("float16"),)),
    *(("libtorch_mean", "mean", args) for args in ((X,), (X, (0, 2)), (X, (1,), True))),
    *(("libtorch_norm", "norm", (X, p, (1,), keep)) for p in ORDERS for keep in (True, False)),
    *(("libtorch_cumsum", "cumsum", (x, 0)) for x in (X, INTS, B, POINT)),
    *(("libtorch_topk", "topk", (X, 2, 2, largest)) for largest in (True, False)),
    *(("libtorch_cat", "cat", (pair, 1)) for pair in ((X, X), (INTS, B), (INTS, INTS.astype("float16")))),
    ("libtorch_stack", "stack", ((X, X), -1)),
    *(("libtorch_split", "split", (X, size, dim)) for size, dim in ((2, 1), (3, 2), (9, 0))),
    ("libtorch_einsum", "einsum", ("abc,adc->bd", (X, X))),
    *(("libtorch_full", "full", ((2, 3), value)) for value in (1, 2.5)),
    *(("libtorch_arange", "arange", args) for args in ((0, 7, 2), (0.5, 3.0, 0.25), (5, 0, -2), (3, 3))),
    *(("libtorch_flip", "flip", (X, dims)) for dims in ((0,), (0, -1), ())),
    *(("libtorch_roll", "roll", args) for args in ((X, (1,)), (X, (1, -2), (0, 2)))),
    ("libtorch_index_select", "index_select", (X, 1, np.array([2, 0, 2]))),
    *(("libtorch_layer_norm", "layer_norm", args) for args in ((X, (4,)), (X, (3, 4), X[0], X[1]))),
    ("libtorch_batch_norm", "batch_norm", (IMAGES, C, C, C, C, False, 0.1, 1e-5, False)),
    ("libtorch_batch_norm", "batch_norm", (IMAGES, None, None, None, None, True, 0.1, 1e-5, False)),
    ("libtorch_constant_pad_nd", "constant_pad_nd", (X, (1, 2, -1, 0), 3.0)),
)  # fmt: skip


@pytest.mark.parametrize(("name", "operator", "args"), SAME, ids=[f"{item[0]}-{k}" for k, item in enumerate(SAME)])
def test_the_library_agrees_with_pytorch(name: str, operator: str, args: tuple[Any, ...]) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is optional: pip install torch")
    spec = PACKED[name]
    found = LIBRARY[name](Given(by_schema(spec, args)))
    expected = reduce(getattr, operator.split("."), torch)(*(to_torch(torch, item) for item in args))
    compare(found, expected)


def test_destinations_and_images_agree_with_pytorch() -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is optional: pip install torch")
    aten, t = torch.ops.aten, torch.from_numpy
    bias = C[[0, 1, 2, 0]]
    for stride, padding in (((1, 1), (0, 0)), ((2, 1), (1, 2))):
        expected = aten._slow_conv2d_forward(t(IMAGES), t(WEIGHTS), (3, 2), t(bias), stride, padding)
        out = np.zeros(expected.shape, "float32")
        run("libtorch_slow_conv2d_forward_out", IMAGES, WEIGHTS, (3, 2), bias, stride, padding, out)
        compare(out, expected)
    for low, high in ((None, 0.5), (-0.5, None), (0.5, -0.5)):
        out = np.zeros_like(X)
        run("libtorch_clamp_out", X, low, high, out)
        compare(out, torch.clamp(t(X), low, high))
    out = np.zeros_like(X)
    run("libtorch_leaky_relu_out", X, 0.2, out)
    compare(out, torch.nn.functional.leaky_relu(t(X), 0.2))
    for size in ((12, 7), (4, 5), (9, 20)):
        compare(run("libtorch_upsample_nearest2d", IMAGES, size), aten.upsample_nearest2d(t(IMAGES), list(size)))
    values, inverse, counts = run("libtorch_unique", INTS, True, True, True)
    for mine, other in zip((values, inverse, counts), torch.unique(t(INTS), True, True, True), strict=True):
        compare(mine, other)
    compare(run("libtorch_any", INTS, (1,), True), torch.any(t(INTS), 1, True))


def test_the_gradients_of_a_layer_norm_agree_with_pytorch() -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is optional: pip install torch")
    t, aten = torch.from_numpy, torch.ops.aten
    _, mean, rstd = aten.native_layer_norm(t(X), (3, 4), t(X[0]), t(X[1]), 1e-5)
    parts: tuple[Any, ...] = (t(X[::-1].copy()), t(X), (3, 4), mean, rstd, t(X[0]), t(X[1]), (True, True, True))
    expected = aten.native_layer_norm_backward(*parts)
    given = tuple(item.numpy() if hasattr(item, "numpy") else item for item in parts)
    for mine, other in zip(run("libtorch_native_layer_norm_backward", *given), expected, strict=True):
        compare(mine, other)


def run(name: str, *args: Any) -> Any:
    return LIBRARY[name](Given(by_schema(PACKED[name], args)))


def to_torch(torch: Any, value: Any) -> Any:
    if is_tuple(value):
        return [to_torch(torch, item) for item in value]
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def compare(found: Any, expected: Any) -> None:
    if is_tuple(found):
        for a, b in zip(found, expected, strict=True):
            compare(a, b)
        return
    other = expected.numpy()
    assert (found.shape, str(found.dtype)) == (other.shape, str(other.dtype))
    # float16 is summed in another order, and rounded once.
    rtol = 2e-3 if other.dtype == np.float16 else 2e-5
    np.testing.assert_allclose(found, other, rtol=rtol, atol=1e-6)
