"""What a text says and nothing here reads: it is told, so that nobody relies on it."""

import ast
from collections.abc import Mapping, Sequence

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.names import dotted


def tell_import(context: Context, statement: ast.Import | ast.ImportFrom) -> None:
    """Warn of an import inside of a program: a program is read, and nothing of it is carried out."""
    hint = "remove it; what the text is written with is imported above the module"
    message = f"`{source_of(statement)}` is not carried out: nothing is imported into a program"
    context.report("PA055", statement, message, hint, "warning")


def tell_bases(context: Context, node: ast.ClassDef) -> None:
    """Warn of the bases, keywords and type parameters of a module's class, which are no part of the module.

    `BasePyModule` lets TVM call the module's Python functions, which are read for what they are without it.
    """
    bases = [item for item in node.bases if (dotted(item) or ("",))[-1] != "BasePyModule"]
    parts: list[ast.expr] = [*bases, *(item.value for item in node.keywords)]
    words = [source_of(item) for item in bases]
    words += [
        f"{item.arg}={source_of(item.value)}" if item.arg else f"**{source_of(item.value)}" for item in node.keywords
    ]
    if parts:
        message = f"`{', '.join(words)}` of the class `{node.name}` is not read: a module has no base and no metaclass"
        span = context.span(parts[0]).to(context.span(parts[-1]))
        context.report("PA056", span, message, f"write `class {node.name}:`", "warning")


def tell_arguments(context: Context, call: ast.Call, count: int | None, known: Sequence[str] = ()) -> None:
    """Warn of the arguments of a form that it does not have: behind the first `count`, or by a name not `known`."""
    refuse_repeated(context, call)
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


def read_arguments(context: Context, call: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
    """Return the arguments of a form by the `names` of its parameters; warn of those that it does not have.

    Raises:
        Failed: PA006 for an argument that is given by its place and by its name.
    """
    tell_arguments(context, call, len(names), names)
    found = dict(zip(names, call.args, strict=False))
    named = {item.arg: item.value for item in call.keywords if item.arg in names}
    tell_repeated(context, call, found, named)
    return found | {name: value for name, value in named.items() if name is not None}


def refuse_repeated(context: Context, call: ast.Call) -> None:
    """Refuse a keyword that a call has twice: Python would, when it compiles what it has parsed.

    Raises:
        Failed: PA006.
    """
    if len(call.keywords) < 2:
        return
    seen: set[str] = set()
    for item in call.keywords:
        if item.arg in seen:
            message = f"`{source_of(call.func)}` is given `{item.arg}` twice"
            raise context.fail("PA006", item.value, message, "remove one of them")
        seen.update(() if item.arg is None else (item.arg,))


def tell_repeated(
    context: Context, form: ast.expr, placed: Mapping[str, ast.expr], named: Mapping[str | None, ast.expr]
) -> None:
    """Refuse an argument that is given twice.

    Raises:
        Failed: PA006.
    """
    for name in placed:
        if name in named:
            message = f"`{name}` of `{source_of(form)}` is given by its place and by its name"
            raise context.fail("PA006", named[name], message, "remove one of them")


def tell_declaration(context: Context, call: ast.Call) -> None:
    """Warn of what a declaration such as `T.var("int64", "n")` does not have: it takes a dtype and a name."""
    tell_arguments(context, call, 2, ("dtype", "name", "name_hint", "is_size_var", "span"))
    others = [item for item in call.args[:2] if not (isinstance(item, ast.Constant) and isinstance(item.value, str))]
    for item in others:
        message = f"`{source_of(item)}` is neither the dtype nor the name of a variable and is not read"
        context.report("PA057", item, message, "remove it", "warning")


def tell_unused(context: Context, form: ast.expr, given: Mapping[str, ast.expr], unused: Sequence[str]) -> None:
    """Warn of arguments that a form has in TVM, and that mean nothing where it stands."""
    for name in unused:
        if name in given:
            message = f"`{name}={source_of(given[name])}` of `{source_of(form)}` is not read here"
            context.report("PA057", given[name], message, "remove it", "warning")


def tell_keys(context: Context, keys: Sequence[ast.expr | None]) -> None:
    """Warn of a key that a dictionary has twice: as in Python, the last value counts."""
    seen: set[str] = set()
    for key in keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            if key.value in seen:
                message = f"the key `{source_of(key)}` stands in this dictionary before; the last value counts"
                context.report("PA059", key, message, "remove one of them", "warning")
            seen.add(key.value)
