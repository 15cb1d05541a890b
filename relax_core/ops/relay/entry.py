"""An entry of the table of Relay's operators: its name, its arguments, and what it is in Relax."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypedDict, Unpack

from relax_core.ir.expr import Expr, Type
from relax_core.ops.relay.derive import derived
from relax_core.ops.relay.spec import Attr, AttrDefault, Check, Expects, Relation, RelayCall, RelayOp, Rule
from relax_core.ops.relay.translation import alike
from relax_core.ops.spec import REQUIRED


class Further(TypedDict, total=False):
    """What few operators say: see `RelayOp`."""

    relation: Relation
    check: Check
    expects: Expects
    relax: str
    why: str
    is_identity: bool


def op(
    name: str,
    params: str,
    becomes: Rule | str | None,
    attrs: Mapping[str, AttrDefault] = MappingProxyType({}),
    **more: Unpack[Further],
) -> RelayOp:
    """Make an operator.

    `params` are names between spaces, the optional ones with `?` behind. `becomes` is the rule that makes an
    expression of Relax, or the name of the operator of Relax that does the same; `relax` names the operator that is
    of the same kind as one that is composed. Without a relation the type is that of the
    translation, after `check`.
    """
    misspelt = more.keys() - Further.__annotations__.keys()
    if misspelt:
        raise TypeError(f"an entry says nothing by the name of {', '.join(sorted(misspelt))}")
    names = params.split()
    rule = alike(becomes) if isinstance(becomes, str) else becomes
    relation = more.get("relation")
    if rule is not None and relation is None:
        relation = derived(rule, more.get("check"))
    relax = more.get("relax", becomes if isinstance(becomes, str) else "")
    entry = RelayOp(
        name,
        tuple(item.rstrip("?") for item in names),
        rule,
        tuple(Attr(key, value) for key, value in attrs.items()),
        relax=tuple(f"relax.{item}" for item in relax.split()),
        why=more.get("why", ""),
        relation=relation,
        expects=more.get("expects"),
        optional_count=sum(item.endswith("?") for item in names),
        is_identity=more.get("is_identity", False),
        required=tuple(key for key, value in attrs.items() if value is REQUIRED),
    )
    assert (rule is None) == bool(entry.why), f"{name} becomes something of Relax, or says why not"
    return entry


def passing(
    name: str, attrs: Mapping[str, AttrDefault] = MappingProxyType({}), *, param: str = "data", relax: str = ""
) -> RelayOp:
    """Make an operator whose result is its argument, of whatever type, such as an annotation."""
    return op(name, param, _itself, attrs, relation=_type_of_it, relax=relax, is_identity=True)


def _itself(call: RelayCall) -> Expr:
    return call.exprs[0]


def _type_of_it(call: RelayCall) -> Type:
    return call.args[0]
