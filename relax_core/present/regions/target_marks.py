"""Targets and devices as categories: colour, symbol and number in the order of first appearance."""

from collections.abc import Iterator

from relax_core.analysis.regions import DEFAULT, annotated_target, is_annotation, is_closed, open_postorder
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, Function, GlobalVar
from relax_core.ir.module import IRModule
from relax_core.present.theme import TOKENS

NONE = "catNone"
_CATEGORIES = tuple(item for item in TOKENS.categories if item.token != NONE)


def targets_in(module: IRModule) -> tuple[str, ...]:
    """Return the targets of a module in the order of first appearance: of annotations, or of external functions."""
    return tuple(dict.fromkeys(name for name in _mentioned(module) if name != DEFAULT))


def external_target(module: IRModule, name: str) -> str:
    """Return the target of a global function that PartitionGraph made, empty for any other."""
    found = module.find(name)
    function = found.function if found is not None else None
    return str(attr(function.attrs, "Compiler") or "") if isinstance(function, Function) else ""


def _mentioned(module: IRModule) -> Iterator[str]:
    for _, function in module.relax_functions:
        if is_closed(function):
            continue
        for node in open_postorder(function):
            if is_annotation(node):
                yield annotated_target(node)
            elif isinstance(node, Call) and isinstance(node.op, GlobalVar) and external_target(module, node.op.name):
                yield external_target(module, node.op.name)


def category_of(name: str, names: tuple[str, ...]) -> str:
    """Return the token of a target or device among those of its module; `catNone` if it is none of them."""
    return _CATEGORIES[names.index(name) % len(_CATEGORIES)].token if name in names else NONE


def symbol_of(name: str, names: tuple[str, ...]) -> str:
    """Return the symbol; beyond the last category a number tells targets apart: `●2`."""
    if name not in names:
        return "◌"
    turn, place = divmod(names.index(name), len(_CATEGORIES))
    return _CATEGORIES[place].symbol + (str(turn + 1) if turn else "")
