"""Calls of Relay's operators on arrays, with what NumPy computes for them: relations must agree with its shapes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.ir.attrs import AttrValue
from tests.callables import Compute

Array: TypeAlias = npt.NDArray[Any]
Value: TypeAlias = "Array | tuple[Array, ...]"


@dataclass(frozen=True)
class Case:
    """A call: the operator, its arguments, its attributes, and the function that computes it on the arguments."""

    op: str
    args: tuple[Value, ...]
    compute: Compute[Value, Any]
    attrs: Mapping[str, AttrValue] = field(default_factory=dict[str, AttrValue])

    def __str__(self) -> str:
        return f"{self.op} {' '.join(f'{key}={value}' for key, value in self.attrs.items())}".strip()


def f(*shape: int, dtype: str = "float32") -> Array:
    return np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape).astype(dtype)


def i(*values: int, dtype: str = "int32") -> Array:
    return np.array(values, dtype=dtype)


UNARY = ("abs", "ceil", "cos", "exp", "floor", "log", "negative", "sign", "sin", "sqrt", "tan", "tanh", "trunc")
ARITHMETIC = ("add", "subtract", "multiply", "divide", "floor_divide", "power", "maximum", "minimum")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
REDUCTIONS = ("sum", "mean", "max", "min", "prod")
X = f(2, 3, 4)


def windows(data: Array, kernel: tuple[int, int], strides: tuple[int, int], padding: tuple[int, ...]) -> Array:
    padded = np.pad(data, ((0, 0), (0, 0), (padding[0], padding[2]), (padding[1], padding[3])))
    view = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))
    return view[:, :, :: strides[0], :: strides[1]]


def conv(data: Array, weight: Array, strides: tuple[int, int], padding: tuple[int, ...]) -> Array:
    return np.einsum("nchwij,ocij->nohw", windows(data, weight.shape[2:], strides, padding), weight)


def pool(data: Array, kernel: tuple[int, int], strides: tuple[int, int], padding: tuple[int, ...]) -> Array:
    return windows(data, kernel, strides, padding).max(axis=(-1, -2))


def normalised(x: Array, g: Array, b: Array, m: Array, v: Array) -> tuple[Array, ...]:
    shape = (1, -1, 1, 1)
    return (x - m.reshape(shape)) / np.sqrt(v.reshape(shape)) * g.reshape(shape) + b.reshape(shape), m, v


IMAGE, WEIGHT, C = f(1, 3, 9, 7), f(4, 3, 3, 2), f(3)

CASES = (
    *(Case(name, (X,), getattr(np, name)) for name in UNARY),
    *(Case(name, (X, f(3, 1)), getattr(np, name)) for name in (*ARITHMETIC, *COMPARISONS)),
    Case("mod", (i(7, 8, 9), i(2)), np.fmod),
    Case("logical_and", (X > 0.5, X < 0.7), np.logical_and),
    Case("left_shift", (i(1, 2), i(1)), np.left_shift),
    Case("isnan", (X,), np.isnan),
    Case("nn.relu", (X,), lambda x: np.maximum(x, 0)),
    Case("nn.softmax", (X,), lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
    Case("clip", (X,), lambda x: np.clip(x, 0, 1), {"a_min": 0.0, "a_max": 1.0}),
    Case("cast", (X,), lambda x: x.astype("int8"), {"dtype": "int8"}),
    Case("where", (X > 0.5, X, f(4)), np.where),
    *(Case(name, (X,), getattr(np, name)) for name in REDUCTIONS),
    *(Case(name, (X,), lambda x, name=name: getattr(np, name)(x, axis=(0, 2), keepdims=True),
           {"axis": (0, -1), "keepdims": True}) for name in REDUCTIONS),
    *(Case(name, (X,), lambda x, name=name: getattr(np, name)(x, axis=(0, 2)), {"axis": 1, "exclude": True})
      for name in REDUCTIONS),
    Case("variance", (X, X.mean(axis=1, keepdims=True)), lambda x, m: np.var(x, axis=1), {"axis": 1}),
    Case("all", (X > 0,), lambda x: np.all(x, axis=0), {"axis": 0}),
    Case("argmax", (X,), lambda x: np.argmax(x, axis=1).astype("int32"), {"axis": 1}),
    Case("argsort", (X,), lambda x: np.argsort(x, axis=-1).astype("int32")),
    Case("sort", (X,), np.sort),
    Case("cumsum", (X,), lambda x: np.cumsum(x, dtype="float32")),
    Case("cumsum", (X,), lambda x: np.cumsum(x, axis=1, dtype="float32"), {"axis": 1}),
    Case("topk", (X,), lambda x: (np.sort(x)[..., :2], np.argsort(x)[..., :2].astype("int32")), {"k": 2}),
    *(Case("reshape", (X,), lambda x, to=to: x.reshape(to), {"newshape": new}) for new, to in (
        ((4, -1), (4, 6)), ((0, -1), (2, 12)), ((-2,), (2, 3, 4)), ((-3, 4), (6, 4)), ((-4, 1, 2, -2), (1, 2, 3, 4)),
        ((-3, -4, 2, -1), (6, 2, 2)), ((24,), (24,)), ((-4, -1, 2, -3), (1, 2, 12)), ((2, -4, 3, 1, 4), (2, 3, 1, 4)),
    )),
    Case("contrib_reverse_reshape", (X,), lambda x: x.reshape(6, 4), {"newshape": (-1, 0)}),
    Case("transpose", (X,), np.transpose),
    Case("transpose", (X,), lambda x: np.transpose(x, (1, 2, 0)), {"axes": (1, -1, 0)}),
    Case("expand_dims", (X,), lambda x: x.reshape(2, 1, 1, 3, 4), {"axis": 1, "num_newaxis": 2}),
    Case("expand_dims", (X,), lambda x: x.reshape(2, 3, 4, 1), {"axis": -1}),
    Case("squeeze", (f(1, 3, 1),), np.squeeze),
    Case("squeeze", (f(1, 3, 1),), lambda x: np.squeeze(x, -1), {"axis": (-1,)}),
    Case("concatenate", ((X, f(2, 1, 4)),), lambda xs: np.concatenate(xs, 1), {"axis": 1}),
    Case("stack", ((X, X, X),), lambda xs: np.stack(xs, -1), {"axis": -1}),
    Case("split", (X,), lambda x: tuple(np.split(x, 2, 2)), {"indices_or_sections": 2, "axis": 2}),
    Case("split", (X,), lambda x: tuple(np.split(x, [1, 3], -1)), {"indices_or_sections": (1, 3), "axis": -1}),
    Case("broadcast_to", (f(3, 1),), lambda x: np.broadcast_to(x, (2, 3, 4)), {"shape": (2, 3, 4)}),
    Case("repeat", (X,), lambda x: np.repeat(x, 3, -1), {"repeats": 3, "axis": -1}),
    Case("tile", (X,), lambda x: np.tile(x, (2, 1, 1, 3)), {"reps": (2, 1, 1, 3)}),
    Case("reverse", (X,), lambda x: np.flip(x, 1), {"axis": 1}),
    Case("layout_transform", (f(1, 4, 2, 2),), lambda x: x.reshape(1, 2, 2, 2, 2).transpose(0, 1, 3, 4, 2),
         {"src_layout": "NCHW", "dst_layout": "NCHW2c"}),
    Case("layout_transform", (f(1, 4, 2, 3),), lambda x: x.transpose(0, 2, 3, 1),
         {"src_layout": "NCHW", "dst_layout": "NHWC"}),
    Case("take", (X, i(0, 2)), lambda x, at: np.take(x, at, 1), {"axis": 1}),
    Case("take", (X, i(0, 2)), np.take),
    Case("gather", (X, np.zeros((2, 1, 4), "int32")), lambda x, at: np.take_along_axis(x, at, 1), {"axis": 1}),
    Case("gather_nd", (X, np.zeros((2, 5), "int32")), lambda x, at: x[tuple(at)]),
    Case("one_hot", (i(0, 2), f(), f()), lambda at, on, off: np.eye(4, dtype="float32")[at],
         {"depth": 4, "dtype": "float32"}),
    *(Case("strided_slice", (X,), lambda x, cut=cut: x[cut], attrs) for cut, attrs in (
        ((slice(0, 1), slice(1, 3)), {"begin": (0, 1), "end": (1, 3)}),
        ((slice(None), slice(-2, 3), slice(0, 4, 2)), {"begin": (0, -2, 0), "end": (2, 3, 9), "strides": (1, 1, 2)}),
        ((slice(None), slice(None), slice(3, 0, -1)), {"begin": (3,), "end": (0,), "strides": (-1,), "axes": (2,)}),
        ((slice(0, 1), slice(1, None)), {"begin": (0, 1), "end": (1, -1), "slice_mode": "size"}),
    )),
    Case("slice_like", (X, f(1, 2, 9)), lambda x, like: x[:1, :2], {"axes": (0, 1)}),
    Case("meshgrid", ((f(2), f(3)),), lambda xs: tuple(np.meshgrid(*xs, indexing="ij"))),
    Case("adv_index", ((X, i(0, 1), i(2, 0)),), lambda xs: xs[0][xs[1], xs[2]]),
    Case("zeros", (), lambda: np.zeros((2, 3), "int8"), {"shape": (2, 3), "dtype": "int8"}),
    Case("full", (f(),), lambda x: np.full((2, 3), x), {"shape": (2, 3)}),
    Case("arange", (i(1)[0], i(8)[0], i(2)[0]), lambda a, b, c: np.arange(a, b, c, dtype="int32")),
    Case("shape_of", (X,), lambda x: i(*x.shape)),
    Case("ndarray_size", (X,), lambda x: np.array(x.size, "int32")),
    Case("nn.dense", (X, f(5, 4)), lambda x, w: x @ w.T, {"units": 5}),
    Case("nn.matmul", (X, f(2, 4, 5)), np.matmul),
    Case("nn.matmul", (f(4, 3), f(4, 5)), lambda a, b: a.T @ b, {"transpose_a": True}),
    Case("nn.batch_matmul", (X, f(1, 5, 4)), lambda a, b: a @ b.transpose(0, 2, 1)),
    Case("nn.bias_add", (IMAGE, C), lambda x, b: x + b.reshape(3, 1, 1)),
    Case("nn.batch_norm", (IMAGE, C, C, C, C), normalised),
    Case("nn.batch_flatten", (IMAGE,), lambda x: x.reshape(1, -1)),
    Case("nn.pad", (f(2, 3), f()), lambda x, v: np.pad(x, ((1, 2), (0, 3))), {"pad_width": ((1, 2), (0, 3))}),
    *(Case("nn.conv2d", (IMAGE, WEIGHT), lambda x, w, s=s, p=p: conv(x, w, s, p), {"strides": s, "padding": given})
      for s in ((1, 1), (2, 3)) for given, p in (((0, 0), (0,) * 4), ((1, 2), (1, 2, 1, 2)), ((1, 0, 2, 3),) * 2)),
    Case("nn.conv2d", (IMAGE.transpose(0, 2, 3, 1), WEIGHT.transpose(2, 3, 1, 0)),
         lambda x, w: conv(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (1, 1), (0,) * 4).transpose(0, 2, 3, 1),
         {"data_layout": "NHWC", "kernel_layout": "HWIO", "channels": 4, "kernel_size": (3, 2)}),
    *(Case("nn.max_pool2d", (IMAGE,), lambda x, s=s, p=p: pool(x, (3, 2), s, p),
           {"pool_size": (3, 2), "strides": s, "padding": p}) for s in ((1, 1), (2, 2))
      for p in ((0,) * 4, (1, 0, 1, 1))),
    Case("nn.global_avg_pool2d", (IMAGE,), lambda x: x.mean((2, 3), keepdims=True)),
    Case("nn.upsampling", (IMAGE,), lambda x: x.repeat(2, 2).repeat(3, 3), {"scale_h": 2, "scale_w": 3}),
    Case("nn.space_to_depth", (f(1, 2, 4, 6),), lambda x: x.reshape(1, 8, 2, 3), {"block_size": 2}),
    Case("nn.depth_to_space", (f(1, 8, 2, 3),), lambda x: x.reshape(1, 2, 4, 6), {"block_size": 2}),
    Case("einsum", ((f(2, 3), f(3, 4)),), lambda xs: np.einsum("ij,jk->ik", *xs), {"equation": "ij,jk->ik"}),
    Case("image.resize2d", (IMAGE,), lambda x: f(1, 3, 5, 6), {"size": (5, 6)}),
    Case("qnn.quantize", (X, f(), i(0)[0]), lambda x, s, z: x.astype("uint8"), {"out_dtype": "uint8"}),
    Case("vm.shape_of", (X,), lambda x: np.array(x.shape, "int64")),
    Case("on_device", (X,), lambda x: x),
)  # fmt: skip
