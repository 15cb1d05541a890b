"""From Relay operators to Relax: one table that both the interpreter and RelayToRelax take the meaning from."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ir.expr import Expr
from relax_core.ops.relay import (
    RELAY_OPS,
    to_relax_bits,
    to_relax_boxes,
    to_relax_composed,
    to_relax_deformable,
    to_relax_dynamic,
    to_relax_elementwise,
    to_relax_index,
    to_relax_layout,
    to_relax_neural,
    to_relax_quantize,
    to_relax_random,
    to_relax_reduce,
    to_relax_resize,
    to_relax_shape,
    to_relax_sparse,
    to_relax_vision,
    to_relax_winograd,
)
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.to_relax_make import Rule, untranslated

_FAMILIES = (
    to_relax_elementwise,
    to_relax_neural,
    to_relax_shape,
    to_relax_layout,
    to_relax_index,
    to_relax_reduce,
    to_relax_quantize,
    to_relax_resize,
    to_relax_vision,
    to_relax_composed,
    to_relax_deformable,
    to_relax_sparse,
    to_relax_bits,
    to_relax_winograd,
    to_relax_dynamic,
    to_relax_random,
    to_relax_boxes,
)

RULES: Mapping[str, Rule] = MappingProxyType(
    {name: rule for family in _FAMILIES for name, rule in family.RULES.items()}
)
"""For each operator of Relay that Relax can express, how. Identities such as `on_device` have no rule."""


def to_relax(call: RelayCall) -> Expr:
    """Return the expression of Relax that computes a call: an operator call, or a small composition.

    `call.args` are the types of the arguments, `call.exprs` the arguments themselves, which are used as they are.
    Constants among them may decide what a shape or an index of the program is.

    Raises:
        OpTypeError: if Relax cannot express the call, or an attribute does not fit.
    """
    rule = RULES.get(call.name)
    if rule is not None:
        return rule(call)
    spec = RELAY_OPS.get(call.name)
    if spec is not None and spec.is_identity:
        return call.exprs[0]
    raise untranslated(call, spec.why if spec is not None and spec.why else "there is no operator for it")


def is_translated(name: str) -> bool:
    """Tell whether Relax can express the operator `name`, at least for some calls."""
    return name in RULES or (name in RELAY_OPS and RELAY_OPS[name].is_identity)
