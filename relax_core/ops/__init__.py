"""The only operator table: what each operator takes, gives, computes and becomes."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ops.arithmetic import (
    contraction,
    elementwise,
    linear_algebra,
    mathematics,
    reduce,
    sampling,
    statistics,
    triangular,
)
from relax_core.ops.dtypes import with_all_dtypes
from relax_core.ops.images import grid_sample, image, vision
from relax_core.ops.nn import (
    activation,
    attention,
    convolution,
    convolution_transpose,
    loss,
    neural,
    normalization,
    pooling,
    pooling_gradient,
    quantization,
)
from relax_core.ops.runtime import control, distributed, memory
from relax_core.ops.spec import OpSpec
from relax_core.ops.tensors import (
    create,
    data_dependent,
    gather,
    index,
    index_map,
    inspection,
    manipulate,
    rearrange,
    scatter,
    slicing,
    sorting,
)

_FAMILIES = (
    elementwise,
    mathematics,
    neural,
    activation,
    convolution,
    convolution_transpose,
    pooling,
    pooling_gradient,
    normalization,
    attention,
    loss,
    linear_algebra,
    contraction,
    manipulate,
    rearrange,
    slicing,
    index,
    index_map,
    gather,
    scatter,
    reduce,
    statistics,
    sorting,
    data_dependent,
    create,
    triangular,
    quantization,
    image,
    grid_sample,
    sampling,
    vision,
    distributed,
    inspection,
    control,
    memory,
)

OPS: Mapping[str, OpSpec] = MappingProxyType(
    {spec.name: with_all_dtypes(spec) for family in _FAMILIES for spec in family.SPECS}
)

FAMILIES: Mapping[str, tuple[OpSpec, ...]] = MappingProxyType(
    {(family.__doc__ or "").strip().rstrip("."): tuple(OPS[spec.name] for spec in family.SPECS) for family in _FAMILIES}
)
"""The operators by the subject of their file."""

ALIASES: Mapping[str, str] = MappingProxyType({alias: spec.name for spec in OPS.values() for alias in spec.aliases})


def find(name: str) -> OpSpec | None:
    """Return the operator with the full name `name`, such as "relax.add"; an alias leads to its operator."""
    return OPS.get(ALIASES.get(name, name))
