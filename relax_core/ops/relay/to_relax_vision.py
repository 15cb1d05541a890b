"""Operators on boxes in images, and on displaced images, in Relax."""

from itertools import product
from types import MappingProxyType

import numpy as np

from relax_core.ir.expr import Expr, constant
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_make import Rules, dtype_of, number, relax, size, untranslated


def _prior(call: RelayCall) -> Expr:
    """Boxes of several sizes and ratios around each place of an image: constants, as the image only says how many.

    See: tvm/python/tvm/topi/vision/ssd/multibox.py, v0.18
    """
    height, width = size(call, 2), size(call, 3)
    sizes, ratios, steps, offsets = (_floats(call, name) for name in ("sizes", "ratios", "steps", "offsets"))
    step_y, step_x = (given if given > 0 else 1 / count for given, count in zip(steps, (height, width), strict=True))
    roots = np.sqrt(ratios[1:])
    half_x = np.array([*sizes, *(sizes[0] * roots)]) * height / width / 2
    half_y = np.array([*sizes, *(sizes[0] / roots)]) / 2
    y, x = np.meshgrid((np.arange(height) + offsets[0]) * step_y, (np.arange(width) + offsets[1]) * step_x,
                       indexing="ij")  # fmt: skip
    x, y = x[..., None], y[..., None]
    boxes = np.stack([x - half_x, y - half_y, x + half_x, y + half_y], axis=-1).reshape(1, -1, 4)
    return constant((np.clip(boxes, 0, 1) if call.flag("clip") else boxes).astype(dtype_of(call)))


def _floats(call: RelayCall, name: str) -> tuple[float, ...]:
    """Return an attribute that is a list of numbers; one number is a list of one."""
    value = call.attrs.get(name)
    items = value if isinstance(value, tuple) else (value,)
    return tuple(float(item) for item in items if isinstance(item, int | float))


def _roi_align(call: RelayCall) -> Expr:
    size_, scale = call.ints("pooled_size"), call.number("spatial_scale")
    named = {"layout": call.text("layout"), "mode": call.text("mode"), "sample_ratio": call.int_("sample_ratio")}
    return relax("vision.roi_align", *call.exprs, size_, scale, **named)


def _roi_pool(call: RelayCall) -> Expr:
    size_, scale = call.ints("pooled_size"), call.number("spatial_scale")
    return relax("vision.roi_pool", *call.exprs, size_, scale, layout=call.text("layout"))


def _suppression(call: RelayCall) -> Expr:
    data, counts, indices = call.exprs[:3]
    ints = {name: call.int_(name) for name in ("top_k", "coord_start", "score_index", "id_index")}
    flags = {name: call.flag(name) for name in ("force_suppress", "return_indices", "invalid_to_bottom")}
    limits = (int(number(call, 3)), float(number(call, 4)))
    return relax("vision.non_max_suppression", data, counts, indices, *limits, **ints, **flags)


def _reorg(call: RelayCall) -> Expr:
    """Read the channels as blocks of an image with fewer of them, then the result as that of smaller images.

    See: tvm/include/tvm/topi/vision/reorg.h
    """
    batch, channels, height, width = (size(call, axis) for axis in range(4))
    step = call.int_("stride")
    fewer = channels // (step * step)
    if channels % (step * step) or height % step or width % step:
        raise untranslated(call, f"the stride {step} does not divide the sizes {channels}, {height} and {width}")
    blocks = relax("reshape", call.exprs[0], (batch, fewer, height, step, width, step))
    moved = relax("permute_dims", blocks, (0, 3, 5, 1, 2, 4))
    return relax("reshape", moved, (batch, channels * step * step, height // step, width // step))


def _correlation(call: RelayCall) -> Expr:
    """For each displacement the mean of products, or of distances, over the channels and a window.

    See: tvm/python/tvm/topi/nn/correlation.py
    """
    window, reach = call.int_("kernel_size"), call.int_("max_displacement")
    step, grid_step = call.int_("stride1"), call.int_("stride2")
    if call.text("layout") != "NCHW" or window % 2 == 0:
        raise untranslated(call, "a layout other than NCHW, or a window of an even size")
    padding = call.ints("padding")
    top, left, bottom, right = padding if len(padding) == 4 else (padding * 2)[:2] * 2
    one, other = (relax("nn.pad", item, (0, 0, 0, 0, top, bottom, left, right), "constant", 0.0) for item in call.exprs)
    border = reach + (window - 1) // 2
    sizes = (size(call, 2) + top + bottom, size(call, 3) + left + right)
    spans = tuple((-(-(extent - 2 * border) // step) - 1) * step + window for extent in sizes)
    if any(span + 2 * reach > extent for span, extent in zip(spans, sizes, strict=True)):
        raise untranslated(call, f"a window of {window} in steps of {step} goes over the border")

    def part(image: Expr, offset: tuple[int, int]) -> Expr:
        begin = tuple(reach + item for item in offset)
        return relax("strided_slice", image, (2, 3), begin, tuple(a + b for a, b in zip(begin, spans, strict=True)))

    radius = reach // grid_step
    places = [k * grid_step for k in range(-radius, radius + 1)]
    still = part(one, (0, 0))
    found: list[Expr] = []
    for offset in product(places, places):
        moved = part(other, offset)
        if call.flag("is_multiply"):
            value = relax("multiply", still, moved)
        else:
            value = relax("abs", relax("subtract", still, moved))
        found.append(relax("mean", value, (1,), True))
    return relax("nn.avg_pool2d", relax("concat", tuple(found), 1), (window, window), (step, step))


RULES: Rules = MappingProxyType(
    {
        "vision.yolo_reorg": _reorg,
        "nn.correlation": _correlation,
        "vision.multibox_prior": _prior,
        "vision.roi_align": _roi_align,
        "vision.roi_pool": _roi_pool,
        "vision.non_max_suppression": _suppression,
    }
)
