"""Images of other sizes: numbers if they are known, else values that the run computes."""

from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.expr import Expr, TensorType, Type
from relax_core.ir.prim import AnyDim, IntImm, PrimExpr
from relax_core.ops.relay.dims import (
    dims_of,
    known_size,
    stored_axes,
    whole_axes,
)
from relax_core.ops.relay.entry import op
from relax_core.ops.relay.nn.convolution import ints_for, spatial_of
from relax_core.ops.relay.spec import AttrDefault, RelayCall
from relax_core.ops.relay.translation import (
    Rule,
    cast,
    dtype_of,
    extent,
    literal,
    relax,
    scalar,
    size,
    size_if_known,
    to_shape,
    untranslated,
)

Factor: TypeAlias = "float | Expr"

Sizes: TypeAlias = "tuple[int, ...] | Expr"

_METHODS = MappingProxyType(
    {
        "nearest_neighbor": "nearest_neighbor",
        "bilinear": "linear",
        "trilinear": "linear",
        "bicubic": "cubic",
    }
)

_WIDE = "float64"


def resize_attrs(layout: str) -> dict[str, AttrDefault]:
    return {
        "size": None, "roi": None, "layout": layout, "method": "linear",
        "coordinate_transformation_mode": "half_pixel", "rounding_method": "", "cubic_alpha": -0.5,
        "cubic_exclude": 0, "extrapolation_value": 0.0, "out_dtype": "",
    }  # fmt: skip


def _scaled(dim: PrimExpr, factor: float) -> PrimExpr:
    number = known_size(dim)
    return AnyDim() if number is None else IntImm(round(number * factor))


def _upsampling_type(call: RelayCall) -> Type:
    data, layout = call.tensor(), call.text("layout")
    if data.dims is None:
        return data
    sizes = whole_axes(call, data.dims, layout)
    for letter in spatial_of(layout):
        sizes[letter] = _scaled(sizes[letter], call.number(f"scale_{letter.lower()}"))
    return TensorType(stored_axes(call, sizes, layout), data.dtype)


def _resize(name: str) -> Rule:
    def rule(call: RelayCall) -> Expr:
        roi = call.attrs.get("roi")
        sizes = call.ints("size")
        whole = (0.0,) * (2 * len(sizes))
        return _resized(call, name, sizes, roi if isinstance(roi, tuple) and roi else whole)

    return rule


def _resized(call: RelayCall, name: str, sizes: Sizes, roi: tuple[object, ...]) -> Expr:
    return relax(
        name,
        call.exprs[0],
        sizes,
        roi=roi,
        layout=call.text("layout"),
        method=call.text("method"),
        coordinate_transformation_mode=call.text("coordinate_transformation_mode"),
        rounding_method=call.text("rounding_method"),
        cubic_alpha=call.number("cubic_alpha"),
        cubic_exclude=call.int_("cubic_exclude"),
        extrapolation_value=call.number("extrapolation_value"),
        out_dtype=call.dtype("out_dtype") or dtype_of(call),
    )


def dynamic_resize2d(call: RelayCall) -> Expr:
    """The sizes are a vector; the region of interest is read by one mode alone, and must be written out for it."""
    known = call.constant(1)
    sizes = to_shape(cast(call.exprs[1], "int64")) if known is None else tuple(map(int, known))
    is_part = call.text("coordinate_transformation_mode") == "tf_crop_and_resize"
    return _resized(call, "image.resize2d", sizes, literal(call, 2) if is_part else (0.0,) * 4)


def _resize_type(call: RelayCall) -> Type:
    data, layout = call.tensor(), call.text("layout")
    dtype = call.dtype("out_dtype") or data.dtype
    if data.dims is None:
        return TensorType(None, dtype)
    sizes = whole_axes(call, data.dims, layout)
    spatial = spatial_of(layout)
    if not call.has("size"):
        return TensorType(stored_axes(call, {**sizes, **{item: AnyDim() for item in spatial}}, layout), dtype)
    sizes.update(zip(spatial, dims_of(*ints_for(call, "size", len(spatial))), strict=True))
    return TensorType(stored_axes(call, sizes, layout), dtype)


def _resize1d(call: RelayCall) -> Expr:
    """A row of an image of height one."""
    if call.text("layout") != "NCW":
        raise untranslated(call, f"the layout is {call.text('layout')}, not NCW")
    image = relax("expand_dims", call.exprs[0], (2,))
    wide = relax("image.resize2d", image, (1, *call.ints("size")), method=call.text("method"),
                 coordinate_transformation_mode=call.text("coordinate_transformation_mode"),
                 rounding_method=call.text("rounding_method"), cubic_alpha=call.number("cubic_alpha"),
                 cubic_exclude=call.int_("cubic_exclude"),
                 out_dtype=call.dtype("out_dtype") or dtype_of(call))  # fmt: skip
    return relax("squeeze", wide, (2,))


