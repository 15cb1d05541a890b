"""Operators to measure, by family: a Relax expression, the shapes of its inputs, and the same in NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Reference = Callable[[Array], Array] | Callable[[Array, Array], Array] | Callable[[Array, Array, Array], Array]
Family = Literal["transcendental", "row reductions", "contractions", "layout", "elementwise"]


@dataclass(frozen=True, slots=True)
class OperatorCase:
    """An operator on inputs `a`, `b`, ... of these shapes; `reference` computes it with NumPy."""

    name: str
    family: Family
    expression: str
    shapes: tuple[tuple[int, ...], ...]
    reference: Reference
    dtypes: tuple[str, ...] = ()
    """Of the inputs; float32 for those that are not named."""
    low: float = -2.0
    high: float = 2.0

    @property
    def text(self) -> str:
        """The program with the operator as its `main`."""
        pairs = zip("abcdefgh", self.shapes, strict=False)
        params = ", ".join(
            f'{name}: R.Tensor({shape}, "{self._dtype(position)}")' for position, (name, shape) in enumerate(pairs)
        )
        return (
            f"@I.ir_module\nclass Module:\n    @R.function\n    def main({params}):\n"
            f"        y = {self.expression}\n        return y\n"
        )

    def inputs(self) -> tuple[Array, ...]:
        """Make the inputs, the same ones each time; integers are indices into the first input."""
        random = np.random.default_rng(0)
        return tuple(self._input(random, position, shape) for position, shape in enumerate(self.shapes))

    def _dtype(self, position: int) -> str:
        return self.dtypes[position] if position < len(self.dtypes) else "float32"

    def _input(self, random: np.random.Generator, position: int, shape: tuple[int, ...]) -> Array:
        match self._dtype(position):
            case "bool":
                return random.integers(0, 2, shape).astype(bool)
            case "int32" | "int64" as dtype:
                return random.integers(0, self.shapes[0][0], shape, dtype=dtype)
            case dtype:
                return random.uniform(self.low, self.high, shape).astype(dtype)


def _erf(x: Array) -> Array:
    # Abramowitz and Stegun 7.1.26: NumPy has no error function; good to 1.5e-7.
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return (np.sign(x) * (1 - series * np.exp(-x * x))).astype(x.dtype)


def _softmax(x: Array) -> Array:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def _layer_norm(x: Array, gamma: Array, beta: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(1e-5)) * gamma + beta


def _rms_norm(x: Array, weight: Array) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5)) * weight


def _windows(x: Array, axes: tuple[int, int]) -> Array:
    width = [(0, 0)] * x.ndim
    for axis in axes:
        width[axis] = (1, 1)
    return np.lib.stride_tricks.sliding_window_view(np.pad(x, width), (3, 3), axis=axes)


def _conv_nchw(x: Array, w: Array) -> Array:
    return np.einsum("nchwij,ocij->nohw", _windows(x, (2, 3)), w, optimize=True)


def _conv_nhwc(x: Array, w: Array) -> Array:
    return np.einsum("nhwcij,ijco->nhwo", _windows(x, (1, 2)), w, optimize=True)


def _depthwise(x: Array, w: Array) -> Array:
    return np.einsum("nchwij,cij->nchw", _windows(x, (2, 3)), w[:, 0])


def _attention(q: Array, k: Array, v: Array) -> Array:
    heads = [np.swapaxes(item, 1, 2) for item in (q, k, v)]
    scores = heads[0] @ np.swapaxes(heads[1], 2, 3) / np.float32(np.sqrt(q.shape[-1]))
    return np.swapaxes(_softmax(scores) @ heads[2], 1, 2)


_MANY = (256, 1024)
_ROWS = (128, 1000)
_WIDE = (128, 768)
_IMAGE = (1, 64, 56, 56)

CASES: tuple[OperatorCase, ...] = (
    OperatorCase("exp", "transcendental", "R.exp(a)", (_MANY,), np.exp),
    OperatorCase("log", "transcendental", "R.log(a)", (_MANY,), np.log, low=0.1),
    OperatorCase("tanh", "transcendental", "R.tanh(a)", (_MANY,), np.tanh),
    OperatorCase("sigmoid", "transcendental", "R.sigmoid(a)", (_MANY,), lambda x: 1 / (1 + np.exp(-x))),
    OperatorCase("erf", "transcendental", "R.erf(a)", (_MANY,), _erf),
    OperatorCase("sin", "transcendental", "R.sin(a)", (_MANY,), np.sin),
    OperatorCase("cos", "transcendental", "R.cos(a)", (_MANY,), np.cos),
    OperatorCase("power", "transcendental", "R.power(a, b)", (_MANY, _MANY), np.power, low=0.1),
    OperatorCase("silu", "transcendental", "R.nn.silu(a)", (_MANY,), lambda x: x / (1 + np.exp(-x))),
    OperatorCase(
        "gelu", "transcendental", "R.nn.gelu(a)", (_MANY,), lambda x: x * (1 + _erf(x * np.float32(2**-0.5))) / 2
    ),
    OperatorCase("softmax 128x1000", "row reductions", "R.nn.softmax(a, axis=-1)", (_ROWS,), _softmax),
    OperatorCase(
        "log_softmax 128x1000",
        "row reductions",
        "R.nn.log_softmax(a, axis=-1)",
        (_ROWS,),
        lambda x: np.log(_softmax(x)),
    ),
    OperatorCase(
        "layer_norm 128x768",
        "row reductions",
        "R.nn.layer_norm(a, b, c, axes=[-1])",
        (_WIDE, (768,), (768,)),
        _layer_norm,
    ),
    OperatorCase("rms_norm 128x768", "row reductions", "R.nn.rms_norm(a, b, axes=[-1])", (_WIDE, (768,)), _rms_norm),
    OperatorCase(
        "sum of rows 1024x1024", "row reductions", "R.sum(a, axis=[-1])", ((1024, 1024),), lambda x: x.sum(-1)
    ),
    OperatorCase("mean of rows 128x768", "row reductions", "R.mean(a, axis=[-1])", (_WIDE,), lambda x: x.mean(-1)),
    OperatorCase("max of rows 128x1000", "row reductions", "R.max(a, axis=[-1])", (_ROWS,), lambda x: x.max(-1)),
    OperatorCase(
        "sum of columns 1024x1024", "row reductions", "R.sum(a, axis=[0])", ((1024, 1024),), lambda x: x.sum(0)
    ),
    OperatorCase("matmul 256", "contractions", "R.matmul(a, b)", ((256, 256), (256, 256)), np.matmul),
    OperatorCase("matmul 512", "contractions", "R.matmul(a, b)", ((512, 512), (512, 512)), np.matmul),
    OperatorCase("matmul 1024", "contractions", "R.matmul(a, b)", ((1024, 1024), (1024, 1024)), np.matmul),
    OperatorCase(
        "batch_matmul 8x128x128x64", "contractions", "R.matmul(a, b)", ((8, 128, 64), (8, 64, 128)), np.matmul
    ),
    OperatorCase(
        "dense 128x768 by 3072",
        "contractions",
        "R.matmul(a, R.permute_dims(b, axes=[1, 0]))",
        ((128, 768), (3072, 768)),
        lambda x, w: x @ w.T,
    ),
    OperatorCase(
        "dense 1x768 by 768",
        "contractions",
        "R.matmul(a, R.permute_dims(b, axes=[1, 0]))",
        ((1, 768), (768, 768)),
        lambda x, w: x @ w.T,
    ),
    OperatorCase(
        "conv2d 3x3 NCHW",
        "contractions",
        "R.nn.conv2d(a, b, padding=[1, 1, 1, 1])",
        (_IMAGE, (64, 64, 3, 3)),
        _conv_nchw,
    ),
    OperatorCase(
        "conv2d 3x3 NHWC",
        "contractions",
        'R.nn.conv2d(a, b, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO")',
        ((1, 56, 56, 64), (3, 3, 64, 64)),
        _conv_nhwc,
    ),
    OperatorCase(
        "depthwise conv2d 3x3 NCHW",
        "contractions",
        "R.nn.conv2d(a, b, padding=[1, 1, 1, 1], groups=64)",
        (_IMAGE, (64, 1, 3, 3)),
        _depthwise,
    ),
    OperatorCase("attention 1x128x8x64", "contractions", "R.nn.attention(a, b, c)", ((1, 128, 8, 64),) * 3, _attention),
    OperatorCase("transpose 1024", "layout", "R.permute_dims(a, axes=[1, 0])", ((1024, 1024),), lambda x: x.T.copy()),
    OperatorCase(
        "transpose NCHW to NHWC",
        "layout",
        "R.permute_dims(a, axes=[0, 2, 3, 1])",
        (_IMAGE,),
        lambda x: x.transpose(0, 2, 3, 1).copy(),
    ),
    OperatorCase(
        "concat", "layout", "R.concat((a, b), axis=1)", (_MANY, _MANY), lambda x, y: np.concatenate((x, y), 1)
    ),
    OperatorCase(
        "take of rows",
        "layout",
        "R.take(a, b, axis=0)",
        ((1024, 256), (512,)),
        lambda x, at: np.take(x, at, 0),
        dtypes=("float32", "int64"),
    ),
    OperatorCase(
        "pad", "layout", "R.nn.pad(a, pad_width=[2, 2, 3, 3])", (_MANY,), lambda x: np.pad(x, ((2, 2), (3, 3)))
    ),
    OperatorCase(
        "strided_slice",
        "layout",
        "R.strided_slice(a, axes=[0, 1], begin=[8, 2], end=[248, 1000], strides=[1, 2])",
        (_MANY,),
        lambda x: x[8:248, 2:1000:2].copy(),
    ),
    OperatorCase("reshape", "layout", "R.reshape(a, R.shape([1024, 256]))", (_MANY,), lambda x: x.reshape(1024, 256)),
    OperatorCase(
        "broadcast_to",
        "layout",
        "R.broadcast_to(a, R.shape([256, 1024]))",
        ((1024,),),
        lambda x: np.broadcast_to(x, _MANY).copy(),
    ),
    OperatorCase("flip", "layout", "R.flip(a, axis=1)", (_MANY,), lambda x: x[:, ::-1].copy()),
    OperatorCase("tile", "layout", "R.tile(a, repeats=[2, 2])", (_MANY,), lambda x: np.tile(x, (2, 2))),
    OperatorCase("add", "elementwise", "R.add(a, b)", (_MANY, _MANY), np.add),
    OperatorCase("add of a row", "elementwise", "R.add(a, b)", (_MANY, (1024,)), np.add),
    OperatorCase("multiply", "elementwise", "R.multiply(a, b)", (_MANY, _MANY), np.multiply),
    OperatorCase("divide", "elementwise", "R.divide(a, b)", (_MANY, _MANY), np.divide, low=0.5),
    OperatorCase("relu", "elementwise", "R.nn.relu(a)", (_MANY,), lambda x: np.maximum(x, 0)),
    OperatorCase("clip", "elementwise", "R.clip(a, -1, 1)", (_MANY,), lambda x: np.clip(x, -1, 1)),
    OperatorCase("sqrt", "elementwise", "R.sqrt(a)", (_MANY,), np.sqrt, low=0.0),
    OperatorCase(
        "where",
        "elementwise",
        "R.where(a, b, c)",
        (_MANY,) * 3,
        lambda at, x, y: np.where(at, x, y),
        dtypes=("bool", "float32", "float32"),
    ),
    OperatorCase("astype float16", "elementwise", 'R.astype(a, "float16")', (_MANY,), lambda x: x.astype("float16")),
)
