"""Find the programs of a script: those that stand inside of its functions and classes, as in a test file."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.literal.file_constants import constants_of, first_of, literal_of
from relax_core.frontend.tvmscript.names import dotted, qualified

_AROUND: Final = (ast.FunctionDef, ast.ClassDef, ast.For, ast.If, ast.With, ast.Try)
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
    known = {name: value for name, value in known.items() if not _is_emitted(context, name, value)}
    own = Surrounding([], known)
    found = [own]
    calls = _first_calls(statements)
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and _stands_alone(context, statement):
            own.statements.append(statement)
        elif isinstance(statement, _AROUND) and _holds_program(context, statement):
            inner = {**known, **_first_values(context, statement, calls, known)}
            for body in _bodies(statement):
                found += surroundings_of(context, body, inner)
        else:
            own.statements.append(statement)
    return found


def _is_emitted(context: Context, name: str, value: ast.expr) -> bool:
    """Tell a function that `R.emit_te` calls, which is read as one of tensors."""
    return isinstance(value, ast.Lambda) and re.search(rf"\bemit_te\(\s*{name}\b", context.script) is not None


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    match statement:
        case ast.For(body=body, orelse=other) | ast.If(body=body, orelse=other):
            return [body, other]
        case ast.FunctionDef(body=body) | ast.ClassDef(body=body) | ast.With(body=body) | ast.Try(body=body):
            return [body]
        case _:
            return []


def _first_values(
    context: Context, statement: ast.stmt, calls: Mapping[str, ast.Call], known: Mapping[str, ast.expr]
) -> dict[str, ast.expr]:
    """Return what the parameters of a function stand for, or the names of a loop: the first value that the text gives.

    A test is run with each of its parameters' values, a function that makes a program with those of its calls.
    """
    match statement:
        case ast.For(target=ast.Name() as target, iter=iterator):
            found = _firsts([target], iterator, known)
        case ast.For(target=ast.Tuple(elts=targets), iter=iterator):
            found = _firsts(targets, iterator, known)
        case ast.FunctionDef():
            found = _defaults(statement, known) | _called_with(statement, calls, known)
            for item in statement.decorator_list:
                found |= _parametrized(item, known)
        case _:
            found = {}
    for name, value in found.items():
        message = f"`{name}` stands for `{source_of(value)}` here, the first of its values in the text"
        context.report("PA020", statement, message, severity="note")
    return found


def _firsts(targets: Sequence[ast.expr], values: ast.expr, known: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
    """Return what names stand for by the first of a list of values."""
    match values if isinstance(values, ast.List | ast.Tuple) else literal_of(values, known):
        case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
            pass
        case _:
            return {}
    if isinstance(first, ast.Call) and (dotted(first.func) or ("",))[-1] == "param":
        first = first.args[0] if len(first.args) == 1 else ast.Tuple(first.args, ast.Load())
    if len(targets) > 1:
        return dict(first_of(targets, first, known))
    value = literal_of(first, known)
    return {} if value is None else {item.id: value for item in targets if isinstance(item, ast.Name)}


def _parametrized(decorator: ast.expr, known: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
    """Read `@pytest.mark.parametrize("n, dtype", [(8, "int8"), (16, "int8")])`."""
    match decorator:
        case ast.Call(func=func, args=[names, values, *_]) if (dotted(func) or ("",))[-1] == "parametrize":
            pass
        case _:
            return {}
    match names:
        case ast.Constant(value=str(text)):
            words = [item.strip() for item in text.split(",") if item.strip()]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            words = [str(item.value) for item in items if isinstance(item, ast.Constant)]
        case _:
            return {}
    return _firsts([ast.Name(word, ast.Load()) for word in words], values, known)


def _defaults(function: ast.FunctionDef, known: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
    args = function.args
    pairs = [
        *zip(reversed(args.args), reversed(args.defaults), strict=False),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    made = {item.arg: literal_of(value, known) for item, value in pairs if value is not None}
    return {name: value for name, value in made.items() if value is not None}


def _first_calls(statements: Sequence[ast.stmt]) -> dict[str, ast.Call]:
    """Return the first call of each name among the statements and all in them, in one walk."""
    found: dict[str, ast.Call] = {}
    for statement in statements:
        for item in ast.walk(statement):
            match item:
                case ast.Call(func=ast.Name(id=name)):
                    found.setdefault(name, item)
                case _:
                    pass
    return found


def _called_with(
    function: ast.FunctionDef, calls: Mapping[str, ast.Call], known: Mapping[str, ast.expr]
) -> dict[str, ast.expr]:
    """Return what the first call of a function beside it gives its parameters."""
    call = calls.get(function.name)
    if call is None:
        return {}
    names = [item.arg for item in function.args.args]
    given = dict(zip(names, call.args, strict=False)) | {word.arg: word.value for word in call.keywords if word.arg}
    made = {word: literal_of(value, known) for word, value in given.items()}
    return {word: value for word, value in made.items() if value is not None}


def _stands_alone(context: Context, node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Tell a program, or a class that only lacks `@I.ir_module`, from a part of the script."""
    is_plain_class = isinstance(node, ast.ClassDef) and not node.bases
    has_methods = any(isinstance(item, ast.FunctionDef) and marks_program(context, item) for item in node.body)
    return marks_program(context, node) or (is_plain_class and has_methods)


def _holds_program(context: Context, node: ast.stmt) -> bool:
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
