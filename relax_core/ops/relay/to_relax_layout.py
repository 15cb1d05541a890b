"""Layouts and blocks of space, in Relax: reshapes and permutations."""

import re
from types import MappingProxyType

from relax_core.ir.expr import Expr
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_make import Rules, dims, rank, relax, size, untranslated

_AXIS = re.compile(r"(\d*)([A-Za-z])")


def _axes(layout: str) -> list[tuple[str, int]]:
    """Return the axes of a layout: `NCHW4c` gives N, C, H, W with 0 and c with 4."""
    return [(letter, int(count or 0)) for count, letter in _AXIS.findall(layout)]


def _layout_transform(call: RelayCall) -> Expr:
    """Put the parts of each letter side by side, merge them, split them as wanted, and order them."""
    source, target = _axes(call.text("src_layout")), _axes(call.text("dst_layout"))
    letters = [letter for letter, _ in source if letter.isupper()]
    if sorted(letters) != sorted(letter for letter, _ in target if letter.isupper()):
        raise untranslated(call, "the layouts have different axes")
    value, sizes = call.exprs[0], list(dims(call))
    if any(letter.islower() for letter, _ in source):
        order = [k for letter in letters for k, (name, _) in enumerate(source) if name.upper() == letter]
        value = relax("permute_dims", value, tuple(order))
        sizes = [_product(call, source, letter) for letter in letters]
        value = relax("reshape", value, tuple(sizes))
    parts = [(letter, _inner(target, letter)) for letter in letters]
    if any(inner for _, inner in parts):
        split: list[int | PrimExpr] = []
        names: list[str] = []
        for k, (letter, inner) in enumerate(parts):
            split += [sizes[k]] if not inner else [_whole(call, sizes[k], inner), inner]
            names += [letter] if not inner else [letter, letter.lower()]
        value = relax("reshape", value, tuple(split))
        letters = names
    order = [letters.index(letter) for letter, _ in target]
    return value if order == list(range(len(order))) else relax("permute_dims", value, tuple(order))


def _inner(layout: list[tuple[str, int]], letter: str) -> int:
    return next((count for name, count in layout if name == letter.lower()), 0)


def _product(call: RelayCall, layout: list[tuple[str, int]], letter: str) -> PrimExpr:
    places = [k for k, (name, _) in enumerate(layout) if name.upper() == letter]
    if len(places) == 1:
        return dims(call)[places[0]]
    total = 1
    for place in places:
        total *= size(call, place)
    return IntImm(total)


def _whole(call: RelayCall, extent: object, inner: int) -> int:
    value = getattr(extent, "value", None)
    if not isinstance(value, int) or value % inner:
        raise untranslated(call, f"a size is not a known multiple of {inner}")
    return value // inner


def _channel_last(call: RelayCall) -> bool:
    layout = call.text("layout")
    if layout not in ("NCHW", "NHWC"):
        raise untranslated(call, f"the layout is {layout}, not NCHW or NHWC")
    return layout == "NHWC"


def _as_nchw(call: RelayCall) -> tuple[Expr, tuple[int, ...]]:
    sizes = tuple(size(call, axis) for axis in range(4))
    if not _channel_last(call):
        return call.exprs[0], sizes
    n, h, w, c = sizes
    return relax("permute_dims", call.exprs[0], (0, 3, 1, 2)), (n, c, h, w)


def _from_nchw(call: RelayCall, value: Expr) -> Expr:
    return relax("permute_dims", value, (0, 2, 3, 1)) if _channel_last(call) else value


