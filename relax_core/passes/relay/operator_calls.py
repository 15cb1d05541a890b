"""Making calls of Relay operators, for passes that compose them."""

from relax_core.ir.attrs import AttrValue, attrs_of
from relax_core.ir.expr import Call, Constant, Expr, Op, TensorType, Type, constant
from relax_core.ir.prim import IntImm


def call(name: str, *args: Expr, **attrs: AttrValue) -> Call:
    """Return a call of an operator."""
    return Call(Op(name), args, attrs_of(attrs))


def scalar(value: float, dtype: str) -> Constant:
    """Return a constant without dimensions."""
    return constant(value, dtype)


def along(vector: Expr, ndim: int, axis: int) -> Expr:
    """Return a vector with sizes of one behind it, so that it stands along `axis` of a tensor with `ndim` axes.

    See: tvm/src/relay/transforms/pattern_utils.h, ExpandBiasToMatchAxis
    """
    behind = ndim - axis - 1
    return call("expand_dims", vector, axis=1, num_newaxis=behind) if behind else vector


def known_tensor(type_: Type | None) -> tuple[int, str] | None:
    """Return the number of axes and the dtype of a tensor, `None` if they are not known."""
    if isinstance(type_, TensorType) and type_.ndim is not None and type_.dtype is not None:
        return type_.ndim, type_.dtype
    return None


def known_sizes(type_: Type | None) -> tuple[int, ...] | None:
    """Return the sizes of a tensor, `None` if one of them is no number."""
    if not isinstance(type_, TensorType) or type_.dims is None:
        return None
    sizes = tuple(dim.value for dim in type_.dims if isinstance(dim, IntImm))
    return sizes if len(sizes) == len(type_.dims) else None