def _attribute_factors(call: RelayCall, letters: str) -> tuple[Factor, ...]:
    return tuple(call.number(f"scale_{letter.lower()}") for letter in letters)


def _argument_factors(call: RelayCall, letters: str) -> tuple[Factor, ...]:
    """Return how much larger each axis becomes: numbers if they are written out, else vectors of one."""
    found: list[Factor] = []
    for k in range(1, len(letters) + 1):
        known = call.constant(k)
        found.append(float(known[0]) if known else relax("reshape", cast(call.exprs[k], _WIDE), (1,)))
    return tuple(found)


def _larger(call: RelayCall, letters: str, factors: tuple[Factor, ...]) -> Sizes:
    """Return the rounded products of the sizes and the factors."""
    axes = tuple(map(call.text("layout").index, letters))
    numbers = tuple(item for item in factors if isinstance(item, float))
    if len(numbers) == len(axes) and all(size_if_known(call, axis) is not None for axis in axes):
        return tuple(round(size(call, axis) * by) for axis, by in zip(axes, numbers, strict=True))
    parts = (_product(extent(call, axis), by) for axis, by in zip(axes, factors, strict=True))
    return to_shape(relax("concat", tuple(parts), 0))


def _product(whole: Expr, by: Factor) -> Expr:
    given = by if isinstance(by, Expr) else scalar(by, _WIDE)
    return cast(relax("round", relax("multiply", cast(whole, _WIDE), given)), "int64")


def _upsampling(call: RelayCall, factors: tuple[Factor, ...]) -> Expr:
    is_nearest = call.text("method") == "nearest_neighbor"
    where = "align_corners" if call.flag("align_corners") else "asymmetric" if is_nearest else "half_pixel"
    return _upsampled(call, "HW", factors, where)


def _upsampling3d(call: RelayCall, factors: tuple[Factor, ...]) -> Expr:
    is_nearest = call.text("method") == "nearest_neighbor"
    return _upsampled(call, "DHW", factors, "asymmetric" if is_nearest else call.text("coordinate_transformation_mode"))


def _upsampled(call: RelayCall, letters: str, factors: tuple[Factor, ...], where: str) -> Expr:
    sizes = _larger(call, letters, factors)
    return relax(f"image.resize{len(letters)}d", call.exprs[0], sizes, layout=call.text("layout"),
                 method=_METHODS[call.text("method")], coordinate_transformation_mode=where, rounding_method="",
                 cubic_alpha=-0.5, out_dtype=dtype_of(call))  # fmt: skip


def _attribute_upsampling(call: RelayCall) -> Expr:
    return _upsampling(call, _attribute_factors(call, "HW"))


def _attribute_upsampling3d(call: RelayCall) -> Expr:
    return _upsampling3d(call, _attribute_factors(call, "DHW"))


def dynamic_upsampling(call: RelayCall) -> Expr:
    """Return an image that is larger by factors which are arguments."""
    return _upsampling(call, _argument_factors(call, "HW"))


def dynamic_upsampling3d(call: RelayCall) -> Expr:
    """Return a volume that is larger by factors which are arguments."""
    return _upsampling3d(call, _argument_factors(call, "DHW"))


UPSAMPLING = MappingProxyType({"layout": "NCHW", "method": "nearest_neighbor", "align_corners": False})
UPSAMPLING_3D = MappingProxyType(
    {"layout": "NCDHW", "method": "nearest_neighbor", "coordinate_transformation_mode": "half_pixel"}
)

SPECS = (
    op("image.resize1d", "data", _resize1d, resize_attrs("NCW"), relation=_resize_type),
    op("image.resize2d", "data", _resize("image.resize2d"), resize_attrs("NCHW"), relax="image.resize2d"),
    op("image.resize3d", "data", _resize("image.resize3d"), resize_attrs("NCDHW"), relax="image.resize3d"),
    op("image.resize", "data", _resize("image.resize2d"), resize_attrs("NCHW"), relax="image.resize2d"),
    op("nn.upsampling", "data", _attribute_upsampling, {"scale_h": 1.0, "scale_w": 1.0, **UPSAMPLING},
       relation=_upsampling_type),
    op("nn.upsampling3d", "data", _attribute_upsampling3d,
       {"scale_d": 1.0, "scale_h": 1.0, "scale_w": 1.0, **UPSAMPLING_3D}, relation=_upsampling_type),
)  # fmt: skip
