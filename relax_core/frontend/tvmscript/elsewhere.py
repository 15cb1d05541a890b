"""Find definitions of undefined names that are out of scope: after the use, or in a statement that has ended."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from relax_core.diagnostics import Diagnostic
from relax_core.frontend.tvmscript.context import Context
from relax_core.source import Span


@dataclass(frozen=True, slots=True)
class _Inside:
    """A statement that opens a scope, with the part of it that is the scope."""

    statement: ast.stmt
    span: Span


@dataclass(frozen=True, slots=True)
class _Definition:
    """A definition of a name, with the scopes around it from the outside in."""

    span: Span
    around: tuple[_Inside, ...]

    def ended_before(self, use: Span) -> ast.stmt | None:
        """Return the outermost statement around the definition that has ended where the name is used."""
        return next((item.statement for item in self.around if not _holds(item.span, use)), None)


def point_at_definitions(context: Context, tree: ast.Module) -> None:
    """Add to each message about an undefined name where its function defines the name, if it does."""
    if not context.undefined:
        return
    for index, said in enumerate(context.diagnostics):
        name = context.undefined.get(said)
        if name is not None and said.span is not None:
            function = _function_around(context, tree, said.span)
            if function is not None:
                context.diagnostics[index] = _pointed(context, said, function, name)


def _function_around(context: Context, tree: ast.Module, use: Span) -> ast.FunctionDef | None:
    """Return the outermost function in whose text `use` stands."""
    statements = list(tree.body)
    while statements:
        match statements.pop():
            case ast.ClassDef(body=body):
                statements.extend(body)
            case ast.FunctionDef() as function if _holds(context.span(function), use):
                return function
            case _:
                pass
    return None


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start < outer.end


def _pointed(context: Context, said: Diagnostic, function: ast.FunctionDef, name: str) -> Diagnostic:
    assert said.span is not None
    use = said.span
    found = tuple(_definitions(context, function, name))
    ended = [(item, scope) for item in found if (scope := item.ended_before(use)) is not None]
    behind = [item for item in found if item.ended_before(use) is None and item.span.start > use.start]
    if found and function.returns is not None and _holds(context.span(function.returns), use):
        hint = "a dimension of a result is one of the parameters' dimensions, or left open: R.Tensor(ndim=...)"
        return replace(said, hint=hint, related=((f"`{name}` is defined here", found[0].span),))
    if ended:
        definition, scope = ended[-1]
        words, hint = _words(scope, name)
        return replace(said, hint=hint, related=((words, definition.span),))
    if behind:
        related = ((f"`{name}` is defined here, behind its use", behind[0].span),)
        return replace(said, hint=f"move the definition of `{name}` before its use", related=related)
    return said


def _words(scope: ast.stmt, name: str) -> tuple[str, str]:
    """Describe a definition inside of `scope`, which does not contain the use, and what can be done."""
    match scope:
        case ast.If():
            where, hint = "the branch", f"let both branches end by assigning `{name}`, or use it inside"
        case ast.FunctionDef(name=function):
            where, hint = f"the function `{function}`", f"return it from `{function}`"
        case ast.For() | ast.While():
            where, hint = "the loop", "use it inside the loop"
        case _:
            where, hint = "the block", "use it inside the block"
    return f"`{name}` is visible only inside {where} that defines it, here", hint


def _definitions(context: Context, function: ast.FunctionDef, name: str) -> Iterator[_Definition]:
    """Yield what defines `name` in a function, in the order of the text."""
    rest: list[tuple[ast.AST, tuple[_Inside, ...]]] = [(function, ())]
    while rest:
        node, around = rest.pop()
        match node:
            case ast.Name(id=given, ctx=ast.Store()) | ast.arg(arg=given) if given == name:
                yield _Definition(context.span(node), around)
            case ast.FunctionDef(name=given) if given == name and node is not function:
                yield _Definition(context.span(node), around)
            case _:
                pass
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                parts = (
                    (child, (*around, _branch(context, node, branch))) for branch in (body, orelse) for child in branch
                )
                inner = [(test, around), *parts]
            case ast.FunctionDef() | ast.With() | ast.For() | ast.While() if node is not function:
                inside = (*around, _Inside(node, context.span(node)))
                inner = [(child, inside) for child in ast.iter_child_nodes(node)]
            case _:
                inner = [(child, around) for child in ast.iter_child_nodes(node)]
        rest.extend(reversed(inner))


def _branch(context: Context, node: ast.If, branch: list[ast.stmt]) -> _Inside:
    return _Inside(node, context.span(branch[0]).to(context.span(branch[-1])))
