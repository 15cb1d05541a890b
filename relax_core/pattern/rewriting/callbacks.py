"""What callbacks of rewrites return, and whether it fits where it is put."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from relax_core.check.expressions import type_of
from relax_core.check.typing_context import TypingContext
from relax_core.check.unify import is_subtype
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Binding, Call, Expr, Function, GlobalVar, TensorType, Type, Var, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ops.show import show_type
from relax_core.pattern.rewriting.rounds import ill_formed
from relax_core.pattern.rewriting.scopes import has_effect
from relax_core.source import Span


def called(callback: Callable[..., Any], *arguments: object, place: Span | None) -> object:
    """Return what the user's function returns.

    Raises:
        CompileError: its own, or PT014: it raised another exception.
    """
    try:
        return callback(*arguments)
    except CompileError:
        raise
    except Exception as error:  # a function of the user, not a step of ours
        message = f"the callback raised {type(error).__name__}: {error}"
        raise CompileError((Diagnostic("PT014", message, place),)) from error


def as_expression(result: object, place: Span | None) -> Expr:
    """Return what a callback returned.

    Raises:
        CompileError: PT008: it is no expression.
    """
    if isinstance(result, Expr):
        return result
    message = f"a callback returns an expression or None, not {type(result).__name__}"
    raise CompileError((Diagnostic("PT008", message, place),))


def require_type(new: Expr, expected: Type | None, types: dict[Node, Type], place: Span | None) -> None:
    """Require that `new` may take the place of a value of type `expected`; `types` takes the types of its parts.

    What calls functions of the module has its type only once it is in it.

    Raises:
        CompileError: an error of an operator, or PT012.
    """
    if any(isinstance(node, Call) and isinstance(node.op, GlobalVar) for node in preorder(new)):
        return
    typing = TypingContext({}, type_of=types, fallback=new)
    found = type_of(typing, new)
    errors = [item for item in typing.diagnostics if item.severity == "error"]
    if errors:
        where = () if place is None else (("the match", place),)
        raise CompileError(
            Diagnostic(item.code, f"the callback: {item.message}", item.span, item.hint, related=where)
            for item in errors
        )
    if expected is not None and not _is_taken(found, expected):
        message = f"the callback would replace {show_type(expected)} by {show_type(found)}"
        raise CompileError((Diagnostic("PT012", message, place, "let it return None for matches of other types"),))


def _is_taken(given: Type, expected: Type) -> bool:
    """Tell whether a value of type `given` may take the place of one of type `expected`, on the same device."""
    if isinstance(given, TensorType) and isinstance(expected, TensorType) and given.vdevice != expected.vdevice:
        return False
    return is_subtype(given, expected)


def require_sound(before: IRModule, after: IRModule) -> None:
    """Require that a rewrite broke no rule of well-formed modules.

    Raises:
        CompileError: PT015.
    """
    found = ill_formed(before, after)
    if found is not None:
        message = f"the callback would leave a module that is ill-formed: {found.message} ({found.code})"
        raise CompileError((Diagnostic("PT015", message, found.span),))


def require_relax(module: IRModule) -> None:
    """Require that a module is no Relay.

    Raises:
        CompileError: PS010.
    """
    if dialect_of(module) == "relay":
        message = "the rewrite is of bindings of Relax; the module is Relay"
        raise CompileError((Diagnostic("PS010", message, hint="rc.rewrite rewrites Relay by a pattern"),))


def endless() -> CompileError:
    """Return the error of a rewrite that changes the module again and again."""
    message = "the rewrite still changes the module after many applications"
    return CompileError((Diagnostic("PT004", message, hint="let the callback return None for what it has made"),))


def droppable(function: Function) -> Mapping[Var, Expr]:
    """Return the bindings of a function that may go if nothing uses them, with their values."""
    bindings = (node for node in preorder(function) if isinstance(node, Binding))
    return {item.var: item.value for item in bindings if isinstance(item, VarBinding) and not has_effect(item.value)}


def behind(values: Iterable[Expr], may_go: Mapping[Var, Expr], seen: set[Var]) -> Iterator[Var]:
    """Yield what `values` are computed from, as far as it may go and is not in `seen`, where it is added."""
    stack = [*values]
    while stack:
        for node in preorder(stack.pop()):
            if isinstance(node, Var) and node in may_go and node not in seen:
                seen.add(node)
                yield node
                stack.append(may_go[node])
