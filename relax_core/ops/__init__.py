"""The only operator table: what each operator takes, gives, computes and becomes."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ops import control, create, elementwise, index, linear_algebra, manipulate, memory, neural, reduce
from relax_core.ops.spec import OpSpec

OPS: Mapping[str, OpSpec] = MappingProxyType(
    {
        spec.name: spec
        for family in (elementwise, neural, linear_algebra, manipulate, index, reduce, create, control, memory)
        for spec in family.SPECS
    }
)

ALIASES: Mapping[str, str] = MappingProxyType({alias: spec.name for spec in OPS.values() for alias in spec.aliases})


def find(name: str) -> OpSpec | None:
    """Return the operator with the full name `name`, such as "relax.add"; an alias leads to its operator."""
    return OPS.get(ALIASES.get(name, name))
