"""What a reduction combines: values that are computed, or elements that lie side by side and are only loaded."""

from dataclasses import dataclass
from math import prod

from relax_core.ir.integer.affine import Affine
from relax_core.ir.tir import BufferLoad
from relax_core.jit.transforms.loop_nest import Access, Axis
from relax_core.jit.transforms.nest_values import Value, value_of
from relax_core.jit.transforms.reduction import Reduction


@dataclass(frozen=True, slots=True)
class ReducedValues:
    """The values of a reduction. `inner` are reduce axes that are one long axis, `outer` those around it.

    `direct` is the load that all of the value is, if its elements lie side by side along the inner axes.
    """

    value: Value
    inner: tuple[Axis, ...]
    outer: tuple[Axis, ...]
    direct: Access | None

    @property
    def count(self) -> int:
        """The length of the inner axes together."""
        return prod(axis.extent for axis in self.inner)


def values_of(reduction: Reduction) -> ReducedValues:
    """Read the values of a reduction along its innermost reduce axes."""
    nest = reduction.nest
    value = value_of(reduction.value)
    inner, outer = _joined(nest.reduce, value, [nest.accesses[load].offset for load in value.loads.values()])
    return ReducedValues(value, inner, outer, direct_load(reduction, inner[-1]))


def direct_load(reduction: Reduction, along: Axis) -> Access | None:
    """Return the access that all of the value is, if it reads the output's dtype side by side along an axis."""
    if not isinstance(reduction.value, BufferLoad):
        return None
    access = reduction.nest.accesses[reduction.value]
    is_direct = access.offset.of(along.var) == 1 and access.storage.scalar == reduction.scalar
    return access if is_direct else None


def _joined(axes: tuple[Axis, ...], value: Value, offsets: list[Affine]) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    """Split reduce axes into those that together are one axis, and those around it."""
    first = len(axes) - 1
    while first > 0 and not value.uses_axes:
        here, above = axes[first], axes[first - 1]
        if any(offset.of(above.var) != offset.of(here.var) * here.extent for offset in offsets):
            break
        first -= 1
    return axes[first:], axes[:first]
