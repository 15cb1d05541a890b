"""The names of Relay's operators and of their attributes, as `ops/relay` has them, for checking a text's spelling."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ops.relay import RELAY_OPS

# Attributes that any call may carry.
COMMON_ATTRIBUTES = frozenset(("attrs_type_key", "__dict__", "relay.attrs", "schedule_rule", "virtual_device"))

ATTRIBUTES_OF: Mapping[str, frozenset[str]] = MappingProxyType(
    {name: frozenset(item.name for item in spec.attrs) for name, spec in RELAY_OPS.items()}
)
