"""From Relay operators to Relax: the interpreter and RelayToRelax both take the meaning of an operator from here."""

from relax_core.ir.expr import Expr
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.spec import RelayCall
from relax_core.ops.relay.translation import untranslated


def to_relax(call: RelayCall) -> Expr:
    """Return the expression of Relax that computes a call: an operator call, or a small composition.

    `call.args` are the types of the arguments, `call.exprs` the arguments themselves, which are used as they are.
    Constants among them may decide what a shape or an index of the program is.

    Raises:
        OpTypeError: if Relax cannot express the call, or an attribute does not fit.
    """
    spec = RELAY_OPS.get(call.name)
    if spec is None:
        raise untranslated(call, "there is no operator for it")
    if spec.rule is None:
        raise untranslated(call, spec.why)
    return spec.rule(call)
