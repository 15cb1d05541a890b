"""Read what a dataflow block gives out: `R.output(a, b)`, its last statement."""

import ast

from relax_core.frontend.tvmscript import relax_body
from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.unread import tell_arguments


def split_output(body: "relax_body.Body", statement: ast.With) -> tuple[list[ast.stmt], list[ast.Name]]:
    """Return the statements before `R.output(a, b)`, and the names that it lists."""
    context = body.reader.context
    match statement.body[-1]:
        case ast.Expr(value=ast.Call(args=args) as call) if relax_body.is_form(body, call, "output", "outputs"):
            tell_arguments(context, call, None)
        case _ if (early := _early_end(body, statement)) is not None:
            message = "R.output(...) is the last statement of a dataflow block"
            words = "a dataflow block does not return" if isinstance(early, ast.Return) else message
            context.report("PA012", early, words)
            body.failed = True
            names = [item for item in ast.walk(early) if isinstance(item, ast.Name) and item.id not in ("R", "relax")]
            return [item for item in statement.body if item is not early], names
        case last if (
            any(context.cut_at(item) is not None for item in statement.body) or context.cut_at(last) is not None
        ):
            return statement.body, []
        case _:
            hint = "end it with R.output(...), which lists the variables that are used behind it"
            context.report("PA012", statement, "the dataflow block has no R.output(...)", hint, "warning")
            return statement.body, []
    names: list[ast.Name] = []
    for item in args:
        for name in item.elts if isinstance(item, ast.Tuple | ast.List) else [item]:
            if isinstance(name, ast.Name):
                names.append(name)
            else:
                context.report("PA012", name, f"R.output lists names, got `{source_of(name)}`")
    return statement.body[:-1], names


def _early_end(body: "relax_body.Body", statement: ast.With) -> ast.stmt | None:
    """The R.output(...) that does not stand last, or a `return`, in a dataflow block."""
    for item in statement.body:
        is_output = isinstance(item, ast.Expr) and relax_body.is_form(body, item.value, "output", "outputs")
        if is_output or isinstance(item, ast.Return):
            return item
    return None
