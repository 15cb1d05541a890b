"""Attributes of Relay's operators that mean nothing, whatever the types of the arguments are."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from relax_core.check.attribute_limits import outside
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import TensorType
from relax_core.ir.integer.prove import constant_value
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.spec import RelayCall

_LITERALS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "memory.alloc_storage": MappingProxyType({"size": 0, "alignment": 1}),
        "memory.alloc_tensor": MappingProxyType({"offset": 0}),
    }
)
"""The least number that an argument of an operator may be, where it is a literal."""
_BLOCKS = ("nn.space_to_depth", "nn.depth_to_space")
_AXES = ("axis", "seq_axis", "batch_axis", "bit_axis", "pack_axis", "lhs_axis")
_INSERT = ("expand_dims", "stack", "one_hot", "nn.bitpack")
"""The result has an axis more, which an axis may name."""


def attributes_outside(call: RelayCall) -> Iterator[str]:
    """Yield for each attribute that is out of its range what it must be.

    It is asked before the relation, which may take as long or as much memory as an attribute is large.
    """
    for name, value in call.attrs.items():
        words = outside(call.name, name, _numbers(value), is_one=not isinstance(value, tuple))
        if words is not None:
            yield f"`{name}` of `{call.name}` {words}"
    for name, least in _LITERALS.get(call.name, {}).items():
        for number in call.constant(RELAY_OPS[call.name].params.index(name)) or ():
            if number < least:
                yield f"the {name} of `{call.name}` must be at least {least}, got {number}"


def places_outside(call: RelayCall) -> Iterator[str]:
    """Yield which attributes do not fit the types of the arguments, of a call whose relation accepts it.

    Many relations give the type of the first argument, and look at no axis.
    """
    if call.name in _BLOCKS:
        yield from _undivided(call)
    data = call.args[0] if call.args else None
    if not isinstance(data, TensorType) or data.ndim is None:
        return
    # A quantized scalar may have an axis, which its one scale does not use.
    rank = max(data.ndim, 1) + (call.name in _INSERT)
    for name in _AXES:
        axis = call.attrs.get(name)
        if isinstance(axis, int) and not isinstance(axis, bool) and not -rank <= axis < rank:
            yield f"`{name}` of `{call.name}` must be from {-rank} to {rank - 1}, got {axis}"
    count = call.attrs.get("batch_dims")
    indices = call.args[1] if len(call.args) > 1 else None
    if isinstance(count, int) and isinstance(indices, TensorType) and indices.ndim is not None:
        least, most = (0 if call.name == "gather_nd" else -indices.ndim), indices.ndim
        if not least <= count <= most:
            yield f"`batch_dims` of `{call.name}` must be from {least} to {most}, got {count}"


def _undivided(call: RelayCall) -> Iterator[str]:
    """Yield the sizes that blocks do not divide."""
    layout, block, data = call.attrs.get("layout"), call.attrs.get("block_size"), call.args[0]
    if not isinstance(layout, str) or not isinstance(block, int) or not isinstance(data, TensorType):
        return
    axes, divisor = ("C", block * block) if call.name == "nn.depth_to_space" else ("HW", block)
    for letter, dim in zip(layout, data.dims or (), strict=False):
        size = constant_value(dim)
        if letter in axes and size is not None and size % divisor:
            yield f"`block_size` of `{call.name}` must divide the size of {letter}, {size}, by {divisor}"


def _numbers(value: AttrValue) -> Iterator[int | float]:
    """Yield the numbers in an attribute; truth values are none."""
    match value:
        case bool():
            return
        case int() | float():
            yield value
        case tuple():
            for item in value:
                yield from _numbers(item)
        case _:
            return
