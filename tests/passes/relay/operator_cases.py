"""Calls of Relay operators as text, with arguments and what NumPy computes for them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tests.callables import Compute

Array: TypeAlias = npt.NDArray[Any]

erf = np.vectorize(math.erf)


@dataclass(frozen=True)
class Case:
    """A call on `%a`, `%b`, ... and the function that computes it, a value or a tuple of values."""

    text: str
    args: tuple[Array, ...]
    compute: Compute[Any, Array]

    @property
    def op(self) -> str:
        """The operator's name."""
        return self.text.partition("(")[0]

    def __str__(self) -> str:
        return self.text


def f(*shape: int, low: float = -1.0, high: float = 1.0) -> Array:
    size = int(np.prod(shape))
    order = np.random.default_rng(size).permutation(size)
    return np.linspace(low, high, size)[order].reshape(shape).astype("float32")


def i(*values: int, dtype: str = "int32") -> Array:
    return np.array(values, dtype=dtype)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def windows(x: Array, kernel: int, step: int, before: int = 0, fill: float = -np.inf) -> Array:
    """Windows of the last two axes: `(..., h, w, kernel, kernel)`."""
    padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(before, before)] * 2, constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(-2, -1))
    return view[..., ::step, ::step, :, :]


def standard(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def real(q: Array, scale: float, zero: int) -> Array:
    return (q.astype("float32") - zero) * np.float32(scale)


def quantized(x: Array, scale: float, zero: int, dtype: str = "int8") -> Array:
    info = np.iinfo(dtype)
    return np.clip(np.round(x / scale) + zero, info.min, info.max).astype(dtype)


X, Y = f(2, 3, 4), f(2, 3, 4, low=0.1, high=2.0)
B, C = np.array([True, False, True]), np.array([True, True, False])
N, M = i(7, -7, 8, 5), i(2, 2, -3, 1)
IMAGE = f(1, 2, 4, 6)
Q = i(-20, 0, 5, 40, dtype="int8")
Q2 = i(1, 2, 3, -4, dtype="int8")
SCALES = "0.5f, 3, 0.25f, -1"


def blocks_to_space(x: Array, b: int) -> Array:
    n, c, h, w = x.shape
    return x.reshape(n, b, b, c // b // b, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // b // b, h * b, w * b)


def elements() -> list[Case]:
    unary: dict[str, tuple[Array, Callable[[Array], Array]]] = {
        "acos": (X, np.arccos), "acosh": (Y + 1, np.arccosh), "asin": (X, np.arcsin), "asinh": (X, np.arcsinh),
        "atan": (X, np.arctan), "atanh": (X * 0.9, np.arctanh), "cosh": (X, np.cosh), "sinh": (X, np.sinh),
        "erf": (X, erf), "fast_erf": (X, erf), "fast_exp": (X, np.exp), "fast_tanh": (X, np.tanh),
        "rsqrt": (Y, lambda x: 1 / np.sqrt(x)), "sigmoid": (X, lambda x: 1 / (1 + np.exp(-x))),
        "log2": (Y, np.log2), "log10": (Y, np.log10), "isfinite": (X, np.isfinite), "isinf": (X, np.isinf),
        "isnan": (X, np.isnan), "logical_not": (B, np.logical_not), "bitwise_not": (N, np.invert),
        "round": (X * 3 + 0.1, np.round), "copy": (X, np.copy), "zeros_like": (X, np.zeros_like),
        "ones_like": (X, np.ones_like), "nn.fast_softmax": (X, softmax),
        "nn.log_softmax": (X, lambda x: np.log(softmax(x))),
    }  # fmt: skip
    binary: dict[str, tuple[Array, Array, Callable[[Array, Array], Any]]] = {
        "bitwise_and": (N, M, np.bitwise_and), "bitwise_or": (N, M, np.bitwise_or),
        "bitwise_xor": (N, M, np.bitwise_xor), "logical_and": (B, C, np.logical_and),
        "logical_or": (B, C, np.logical_or), "logical_xor": (B, C, np.logical_xor),
        "right_shift": (np.abs(N), np.abs(M), np.right_shift), "left_shift": (N, np.abs(M), np.left_shift),
        "floor_mod": (N, M, np.mod), "mod": (N, M, np.fmod), "trunc_mod": (N, M, np.fmod),
        "trunc_divide": (N, M, lambda a, b: np.trunc(a / b).astype("int32")),
        "broadcast_to_like": (f(3, 1), f(2, 3, 4), lambda a, b: np.broadcast_to(a, b.shape)),
        "collapse_sum_like": (X, f(3, 1), lambda a, b: a.sum(0).sum(-1, keepdims=True)),
        "reshape_like": (X, f(6, 4), lambda a, b: a.reshape(b.shape)),
        "cast_like": (Y, N, lambda a, b: a.astype("int32")), "full_like": (X, np.array(2.5, "float32"), np.full_like),
        "nn.prelu": (f(1, 3, 2, 2), f(3), lambda x, a: np.where(x < 0, x * a.reshape(1, 3, 1, 1), x)),
        "nn.cross_entropy": (Y[0], X[0], lambda p, t: -(t * np.log(p)).sum() / 3),
        "nn.cross_entropy_with_logits": (Y[0], X[0], lambda p, t: -(t * p).sum() / 3),
    }  # fmt: skip
    return [
        *(Case(f"{name}(%a)", (x,), compute) for name, (x, compute) in unary.items()),
        *(Case(f"{name}(%a, %b)", (a, b), compute) for name, (a, b, compute) in binary.items()),
        Case("nn.leaky_relu(%a, alpha=0.2f)", (X,), lambda x: np.where(x < 0, x * 0.2, x)),
        Case("clip(%a, a_min=-3f, a_max=6f)", (N,), lambda x: np.clip(x, -3, 6)),
        Case("nn.bias_add(%a, %b, axis=1)", (X, f(3)), lambda x, b: x + b.reshape(1, 3, 1)),
        Case("fixed_point_multiply(%a, multiplier=1073741824, shift=1)", (N,), lambda x: x),
        Case('reinterpret(%a, dtype="int32")', (X,), lambda x: x.view("int32")),
        Case("nn.lrn(%a, size=3, alpha=0.5f)", (f(1, 4, 2, 2),), _lrn),
        Case("nn.l2_normalize(%a, eps=1e-6f, axis=[1])", (X,),
             lambda x: x / np.sqrt(np.maximum((x * x).sum(1, keepdims=True), 1e-6))),
        Case("nn.dropout(%a)", (X,), lambda x: (x, np.ones_like(x))),
    ]  # fmt: skip


def _lrn(x: Array) -> Array:
    padded = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    total = sum(padded[:, k : k + x.shape[1]] for k in range(3))
    return x / (2 + 0.5 / 3 * total) ** 0.75


def networks() -> list[Case]:
    g, b = f(3, low=0.5), f(3)
    data, weight = f(1, 2, 5, 5), f(3, 2, 3, 3)
    return [
        Case("nn.matmul(%a, %b, transpose_b=True)", (f(2, 3), f(4, 3)), lambda a, b: a @ b.T),
        Case("nn.batch_matmul(%a, %b)", (f(2, 3, 4), f(2, 5, 4)), lambda a, b: a @ b.transpose(0, 2, 1)),
        Case("nn.conv1d(%a, %b)", (f(1, 2, 6), f(3, 2, 3)),
             lambda x, w: np.einsum("nciw,ocw->noi", np.lib.stride_tricks.sliding_window_view(x, 3, 2), w)),
        Case("nn.conv2d(%a, %b, padding=[1, 1, 1, 1])", (data, weight),
             lambda x, w: np.einsum("nchwij,ocij->nohw", windows(x, 3, 1, 1, 0.0), w)),
        Case("nn.conv2d_transpose(%a, %b)", (f(1, 2, 3, 3), f(2, 3, 2, 2)), _transposed),
        Case("nn.max_pool2d(%a, pool_size=[2, 2], strides=[2, 2])", (IMAGE,), lambda x: windows(x, 2, 2).max((-1, -2))),
        Case("nn.avg_pool2d(%a, pool_size=[2, 2], strides=[2, 2])", (IMAGE,),
             lambda x: windows(x, 2, 2).mean((-1, -2))),
        Case("nn.max_pool1d(%a, pool_size=[2])", (X,), lambda x: np.maximum(x[..., 1:], x[..., :-1])),
        Case("nn.avg_pool1d(%a, pool_size=[2])", (X,), lambda x: (x[..., 1:] + x[..., :-1]) / 2),
        Case("nn.global_avg_pool2d(%a)", (IMAGE,), lambda x: x.mean((2, 3), keepdims=True)),
        Case('nn.global_max_pool2d(%a, layout="NHWC")', (IMAGE,), lambda x: x.max((1, 2), keepdims=True)),
        Case("nn.adaptive_avg_pool2d(%a, output_size=[2, 2])", (IMAGE,),
             lambda x: x.reshape(1, 2, 2, 2, 2, 3).mean((3, 5))),
        Case("nn.adaptive_max_pool2d(%a, output_size=[2, 2])", (IMAGE,),
             lambda x: x.reshape(1, 2, 2, 2, 2, 3).max((3, 5))),
        Case("nn.batch_norm(%a, %b, %c, %d, %e)", (f(2, 3, 4), g, b, f(3), np.abs(f(3)) + 1),
             lambda x, g, b, m, v: ((x - m.reshape(3, 1)) / np.sqrt(v.reshape(3, 1) + 1e-5) * g.reshape(3, 1)
                                    + b.reshape(3, 1), m, v)),
        Case("nn.layer_norm(%a, %b, %c)", (f(2, 3), g, b), lambda x, g, b: standard(x, (1,)) * g + b),
        Case("nn.instance_norm(%a, %b, %c)", (f(2, 3, 4), g, b),
             lambda x, g, b: standard(x, (2,)) * g.reshape(3, 1) + b.reshape(3, 1)),
        Case("nn.group_norm(%a, %b, %c, num_groups=3)", (f(2, 3, 4), g, b),
             lambda x, g, b: standard(x, (2,)) * g.reshape(3, 1) + b.reshape(3, 1)),
        Case('nn.mirror_pad(%a, mode="REFLECT", pad_width=[[1, 1], [2, 1]])', (f(3, 4),),
             lambda x: np.pad(x, ((1, 1), (2, 1)), mode="reflect")),
        Case("nn.pad(%a, 1.5f, pad_width=[[1, 0], [0, 2]])", (f(3, 4),),
             lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=1.5)),
        Case("nn.nll_loss(%a, %b, %c)", (f(3, 4), i(0, 3, 1), np.ones(4, "float32")),
             lambda p, t, w: -p[np.arange(3), t].mean()),
        Case('nn.upsampling3d(%a, scale_d=2f, scale_h=1f, scale_w=2f)', (f(1, 1, 2, 2, 3),),
             lambda x: x.repeat(2, 2).repeat(2, 4)),
        Case('dyn.nn.upsampling(%a, 2f, 2f)', (IMAGE,), lambda x: x.repeat(2, 2).repeat(2, 3)),
        Case('image.resize1d(%a, size=[8], method="nearest_neighbor", coordinate_transformation_mode="asymmetric", '
             'rounding_method="floor")', (X,), lambda x: x.repeat(2, 2)),
        Case("dft(%a, %b)", (f(2, 5), f(2, 5) * 0.5), lambda a, b: (np.fft.fft(a + 1j * b).real,
                                                                  np.fft.fft(a + 1j * b).imag)),
        Case("dft(%a, %b, inverse=True)", (f(2, 5), f(2, 5) * 0.5), lambda a, b: (np.fft.ifft(a + 1j * b).real,
                                                                                np.fft.ifft(a + 1j * b).imag)),
        Case("vision.roi_align(%a, %b, pooled_size=[2, 2], spatial_scale=1f)",
             (np.ones((1, 1, 4, 4), "float32"), np.array([[0, 0, 0, 3, 3]], "float32")),
             lambda x, r: np.ones((1, 1, 2, 2))),
        Case("vision.roi_pool(%a, %b, pooled_size=[2, 2], spatial_scale=1f)",
             (np.arange(16, dtype="float32").reshape(1, 1, 4, 4), np.array([[0, 0, 0, 3, 3]], "float32")),
             lambda x, r: np.array([[[[5, 7], [13, 15]]]])),
        Case("nn.upsampling(%a, scale_h=2f, scale_w=2f)", (IMAGE,), lambda x: x.repeat(2, 2).repeat(2, 3)),
    ]  # fmt: skip


def _transposed(x: Array, w: Array) -> Array:
    out = np.zeros((1, 3, 4, 4), "float32")
    for h in range(3):
        for k in range(3):
            out[:, :, h : h + 2, k : k + 2] += np.einsum("nc,coij->noij", x[:, :, h, k], w)
    return out


def places() -> list[Case]:
    index = i(0, 2, dtype="int64").reshape(1, 2)
    return [
        Case("collapse_sum_to(%a, shape=[3, 1])", (X,), lambda x: x.sum(0).sum(-1, keepdims=True)),
        Case("trilu(%a, 0)", (f(3, 3),), np.triu),
        Case("trilu(%a, 1, upper=False)", (f(3, 3),), lambda x: np.tril(x, 1)),
        Case("reverse_sequence(%a, %b, seq_axis=1, batch_axis=0)", (f(2, 3), i(2, 3)),
             lambda x, n: np.stack([np.r_[x[0, 1::-1], x[0, 2:]], x[1, ::-1]])),
        Case("nn.space_to_batch_nd(%a, block_shape=[2, 2], paddings=[[0, 0], [1, 1]])", (f(1, 4, 4, 1),), _to_batch),
        Case("nn.batch_to_space_nd(%a, block_shape=[2, 2], crops=[[0, 0], [0, 1]])", (f(4, 2, 2, 1),),
             lambda x: x.reshape(2, 2, 1, 2, 2, 1).transpose(2, 3, 0, 4, 1, 5).reshape(1, 4, 4, 1)[:, :, :3]),
        Case('nn.depth_to_space(%a, block_size=2, mode="DCR")', (f(1, 8, 2, 3),), lambda x: blocks_to_space(x, 2)),
        Case("nn.space_to_depth(%a, block_size=2)", (f(1, 2, 4, 6),),
             lambda x: x.reshape(1, 2, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3)),
        Case('layout_transform(%a, src_layout="NCHW", dst_layout="NCHW2c")', (f(1, 4, 2, 3),),
             lambda x: x.reshape(1, 2, 2, 2, 3).transpose(0, 1, 3, 4, 2)),
        Case('layout_transform(%a, src_layout="NCHW2c", dst_layout="NHWC")', (f(1, 2, 2, 3, 2),),
             lambda x: x.transpose(0, 2, 3, 1, 4).reshape(1, 2, 3, 4)),
        Case("strided_set(%a, %b, [0, 1], [2, 3], [1, 1])", (f(2, 4), f(2, 2)),
             lambda x, v: np.concatenate([x[:, :1], v, x[:, 3:]], 1)),
        Case("scatter(%a, %b, %c, axis=1)", (f(2, 3), i(2, 0).reshape(2, 1), f(2, 1)), _scattered),
        Case("scatter_add(%a, %b, %c, axis=0)", (f(3), i(1, 1), f(2)), lambda x, n, u: x + np.array([0, u.sum(), 0])),
        Case('scatter_elements(%a, %b, %c, reduction="add")', (f(3), i(1, 1), f(2)),
             lambda x, n, u: x + np.array([0, u.sum(), 0])),
        Case("scatter_nd(%a, %b, %c)", (f(3), index, f(2)), lambda x, n, u: np.array([u[0], x[1], u[1]])),
        Case("gather_nd(%a, %b)", (f(3, 2), i(0, 2, 1, 1).reshape(2, 2)), lambda x, n: x[n[0], n[1]]),
        Case("one_hot(%a, 2f, -1f, depth=3, dtype=\"float32\")", (i(0, 2),),
             lambda n: np.where(np.arange(3) == n[:, None], 2.0, -1.0)),
        Case("sequence_mask(%a, %b, mask_value=9f)", (f(3, 2, 2), i(1, 3)),
             lambda x, n: np.where((np.arange(3)[:, None] < n)[..., None], x, 9.0)),
        Case("unravel_index(%a, %b)", (i(5, 7), i(3, 4)), lambda n, s: np.stack(np.unravel_index(n, (3, 4)))),
        Case("searchsorted(%a, %b)", (i(1, 3, 5), i(3, 4)), np.searchsorted),
        Case("sparse_to_dense(%a, %b, -1, output_shape=[4])", (i(0, 2), i(7, 8)),
             lambda n, v: np.array([7, -1, 8, -1])),
        Case("sparse_to_dense(%a, %b, output_shape=[2, 2])", (i(0, 1, 1, 0).reshape(2, 2), i(7, 8)),
             lambda n, v: np.array([[0, 7], [8, 0]])),
        Case("invert_permutation(%a)", (i(2, 0, 1),), np.argsort),
        Case("argwhere(%a)", (B,), np.argwhere),
        Case("nn.fifo_buffer(%a, %b, axis=0)", (f(1, 2), f(3, 2)), lambda d, b: np.concatenate([b, d])[1:]),
        Case("sliding_window(%a, axis=0, window_shape=[2, 2], strides=[1, 1])", (f(3, 4),),
             lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2))),
        Case("strided_slice(%a, begin=[0, 1], end=[2, -1], slice_mode=\"size\")", (f(3, 4),), lambda x: x[:2, 1:]),
        Case("slice_like(%a, %b)", (f(3, 4), f(2, 2)), lambda x, y: x[:2, :2]),
        Case("take(%a, %b, axis=1, mode=\"wrap\")", (f(2, 3), i(4, -1)), lambda x, n: x[:, n % 3]),
    ]  # fmt: skip


