"""Constants defined around modules, such as `N = 16`, which functions use as literals."""

import ast
from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import Final

from relax_core.frontend.tvmscript.names import dotted

_NUMPY: Final = ("np", "numpy")
_LARGEST = 1 << 63
_LONGEST: Final = 2000


def constants_of(
    statements: Sequence[ast.stmt], around: Mapping[str, ast.expr] = MappingProxyType({})
) -> dict[str, ast.expr]:
    """Return the names that are assigned a literal exactly once, with those `around`; integer arithmetic is folded."""
    found: dict[str, ast.expr] = {}
    often: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                made := _literal(value, {**around, **found})
            ) is not None:
                if name in found:
                    often.add(name)
                found[name] = made
            case _:
                pass
    return {**around, **{name: value for name, value in found.items() if name not in often}}


def _literal(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr | None:
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return node
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return node
        case ast.Tuple(elts=items) | ast.List(elts=items):
            parts = [made for item in items if (made := _literal(item, known)) is not None]
            return ast.copy_location(ast.Tuple(parts, ast.Load()), node) if len(parts) == len(items) else None
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() as op, left=left, right=right) if (
            value := _computed(op, _literal(left, known), _literal(right, known))
        ) is not None:
            return ast.copy_location(ast.Constant(value), node)
        case ast.Call() | ast.BinOp():
            return _array(node, known)
        case _:
            return None


def _is_of_numpy(node: ast.expr) -> bool:
    """Tell whether an array comes from calls of NumPy, `np.zeros((2, 3)).astype("float32") + 1`."""
    match node:
        case ast.Call(func=func):
            return (dotted(func) or ("",))[0] in _NUMPY or (
                isinstance(func, ast.Attribute) and _is_of_numpy(func.value)
            )
        case ast.BinOp(left=left, right=right):
            return _is_of_numpy(left) or _is_of_numpy(right)
        case _:
            return False


def _array(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr | None:
    """Return an array's expression with the constants before it inlined; `None` for another, and for a long one."""
    made = _Literals(known).visit(deepcopy(node))
    # Each definition may use the one before it twice.
    return made if _is_of_numpy(made) and sum(1 for _ in ast.walk(made)) <= _LONGEST else None


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
    """Inline the constants that a function or class uses, in place; a name that it defines shadows a constant."""
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
        return node if found is None else _at(found, node)

    def visit_Starred(self, node: ast.Starred) -> ast.expr | list[ast.expr]:
        """Write `1, 2` for the `*shape` of a list."""
        inner = self.visit(node.value)
        return inner.elts if isinstance(inner, ast.Tuple) else ast.copy_location(ast.Starred(inner, node.ctx), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Write `1` for `shape[0]`."""
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Tuple(elts=items), slice=ast.Constant(value=int(place))) if (
                0 <= place < len(items)
            ):
                return items[place]
            case _:
                return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Write `"kernel_16"` for `f"kernel_{N}"`."""
        self.generic_visit(node)
        parts = [item.value if isinstance(item, ast.FormattedValue) else item for item in node.values]
        values = [str(item.value) for item in parts if isinstance(item, ast.Constant)]
        return ast.copy_location(ast.Constant("".join(values)), node) if len(values) == len(parts) else node


def _at(value: ast.expr, place: ast.expr) -> ast.expr:
    """Return a copy of a literal that stands at `place`."""
    match value:
        case ast.UnaryOp(op=op, operand=inner):
            made: ast.expr = ast.UnaryOp(op, _at(inner, place))
        case ast.Constant(value=constant):
            made = ast.Constant(constant)
        case ast.Tuple(elts=items):
            made = ast.Tuple([_at(item, place) for item in items], ast.Load())
        case _:
            # An array's expression: its errors are those of its use.
            made = deepcopy(value)
            for item in ast.walk(made):
                ast.copy_location(item, place)
            return made
    return ast.copy_location(made, place)
