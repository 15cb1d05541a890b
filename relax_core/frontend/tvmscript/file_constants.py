"""Names of numbers and strings that stand around modules, such as `N = 16`: functions use them as literals."""

import ast
from collections.abc import Mapping, Sequence

_LARGEST = 1 << 63


def constants_of(statements: Sequence[ast.stmt]) -> dict[str, ast.expr]:
    """Return the names that a file gives a number or a string, once each; arithmetic of integers is done."""
    found: dict[str, ast.expr] = {}
    often: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (made := _literal(value, found)) is not None:
                if name in found:
                    often.add(name)
                found[name] = made
            case _:
                pass
    return {name: value for name, value in found.items() if name not in often}


def _literal(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr | None:
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return node
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return node
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() as op, left=left, right=right):
            value = _computed(op, _literal(left, known), _literal(right, known))
            return None if value is None else ast.copy_location(ast.Constant(value), node)
        case _:
            return None


def _computed(op: ast.operator, a: ast.expr | None, b: ast.expr | None) -> int | None:
    match a, b:
        case ast.Constant(value=int(x)), ast.Constant(value=int(y)) if abs(x) < _LARGEST and abs(y) < _LARGEST:
            pass
        case _:
            return None
    match op:
        case ast.Add():
            value = x + y
        case ast.Sub():
            value = x - y
        case ast.Mult():
            value = x * y
        case _:
            value = x // y if y else -1
    return value if 0 <= value < _LARGEST else None


def write_out(statement: ast.stmt, constants: Mapping[str, ast.expr]) -> None:
    """Replace the constants that a function or class uses by literals, in place; a name that it defines is its own."""
    if not constants:
        return
    match statement:
        case ast.FunctionDef():
            own = _defined(statement)
            visible = {name: value for name, value in constants.items() if name not in own}
            _Literals(visible).visit(statement)
        case ast.ClassDef():
            for item in statement.body:
                write_out(item, constants)
        case _:
            pass


def _defined(node: ast.FunctionDef) -> set[str]:
    own: set[str] = set()
    for item in ast.walk(node):
        match item:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                own.add(name)
            case _:
                pass
    return own


class _Literals(ast.NodeTransformer):
    """Writes the literal for each name that stands for one."""

    def __init__(self, constants: Mapping[str, ast.expr]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.constants.get(node.id)
        match found:
            case None:
                return node
            case ast.UnaryOp(op=op, operand=ast.Constant(value=value)):
                literal = ast.copy_location(ast.Constant(value), node)
                return ast.copy_location(ast.UnaryOp(op, literal), node)
            case ast.Constant(value=value):
                return ast.copy_location(ast.Constant(value), node)
            case _:
                raise AssertionError(type(found).__name__)