def _depth_to_space(call: RelayCall) -> Expr:
    value, (n, c, h, w) = _as_nchw(call)
    b = call.int_("block_size")
    if call.text("mode") == "DCR":
        value = relax("reshape", value, (n, b, b, c // (b * b), h, w))
        value = relax("permute_dims", value, (0, 3, 4, 1, 5, 2))
    else:
        value = relax("reshape", value, (n, c // (b * b), b, b, h, w))
        value = relax("permute_dims", value, (0, 1, 4, 2, 5, 3))
    return _from_nchw(call, relax("reshape", value, (n, c // (b * b), h * b, w * b)))


def _space_to_depth(call: RelayCall) -> Expr:
    value, (n, c, h, w) = _as_nchw(call)
    b = call.int_("block_size")
    value = relax("reshape", value, (n, c, h // b, b, w // b, b))
    order = (0, 3, 5, 1, 2, 4) if call.text("mode") == "DCR" else (0, 1, 3, 5, 2, 4)
    value = relax("permute_dims", value, order)
    return _from_nchw(call, relax("reshape", value, (n, c * b * b, h // b, w // b)))


def _space_to_batch(call: RelayCall) -> Expr:
    block, paddings = call.ints("block_shape"), call.pairs("paddings")
    sizes = [size(call, axis) for axis in range(rank(call))]
    rest = sizes[1 + len(block) :]
    widths = (0, 0, *(item for pair in paddings for item in pair), *(0, 0) * len(rest))
    padded = relax("nn.pad", call.exprs[0], widths, "constant", call.number("pad_value"))
    spaces = [sizes[1 + k] + sum(pair) for k, pair in enumerate(paddings)]
    count = len(block)
    split = [item for extent, b in zip(spaces, block, strict=True) for item in (extent // b, b)]
    value = relax("reshape", padded, (sizes[0], *split, *rest))
    inner = [2 + 2 * k for k in range(count)]
    order = (*inner, 0, *(k - 1 for k in inner), *range(1 + 2 * count, 1 + 2 * count + len(rest)))
    value = relax("permute_dims", value, order)
    batch = sizes[0]
    for b in block:
        batch *= b
    return relax("reshape", value, (batch, *(e // b for e, b in zip(spaces, block, strict=True)), *rest))


def _batch_to_space(call: RelayCall) -> Expr:
    block, crops = call.ints("block_shape"), call.pairs("crops")
    sizes = [size(call, axis) for axis in range(rank(call))]
    count, batch = len(block), sizes[0]
    for b in block:
        batch //= b
    rest = sizes[1 + count :]
    value = relax("reshape", call.exprs[0], (*block, batch, *sizes[1:]))
    pairs = [item for k in range(count) for item in (count + 1 + k, k)]
    order = (count, *pairs, *range(2 * count + 1, 2 * count + 1 + len(rest)))
    value = relax("permute_dims", value, order)
    spaces = [sizes[1 + k] * b for k, b in enumerate(block)]
    value = relax("reshape", value, (batch, *spaces, *rest))
    axes = tuple(range(1, 1 + count))
    ends = tuple(extent - after for extent, (_, after) in zip(spaces, crops, strict=True))
    return relax("strided_slice", value, axes, tuple(before for before, _ in crops), ends)


def _gemm_weight(call: RelayCall) -> Expr:
    """Lay out the weight `(h, w, i, o)`, a matrix with a column for each `o`, in tiles of its transpose."""
    tall, wide = call.int_("tile_N"), call.int_("tile_K")
    outs, inner = size(call, 3), size(call, 0) * size(call, 1) * size(call, 2)
    if min(tall, wide) < 1:
        raise untranslated(call, f"tiles of {tall} by {wide}")
    flat = relax("permute_dims", relax("reshape", call.exprs[0], (inner, outs)))
    padded = relax("nn.pad", flat, (0, -outs % tall, 0, -inner % wide), "constant", 0.0)
    tiles = relax("reshape", padded, (-(-outs // tall), tall, -(-inner // wide), wide))
    return relax("permute_dims", tiles, (0, 2, 1, 3))


def _gemm_convolution(call: RelayCall) -> Expr:
    """Take the weight out of its tiles again, and convolve with it."""
    if call.text("data_layout") != "NHWC" or call.int_("groups") != 1:
        raise untranslated(call, "groups, or a layout other than NHWC")
    (height, width), outs, inner = call.ints("kernel_size"), call.int_("channels"), size(call, 3)
    rows, columns, tall, wide = (size(call, axis, 1) for axis in range(4))
    whole = relax("reshape", relax("permute_dims", call.exprs[1], (0, 2, 1, 3)), (rows * tall, columns * wide))
    kept = relax("strided_slice", whole, (0, 1), (0, 0), (outs, height * width * inner))
    weight = relax("reshape", relax("permute_dims", kept), (height, width, inner, outs))
    return relax("nn.conv2d", call.exprs[0], weight, call.ints("strides"), call.ints("padding"), call.ints("dilation"),
                 data_layout="NHWC", kernel_layout="HWIO", out_layout="NHWC",
                 out_dtype=call.dtype("out_dtype") or None)  # fmt: skip


RULES: Rules = MappingProxyType(
    {
        "layout_transform": _layout_transform,
        "nn.depth_to_space": _depth_to_space,
        "nn.space_to_depth": _space_to_depth,
        "nn.space_to_batch_nd": _space_to_batch,
        "nn.batch_to_space_nd": _batch_to_space,
        "nn.contrib_conv2d_gemm_weight_transform": _gemm_weight,
        "nn.contrib_conv2d_gemm_without_weight_transform": _gemm_convolution,
    }
)
