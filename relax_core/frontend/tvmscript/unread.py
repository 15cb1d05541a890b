"""What a text says and nothing here reads: it is told, so that nobody relies on it."""

import ast
from collections.abc import Sequence

from relax_core.frontend.tvmscript.context import Context, source_of


def tell_import(context: Context, statement: ast.Import | ast.ImportFrom) -> None:
    """Warn of an import inside of a program: a program is read, and nothing of it is carried out."""
    hint = "remove it; what the text is written with is imported above the module"
    message = f"`{source_of(statement)}` is not carried out: nothing is imported into a program"
    context.report("PA055", statement, message, hint, "warning")


def tell_bases(context: Context, node: ast.ClassDef) -> None:
    """Warn of the bases, keywords and type parameters of a module's class, which are no part of the module."""
    parts: list[ast.expr] = [*node.bases, *(item.value for item in node.keywords)]
    words = [source_of(item) for item in node.bases]
    words += [
        f"{item.arg}={source_of(item.value)}" if item.arg else f"**{source_of(item.value)}" for item in node.keywords
    ]
    if parts:
        message = f"`{', '.join(words)}` of the class `{node.name}` is not read: a module has no base and no metaclass"
        span = context.span(parts[0]).to(context.span(parts[-1]))
        context.report("PA056", span, message, f"write `class {node.name}:`", "warning")


def tell_arguments(context: Context, call: ast.Call, count: int | None, known: Sequence[str] = ()) -> None:
    """Warn of the arguments of a form that it does not have: behind the first `count`, or by a name not `known`."""
    unread: list[tuple[str, ast.expr]] = []
    if count is not None:
        unread += [(source_of(item), item) for item in call.args[count:]]
    for item in call.keywords:
        if item.arg not in known:
            unread.append(
                (f"{item.arg}={source_of(item.value)}" if item.arg else f"**{source_of(item.value)}", item.value)
            )
    if unread:
        words = ", ".join(word for word, _ in unread)
        span = context.span(unread[0][1]).to(context.span(unread[-1][1]))
        message = f"`{words}` is not an argument of `{source_of(call.func)}` and is not read"
        context.report("PA057", span, message, "remove it", "warning")
