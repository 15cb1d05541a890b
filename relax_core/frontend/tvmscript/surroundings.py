"""Find the programs of a script: those that stand inside of its functions and classes, as in a test file."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.literal.file_constants import constants_of
from relax_core.frontend.tvmscript.names import qualified

_KINDS = ("relax.", "tir.", "ir.")


def marks_program(context: Context, node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Tell a part of a program, `@R.function` or `@I.ir_module`, from what the script around it is made of."""
    if not node.decorator_list:
        return False
    decorator = node.decorator_list[0]
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = qualified(func, context.aliases) or ""
    return name.startswith(_KINDS) or name in ("ir_module", "tir")


@dataclass(frozen=True, slots=True)
class Surrounding:
    """Statements that stand together, and the numbers and strings that names stand for among them, such as `N = 16`."""

    statements: list[ast.stmt]
    constants: Mapping[str, ast.expr]


def surroundings_of(
    context: Context, statements: Sequence[ast.stmt], constants: Mapping[str, ast.expr] = MappingProxyType({})
) -> list[Surrounding]:
    """Return the statements of a file, and on their own those of each function or class that holds programs."""
    known = constants_of(statements, constants)
    own = Surrounding([], known)
    found = [own]
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.ClassDef() if not _stands_alone(context, statement) and _holds_program(
                context, statement
            ):
                found += surroundings_of(context, statement.body, known)
            case _:
                own.statements.append(statement)
    return found


def _stands_alone(context: Context, node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Tell a program, or a class that only lacks `@I.ir_module`, from a part of the script."""
    is_plain_class = isinstance(node, ast.ClassDef) and not node.bases
    has_methods = any(isinstance(item, ast.FunctionDef) and marks_program(context, item) for item in node.body)
    return marks_program(context, node) or (is_plain_class and has_methods)


def _holds_program(context: Context, node: ast.FunctionDef | ast.ClassDef) -> bool:
    inner = (item for item in ast.walk(node) if isinstance(item, ast.FunctionDef | ast.ClassDef))
    return any(marks_program(context, item) for item in inner)


def symbols_of(context: Context, functions: Sequence[ast.FunctionDef]) -> dict[str, str]:
    """Return the `global_symbol` of functions that stand alone, by name: as in TVM it is what the module calls them.

    A symbol that is also the name or the symbol of another of the functions is left out.
    """
    found = {item.name: symbol for item in functions if (symbol := _symbol_of(context, item)) is not None}
    names = [*(item.name for item in functions), *found.values()]
    return {name: symbol for name, symbol in found.items() if names.count(symbol) == 1}


def _symbol_of(context: Context, node: ast.FunctionDef) -> str | None:
    for statement in node.body:
        match statement:
            case ast.Expr(value=ast.Call(func=func, args=[ast.Dict(keys=keys, values=values)])) if qualified(
                func, context.aliases
            ) in ("relax.func_attr", "tir.func_attr"):
                pairs = zip(keys, values, strict=True)
                symbols = [
                    value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "global_symbol"
                ]
                match symbols[-1] if symbols else None:
                    case ast.Constant(value=str(symbol)) if symbol.isidentifier():
                        return symbol
                    case _:
                        return None
            case _:
                pass
    return None