def _to_batch(x: Array) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    return padded.reshape(1, 2, 2, 3, 2, 1).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 3, 1)


def _scattered(x: Array, n: Array, u: Array) -> Array:
    result = x.copy()
    np.put_along_axis(result, n, u, 1)
    return result


def priors(image: Any) -> Any:
    """Boxes of two sizes and one further ratio around the middle of each cell, in the order x, y, x, y."""
    height, width = image.shape[2:]
    rows: list[list[float]] = []
    for row in range(height):
        for column in range(width):
            x, y = (column + 0.5) / width, (row + 0.5) / height
            for w, h in ((0.5, 0.5), (0.25, 0.25), (1.0, 0.25)):
                half = w * height / width / 2, h / 2
                rows.append([x - half[0], y - half[1], x + half[0], y + half[1]])
    return np.clip(np.array([rows]), 0, 1)


def made() -> list[Case]:
    return [
        Case("any(%a)", (B,), np.any),
        Case("all(%a, axis=[1])", (np.array([[True, False], [True, True]]),), lambda x: x.all(1)),
        Case("sum(%a, axis=[1], exclude=True)", (X,), lambda x: x.sum((0, 2))),
        Case("mean(%a)", (i(1, 2, 6),), np.mean),
        Case("variance(%a, %b, axis=[1])", (f(2, 3), f(2, 1)), lambda x, m: ((x - m) ** 2).mean(1)),
        Case("variance(%a, %b, axis=[1], unbiased=True)", (f(2, 3), f(2, 3).mean(1, keepdims=True)),
             lambda x, m: x.var(1, ddof=1)),
        Case("argmin(%a, axis=[1])", (X,), lambda x: x.argmin(1)),
        Case("cumprod(%a, axis=1)", (f(2, 3),), lambda x: np.cumprod(x, 1)),
        Case("cumsum(%a, axis=1, exclusive=True)", (f(2, 3),), lambda x: np.cumsum(x, 1) - x),
        Case("ndarray_size(%a)", (X,), lambda x: 24),
        Case('shape_of(%a, dtype="int64")', (X,), np.shape),
        Case("vision.multibox_prior(%a, sizes=[0.5f, 0.25f], ratios=[1f, 4f], clip=True)", (f(1, 3, 2, 4),), priors),
        Case("fixed_point_multiply_per_axis(%a, %b, %c, %d, is_lshift_required=True, axes=[1])",
             (np.arange(-3007, 2993, 1000, dtype="int32").reshape(2, 3),
              np.array([1 << 30, 1 << 29, 1 << 30], "int32"), np.array([1, 2, 0], "int32"),
              np.array([0, 0, 1], "int32")),
             lambda a, b, c, d: np.floor(a.astype("float64") * 2.0**c * b / 2.0 ** (31 + d) + 0.5)),
        Case('ones(shape=[2, 3], dtype="int32")', (), lambda: np.ones((2, 3), "int32")),
        Case('full(2f, shape=[2], dtype="float32")', (), lambda: np.full(2, 2.0)),
        Case('arange(0, 6, 2, dtype="int32")', (), lambda: np.arange(0, 6, 2)),
        Case("einsum((%a, %b), equation=\"ij,jk->ik\")", (f(2, 3), f(3, 2)), np.matmul),
        Case("qnn.dequantize(%a, 0.5f, 3)", (Q,), lambda q: real(q, 0.5, 3)),
        Case('qnn.requantize(%a, 0.5f, 3, 0.25f, -1, out_dtype="int8")', (Q,),
             lambda q: quantized(real(q, 0.5, 3), 0.25, -1)),
        Case('qnn.quantize(%a, 0.1f, 4, out_dtype="uint8")', (Y,), lambda x: quantized(x, 0.1, 4, "uint8")),
        Case("qnn.add(%a, %b, 0.5f, 3, 0.25f, -1, 1f, 2)", (Q, Q2),
             lambda a, b: quantized(real(a, 0.5, 3) + real(b, 0.25, -1), 1.0, 2)),
        Case("qnn.subtract(%a, %b, 0.5f, 3, 0.25f, -1, 1f, 2)", (Q, Q2),
             lambda a, b: quantized(real(a, 0.5, 3) - real(b, 0.25, -1), 1.0, 2)),
        Case("qnn.mul(%a, %b, 0.5f, 3, 0.25f, -1, 1f, 2)", (Q, Q2),
             lambda a, b: quantized(real(a, 0.5, 3) * real(b, 0.25, -1), 1.0, 2)),
        Case(f"qnn.tanh(%a, {SCALES})", (Q,), lambda q: quantized(np.tanh(real(q, 0.5, 3)), 0.25, -1)),
        Case(f"qnn.abs(%a, {SCALES})", (Q,), lambda q: quantized(np.abs(real(q, 0.5, 3)), 0.25, -1)),
        Case(f"qnn.leaky_relu(%a, {SCALES}, alpha=0.5f)", (Q,),
             lambda q: quantized(np.where(q < 3, real(q, 0.5, 3) * 0.5, real(q, 0.5, 3)), 0.25, -1)),
        Case(f"qnn.avg_pool2d(%a, {SCALES}, pool_size=[2, 2], strides=[2, 2])", (Q.reshape(1, 1, 2, 2),),
             lambda q: quantized(real(q, 0.5, 3).mean((2, 3), keepdims=True), 0.25, -1)),
        Case("qnn.dense(%a, %b, 1, 2, 0.5f, 0.5f, units=None)", (Q.reshape(2, 2), Q2.reshape(2, 2)),
             lambda a, b: (a.astype("int32") - 1) @ (b.astype("int32") - 2).T),
        Case("qnn.conv2d(%a, %b, 1, 2, 0.5f, 0.5f, channels=1, kernel_size=[1, 1])",
             (Q.reshape(1, 1, 2, 2), i(3, dtype="int8").reshape(1, 1, 1, 1)), lambda a, b: a.astype("int32") - 1),
    ]  # fmt: skip


CASES = (*elements(), *networks(), *places(), *made())
