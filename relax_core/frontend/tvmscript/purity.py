"""Infer purity in the dialect of 2022, which does not declare it, from what functions call."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from relax_core.ir.attrs import attr
from relax_core.ir.expr import Call, ExternFunc, Function, FuncType, GlobalVar, Op, Var, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ops import find

_OLD = re.compile(
    r"(?<![\w.])(?:Tensor|Shape|Object|Tuple|Callable)[(\[]|(?::|->)[ ]*(?:Tensor|Shape|Object|Callable)\b"
    r"|\bR\.(?:Tensor|Tuple)\[|\bmatch_shape\b|(?<![\w.])relax\.[a-z_.]+\(|\bR\.outputs\b|\b(?:type_args|output_shape)="
    r"|\bcall_(?:tir|dps_packed)\((?:(?!Tensor\()[^\n])*\bdtype="
)
_NEWER = re.compile(
    r"\bout_(?:sinfo|ty)=|\b(?:sinfo|ty)_args=|\bR\.(?:Tensor\(|Object\b|Any\b|Shape\(|Tuple\()|\bTypeVar\("
)
_NEWER_WORDS = (
    "out_sinfo=", "out_ty=", "sinfo_args=", "ty_args=", "R.Tensor(", "R.Object", "R.Any", "R.Shape(", "R.Tuple(",
    "TypeVar(",
)  # fmt: skip
"""What a match of `_NEWER` holds one of: to look for words is many times faster than to look for a pattern."""
_OLD_WORDS = (
    "Tensor", "Shape", "Object", "Tuple", "Callable", "match_shape", "relax.", "R.outputs", "type_args=",
    "output_shape=", "call_tir(", "call_dps_packed(",
)  # fmt: skip
"""What a match of `_OLD` holds one of."""
# Spellings that were gone when functions began to declare purity, in the middle of 2023, and those that came then.
_BEFORE_PURITY = ("type_args=", "T.var(", "T.Buffer[", "R.Tensor[")
_WITH_PURITY = ("pure=", "out_ty=", "ty_args=", "s_tir=", "call_pure_packed", "invoke_pure_closure")
_RESULT_OF_2022 = re.compile(r"call_(?:tir|dps_packed)\((?:(?!Tensor\()[^\n])*\bdtype=\"")
# A module of 2022 that someone marks so stays one if it has words of that year.
_NEWER_MODULE = re.compile(r"^[ ]*@I\.ir_module\b", re.MULTILINE)


def is_of_2022(text: str) -> bool:
    """Tell whether a text has words of 2022 and none that came later."""
    return not _is_newer(text) and _is_old(text)


def _is_old(text: str) -> bool:
    return any(word in text for word in _OLD_WORDS) and _OLD.search(text) is not None


def _is_newer(text: str) -> bool:
    return any(word in text for word in _NEWER_WORDS) and _NEWER.search(text) is not None


def says_no_purity(text: str) -> bool:
    """Tell whether a text is of before the middle of 2023, when functions began to declare their purity."""
    if any(word in text for word in _WITH_PURITY):
        return False
    return any(word in text for word in _BEFORE_PURITY) or _RESULT_OF_2022.search(text) is not None


def is_typed(text: str) -> bool:
    """Tell whether the parameters in a text have types: it has words that came after 2022 and none of that year."""
    is_newer = _is_newer(text) or _NEWER_MODULE.search(text) is not None
    return is_newer and not _is_old(text)


@dataclass(slots=True)
class _Effects:
    """What a function does itself: whether a call in it has side effects, and which functions it calls."""

    function: Function
    is_impure: bool = False
    callees: list[Function] = field(default_factory=list[Function])


def with_purity(module: IRModule) -> IRModule:
    """Declare as impure every function that has side effects, by itself or through one that it calls."""
    effects = {item.function: item for item in _effects(module)}
    callers: dict[Function, list[_Effects]] = {}
    for item in effects.values():
        for callee in item.callees:
            callers.setdefault(callee, []).append(item)
    rest = [item for item in effects.values() if item.is_impure]
    while rest:
        for caller in callers.get(rest.pop().function, ()):
            if not caller.is_impure:
                caller.is_impure = True
                rest.append(caller)
    # A rule sees functions that are rebuilt already, so that they are identified by their spans.
    impure = {function.span for function, item in effects.items() if item.is_impure and function.is_pure}
    if not impure:
        return module

    def declared(node: Node) -> Node | None:
        """Rule: function with side effects -> function declared impure."""
        return replace(node, is_pure=False) if isinstance(node, Function) and node.span in impure else None

    return rewrite(module, declared, log=RewriteLog())


def _effects(module: IRModule) -> Iterator[_Effects]:
    by_name = {var.name: function for var, function in module.relax_functions}
    of_local: dict[Var, Function] = {}
    functions = list(by_name.values())
    calls: list[tuple[_Effects, Var]] = []
    while functions:
        function = functions.pop()
        found = _Effects(function, not function.is_pure)
        stack: list[Node] = [function.body]
        while stack:
            node = stack.pop()
            match node:
                case VarBinding(var=var, value=Function() as local):
                    of_local[var] = local
                    functions.append(local)
                    continue
                case Function():
                    functions.append(node)
                    continue
                case Call(op=Op(name=name)):
                    spec = find(name)
                    found.is_impure = found.is_impure or (spec is not None and not spec.is_pure)
                case Call(op=ExternFunc()):
                    found.is_impure = True
                case Call(op=GlobalVar(name=name)) if name in by_name:
                    found.callees.append(by_name[name])
                case Call(op=GlobalVar()):
                    # A prim func writes into its arguments.
                    found.is_impure = True
                case Call(op=Var(annotation=FuncType(is_pure=False))):
                    found.is_impure = True
                case Call(op=Var() as var):
                    calls.append((found, var))
                case _:
                    pass
            stack.extend(children(node))
        # What is promised to be pure is not looked into.
        found.is_impure = found.is_impure and attr(function.attrs, "relax.force_pure") is not True
        yield found
    for caller, var in calls:
        if (callee := of_local.get(var)) is not None:
            caller.callees.append(callee)
