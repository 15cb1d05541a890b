"""Arguments by place or by name."""

import ast
from collections.abc import Sequence

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.names import suggestion
from relax_core.frontend.tvmscript.unread import refuse_repeated


def given(
    context: Context, node: ast.Call, names: str, required: int, args: Sequence[ast.expr] | None = None
) -> dict[str, ast.expr]:
    """Return the arguments of `node` by the `names` of its parameters, of which the first `required` must be there.

    An argument `None` counts as absent.
    """
    refuse_repeated(context, node)
    known = names.split()
    values = list(node.args if args is None else args)
    found: dict[str, ast.expr] = dict(zip(known, values, strict=False))
    repeated = [item.arg for item in node.keywords if item.arg in found]
    unknown = [item.arg or "**" for item in node.keywords if item.arg not in known]
    if len(unknown) == 1 and (near := suggestion(unknown[0], known)):
        value = next(item.value for item in node.keywords if item.arg == unknown[0])
        place = context.keyword(unknown[0], value)
        raise context.fail("PA006", place, f"`{source_of(node.func)}`: `{unknown[0]}` is unknown", near)
    found.update((item.arg, item.value) for item in node.keywords if item.arg is not None)
    missing = [name for name in known[:required] if name not in found]
    starred = any(isinstance(item, ast.Starred) for item in values)
    if repeated or unknown or missing or starred or len(values) > len(known):
        wrong = (
            f"`{unknown[0]}` is unknown"
            if unknown
            else f"`{missing[0]}` is missing"
            if missing
            else "too many arguments"
        )
        hint = f"it takes {', '.join(known)}"
        raise context.fail("PA006", node, f"`{source_of(node.func)}`: {wrong}", hint)
    return {name: value for name, value in found.items() if not is_none(value)}


def is_none(node: ast.expr) -> bool:
    """Tell whether an argument is `None`."""
    return isinstance(node, ast.Constant) and node.value is None


def is_true(node: ast.expr) -> bool:
    """Tell whether an argument is `True`."""
    return isinstance(node, ast.Constant) and node.value is True


def text_argument(context: Context, node: ast.expr, what: str) -> str:
    """Read a string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise context.fail("PA006", node, f"{what} is a string, got `{source_of(node)}`")
