"""The table of Relay's operators: attributes with defaults, the relation of types, and what each becomes in Relax."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ops.relay.image import (
    boxes,
    resize,
    vision,
    windows,
)
from relax_core.ops.relay.nn import (
    bits,
    convolution,
    deformable,
    neural,
    pooling,
    quantize,
    winograd,
)
from relax_core.ops.relay.spec import RelayOp
from relax_core.ops.relay.tensor import (
    create,
    dynamic,
    elementwise,
    index,
    layout,
    manipulate,
    random,
    reduce,
    sparse,
    system,
)

_FAMILIES = (
    elementwise,
    neural,
    convolution,
    winograd,
    deformable,
    pooling,
    manipulate,
    layout,
    index,
    reduce,
    create,
    dynamic,
    random,
    quantize,
    sparse,
    bits,
    resize,
    vision,
    boxes,
    windows,
    system,
)

RELAY_OPS: Mapping[str, RelayOp] = MappingProxyType({spec.name: spec for family in _FAMILIES for spec in family.SPECS})

RELAY_NAME_OF: Mapping[str, str] = MappingProxyType(
    {relax: spec.name for spec in reversed(tuple(RELAY_OPS.values())) for relax in spec.relax}
)
"""The operator of Relay that an operator of Relax corresponds to, the first in the table if there are several."""

_NAMESPACES = frozenset(name.split(".")[0] for name in RELAY_OPS if "." in name)


def is_foreign(name: str) -> bool:
    """Tell whether a name stands in a name space that is not Relay's, such as that of an accelerator."""
    return "." in name and name.split(".")[0] not in _NAMESPACES
