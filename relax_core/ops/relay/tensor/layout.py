"""Layouts and blocks of space: reshapes and permutations."""

import re
from types import MappingProxyType

from relax_core.ir.expr import Dims, Expr, TensorType, Type
from relax_core.ir.prim import IntImm, PrimExpr
from relax_core.ops.operands import replaced
from relax_core.ops.relay.dims import (
    calculate,
    dims_of,
    layout_parts,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import dims, rank, relax, size, untranslated
from relax_core.ops.spec import REQUIRED

_LAYOUTS = MappingProxyType({"src_layout": REQUIRED, "dst_layout": REQUIRED})
_SIZED_AXIS = re.compile(r"(\d+)[A-Za-z]")


def _layout_transform(call: RelayCall) -> Expr:
    """Put the parts of each letter side by side, merge them, split them as wanted, and order them."""
    source, target = layout_parts(call.text("src_layout")), layout_parts(call.text("dst_layout"))
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


def _inner(layout: tuple[tuple[str, int], ...], letter: str) -> int:
    return next((count for name, count in layout if name == letter.lower()), 0)


def _product(call: RelayCall, layout: tuple[tuple[str, int], ...], letter: str) -> PrimExpr:
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


def _layout_transform_type(call: RelayCall) -> Type:
    data, source, target = call.tensor(), call.text("src_layout"), call.text("dst_layout")
    if data.dims is None or source == target:
        return data
    if not layout_parts(source) or not layout_parts(target):
        raise call.refuse(f'expects two layouts, got "{source}" and "{target}"', code="RY010")
    return TensorType(stored_axes(call, whole_axes(call, data.dims, source), target), data.dtype)


def _sized_layout_type(call: RelayCall) -> Type:
    """Relation: the sizes that `dst_layout` says before its letters, such as "1N16h16w3c"."""
    found = _SIZED_AXIS.findall(call.text("dst_layout"))
    return TensorType(dims_of(*map(int, found)), call.tensor().dtype)


def _mapped_layout_type(call: RelayCall) -> Type:
    """Relation: what the index map makes of the sizes, which only TVM's own object knows."""
    return TensorType(None, call.tensor().dtype)


def _blocks_type(call: RelayCall) -> Type:
    data, layout, block = call.tensor(), call.text("layout"), call.int_("block_size")
    if data.dims is None:
        return data
    sizes = whole_axes(call, data.dims, layout)
    is_deeper = call.name == "nn.space_to_depth"
    sizes["C"] = calculate("*" if is_deeper else "//", sizes["C"], block * block)
    for letter in "HW":
        sizes[letter] = calculate("//" if is_deeper else "*", sizes[letter], block)
    return TensorType(stored_axes(call, sizes, layout), data.dtype)


def _batch_blocks_type(call: RelayCall) -> Type:
    data, blocks = call.tensor(), call.ints("block_shape")
    if data.dims is None:
        return data
    is_more = call.name == "nn.space_to_batch_nd"
    widths = call.pairs("paddings" if is_more else "crops")
    dims: Dims = data.dims
    for k, (block, pair) in enumerate(zip(blocks, widths, strict=False), 1):
        grown = calculate("+", dims[k], sum(pair)) if is_more else calculate("*", dims[k], block)
        dims = replaced(dims, k, calculate("//", grown, block) if is_more else calculate("-", grown, sum(pair)))
        dims = replaced(dims, 0, calculate("*" if is_more else "//", dims[0], block))
    return TensorType(dims, data.dtype)


_BLOCK = MappingProxyType({"block_size": REQUIRED, "layout": "NCHW", "mode": "DCR"})

SPECS = (
    op("layout_transform", "data", _layout_transform, _LAYOUTS, relax="layout_transform",
       relation=_layout_transform_type),
    op("auto_scheduler_layout_transform", "data", None, _LAYOUTS, why="a layout that the auto scheduler chose",
       relation=_sized_layout_type),
    op("meta_schedule_layout_transform", "data", None, {"index_map": REQUIRED}, relax="layout_transform",
       why="a layout that a tuned schedule chose", relation=_mapped_layout_type),
    op("nn.batch_flatten", "data", "nn.batch_flatten"),
    op("nn.depth_to_space", "data", _depth_to_space, _BLOCK, relax="nn.pixel_shuffle", relation=_blocks_type),
    op("nn.space_to_depth", "data", _space_to_depth, _BLOCK, relation=_blocks_type),
    op("nn.space_to_batch_nd", "data", _space_to_batch,
       {"block_shape": REQUIRED, "paddings": REQUIRED, "pad_value": 0.0}, relation=_batch_blocks_type),
    op("nn.batch_to_space_nd", "data", _batch_to_space, {"block_shape": REQUIRED, "crops": REQUIRED},
       relation=_batch_blocks_type),
)  # fmt: skip
