"""Functions of images and of layers: convolution, resizing, normalisation."""

import math

import numpy as np

from relax_core.vm.objects.values import Array
from relax_core.vm.packed_library.arrays import ArgumentError, Given, need_float, wide, write


def slow_conv2d_forward_out(given: Given) -> None:
    """Write the convolution of images (n, c, h, w), or of one (c, h, w), with weights (o, c, kh, kw).

    See: pytorch/aten/src/ATen/native/ConvolutionMM2d.cpp
    """
    self, weight, bias = given.tensor("self"), given.tensor("weight"), given.optional_tensor("bias")
    need_float(self, "self")
    images, window = self if self.ndim == 4 else self[None], given.integers("kernel_size")
    if images.ndim != 4 or weight.ndim != 4 or weight.shape[2:] != window or images.shape[1] != weight.shape[1]:
        raise ArgumentError(
            f"self (n, c, h, w), weight (o, c, kh, kw) and kernel_size (kh, kw) agree, got {self.shape}, "
            f"{weight.shape} and {window}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ArgumentError(f"bias has the shape {weight.shape[:1]}, got {bias.shape}")
    (top, left), (down, across) = given.integers("padding"), given.integers("stride")
    padded = np.pad(wide(images), ((0, 0), (0, 0), (top, top), (left, left)))
    if any(size < least for size, least in zip(padded.shape[2:], window, strict=True)):
        raise ArgumentError(f"kernel_size fits into the padded image {padded.shape[2:]}, got {window}")
    windows = np.lib.stride_tricks.sliding_window_view(padded, window, (2, 3))[:, :, ::down, ::across]
    found = np.einsum("nchwij,ocij->nohw", windows, wide(weight), optimize=True)
    found = found if bias is None else found + wide(bias)[:, None, None]
    write(given.tensor("output"), (found if self.ndim == 4 else found[0]).astype(self.dtype), "output")


def upsample_nearest2d(given: Given) -> Array:
    """Return images (n, c, h, w) of another size: an element is the one at its place times the scale, rounded down."""
    self = given.tensor("self")
    if self.ndim != 4 or not self.size:
        raise ArgumentError(f"self has the shape (n, c, h, w) and elements, got {self.shape}")
    height, width = given.integers("output_size")
    rows = _sources(self.shape[2], height, given.optional_number("scales_h"))
    columns = _sources(self.shape[3], width, given.optional_number("scales_w"))
    return self[:, :, rows][:, :, :, columns]


def _sources(size: int, count: int, scale: float | None) -> Array:
    step = np.float32(1 / scale) if scale else np.float32(size) / np.float32(count)
    return np.minimum(np.floor(np.arange(count, dtype=np.float32) * step), size - 1).astype(np.int64)


def batch_norm(given: Given) -> Array:
    """Return (x - mean) / sqrt(variance + eps) * weight + bias per channel, the axis 1.

    In training mean and variance are those of the batch. Unlike PyTorch's, the running ones are never written: the
    schema does not declare it.

    See: pytorch/aten/src/ATen/native/Normalization.cpp
    """
    x = given.tensor("input")
    need_float(x, "input")
    if x.ndim < 2:
        raise ArgumentError(f"input has the shape (n, c, ...), got {x.shape}")
    channels, y = x.shape[1], wide(x)
    others = tuple(axis for axis in range(x.ndim) if axis != 1)
    mean, variance = given.optional_tensor("running_mean"), given.optional_tensor("running_var")
    if given.flag("training"):
        mean, variance = y.mean(others), y.var(others)
    if mean is None or variance is None:
        raise ArgumentError("running_mean and running_var are given, or training is True")
    weight, bias = given.optional_tensor("weight"), given.optional_tensor("bias")
    for name, item in (("running_mean", mean), ("running_var", variance), ("weight", weight), ("bias", bias)):
        if item is not None and item.shape != (channels,):
            raise ArgumentError(f"{name} has the shape ({channels},), got {item.shape}")
    scale = (1 if weight is None else wide(weight)) / np.sqrt(wide(variance) + given.number("eps"))
    shift = (0 if bias is None else wide(bias)) - wide(mean) * scale
    along = (channels, *(1,) * (x.ndim - 2))
    return np.asarray(y * scale.reshape(along) + shift.reshape(along)).astype(x.dtype)


def layer_norm(given: Given) -> Array:
    """Return (x - mean) / sqrt(variance + eps) * weight + bias over the last axes.

    See: pytorch/aten/src/ATen/native/layer_norm.cpp
    """
    x, weight, bias = given.tensor("input"), given.optional_tensor("weight"), given.optional_tensor("bias")
    need_float(x, "input")
    axes = _last_axes(given, x, (("weight", weight), ("bias", bias)))
    y = wide(x)
    centred = y - y.mean(axes, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axes, keepdims=True) + given.number("eps"))
    scaled = scaled if weight is None else scaled * wide(weight)
    return np.asarray(scaled if bias is None else scaled + wide(bias)).astype(x.dtype)


def _last_axes(given: Given, x: Array, parts: tuple[tuple[str, Array | None], ...]) -> tuple[int, ...]:
    shape = given.integers("normalized_shape")
    if not shape or x.shape[-len(shape) :] != shape:
        raise ArgumentError(f"normalized_shape is the end of the shape {x.shape}, got {shape}")
    for name, item in parts:
        if item is not None and item.shape != shape:
            raise ArgumentError(f"{name} has the shape {shape}, got {item.shape}")
    return tuple(range(x.ndim - len(shape), x.ndim))


def native_layer_norm_backward(given: Given) -> tuple[Array | None, Array | None, Array | None]:
    """Return the gradients of a layer norm as far as the mask asks for them, `None` for the others.

    See: pytorch/aten/src/ATen/native/layer_norm.cpp
    """
    x, slope, weight = given.tensor("input"), given.tensor("grad_out"), given.optional_tensor("weight")
    need_float(x, "input")
    axes = _last_axes(given, x, (("weight", weight), ("bias", given.optional_tensor("bias"))))
    if slope.shape != x.shape:
        raise ArgumentError(f"grad_out has the shape {x.shape}, got {slope.shape}")
    kept = x.ndim - len(axes)
    aside = (*x.shape[:kept], *(1,) * len(axes))
    mean, rstd = given.tensor("mean"), given.tensor("rstd")
    if mean.size != math.prod(aside) or rstd.size != mean.size:
        raise ArgumentError(f"mean and rstd have the shape {aside}, got {mean.shape} and {rstd.shape}")
    g, rstd = wide(slope), wide(rstd).reshape(aside)
    normal = (wide(x) - wide(mean).reshape(aside)) * rstd
    inner = g if weight is None else g * wide(weight)
    along = inner - inner.mean(axes, keepdims=True) - normal * (inner * normal).mean(axes, keepdims=True)
    others = tuple(range(kept))
    found = (rstd * along, (g * normal).sum(others), g.sum(others))
    asked = given.flags("output_mask")
    return (
        found[0].astype(x.dtype) if asked[0] else None,
        found[1].astype(x.dtype) if asked[1] else None,
        found[2].astype(x.dtype) if asked[2] else None,
    )
