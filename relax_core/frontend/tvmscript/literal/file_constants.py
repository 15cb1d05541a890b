"""Constants defined around modules, such as `N = 16`, which functions use as literals, and functions of one expression.

They are written out in the syntax tree; nothing is called.
"""

import ast
from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import Final

from relax_core.frontend.tvmscript.literal import python_values
from relax_core.frontend.tvmscript.names import dotted

_NUMPY: Final = ("np", "numpy")
_CONSTANTS: Final = (("relax", "const"), ("R", "const"))
_TENSORS: Final = (("runtime", "tensor"), ("nd", "array"))
_COMPUTING: Final = (
    "len", "int", "float", "bool", "str", "abs", "round", "sum", "min", "max", "tuple", "list", "sorted", "reversed",
    "zip", "enumerate", "any", "all", "dict", "range", "ceil", "floor", "log", "log2", "prod", "sqrt",
)  # fmt: skip
"""The functions that `python_values` computes, so that it is loaded for these alone."""
_COMPUTED: Final = (
    ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Dict, ast.GeneratorExp, ast.IfExp, ast.JoinedStr, ast.ListComp,
    ast.Subscript, ast.UnaryOp,
)  # fmt: skip
_LONGEST: Final = 2000
_MOST_PARTS: Final = 50_000
"""The parts of a table, of which each may name the one before it twice."""


def constants_of(
    statements: Sequence[ast.stmt], around: Mapping[str, ast.expr] = MappingProxyType({})
) -> dict[str, ast.expr]:
    """Return the names that are assigned a literal exactly once, with those `around`; integer arithmetic is folded.

    So are functions that return an expression, as lambdas.
    """
    found: dict[str, ast.expr] = {}
    often: set[str] = set()
    for statement in statements:
        for name, made in _assigned(statement, {**around, **found}):
            if name in found:
                often.add(name)
            found[name] = made
    return {**around, **{name: value for name, value in found.items() if name not in often}}


def _assigned(statement: ast.stmt, known: Mapping[str, ast.expr]) -> list[tuple[str, ast.expr]]:
    """Return the names that a statement lets stand for something, and what that is."""
    match statement:
        case ast.Assign(targets=[ast.Name(), *_] as targets, value=value):
            made = literal_of(value, known)
            return [(item.id, made) for item in targets if isinstance(item, ast.Name) and made is not None]
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
            return first_of(targets, _first_of_each(value) or value, known)
        case ast.FunctionDef(name=name, args=arguments, decorator_list=[]) if (
            body := _only_returned(statement)
        ) is not None:
            made = _function(ast.copy_location(ast.Lambda(arguments, body), statement), known)
            return [] if made is None else [(name, made)]
        case _:
            return []


def first_of(targets: Sequence[ast.expr], value: ast.expr, known: Mapping[str, ast.expr]) -> list[tuple[str, ast.expr]]:
    """Return what the names of a tuple stand for, if `value` is a tuple of as many."""
    match literal_of(value, known):
        case ast.Tuple(elts=values) if len(values) == len(targets):
            found: list[tuple[str, ast.expr]] = []
            for target, item in zip(targets, values, strict=True):
                found += [(target.id, item)] if isinstance(target, ast.Name) else []
                found += first_of(target.elts, item, known) if isinstance(target, ast.Tuple) else []
            return found
        case _:
            return []


def _first_of_each(value: ast.expr) -> ast.expr | None:
    """Return `(8, "int8")` for `tvm.testing.parameters((8, "int8"), (16, "int16"))`."""
    match value:
        case ast.Call(func=func, args=[first, *_]) if (dotted(func) or ())[-2:] == ("testing", "parameters"):
            return first
        case _:
            return None


def _only_returned(function: ast.FunctionDef) -> ast.expr | None:
    """Return what a function returns that does nothing else but to name parts of it; it may have a docstring."""
    *before, last = function.body
    named: dict[str, ast.expr] = {}
    for statement in before:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                named[name] = _Literals(named).visit(deepcopy(value))
            case _:
                return None
        if not all(map(_is_short, named.values())):
            return None
    match last:
        case ast.Return(value=ast.expr() as value):
            return _Literals(named).visit(deepcopy(value))
        case _:
            return None


def _function(node: ast.Lambda, known: Mapping[str, ast.expr]) -> ast.expr | None:
    """Return a function with the constants before it inlined; `None` for a long one, and for one of any arguments."""
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        return None
    own = {item.arg for item in arguments.args}
    made = deepcopy(node)
    made.body = _Literals({name: value for name, value in known.items() if name not in own}).visit(made.body)
    return made if _is_short(made) else None


def _is_short(node: ast.AST, most: int = _LONGEST) -> bool:
    return sum(1 for _ in zip(ast.walk(node), range(most + 1), strict=False)) <= most


def literal_of(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr | None:
    """Return the literal that an expression of literals stands for, with the constants that are `known`."""
    match node:
        case ast.Lambda():
            return _function(node, known)
        case ast.Call(func=func, args=[first, *_]) if (dotted(func) or ())[-2:] == ("testing", "parameter"):
            # A test runs with each of the values.
            return literal_of(first, known)
        case ast.Call(func=func, args=args, keywords=[]) if (dotted(func) or ("",))[-1] == "Target":
            texts = [item for item in args if isinstance(item, ast.Constant)]
            target = ast.Attribute(ast.Name("T", ast.Load()), "target", ast.Load())
            return ast.copy_location(ast.Call(target, [*texts], []), node) if len(texts) == len(args) == 1 else None
        case ast.Call(func=func, args=[array]) if (dotted(func) or ())[-2:] in _TENSORS:
            return literal_of(array, known)
        case ast.Constant(value=bool() | int() | float() | str()):
            return node
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return node
        case ast.Tuple(elts=items) | ast.List(elts=items):
            parts = [made for item in items if (made := literal_of(item, known)) is not None]
            made = ast.copy_location(ast.Tuple(parts, ast.Load()), node)
            return made if len(parts) == len(items) and _is_short(made, _MOST_PARTS) else None
        case ast.Call(func=func) if (dotted(func) or ("",))[-1] not in _COMPUTING and not _is_method(func):
            return _array(node, known)
        case _ if isinstance(node, _COMPUTED):
            return python_values.evaluated(node, known) or _array(node, known)
        case _:
            return None


def _is_method(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and func.attr == "format"


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
    is_array = _is_of_numpy(made) or (isinstance(made, ast.Call) and (dotted(made.func) or ())[-2:] in _CONSTANTS)
    return made if is_array and _is_short(made) else None


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
        """Write `1` for `shape[0]`, and for `options["count"]`."""
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Dict(keys=keys, values=values), slice=ast.Constant(value=word)):
                found = [
                    value
                    for key, value in zip(keys, values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == word
                ]
                return found[-1] if found else node
            case ast.Subscript(value=ast.Tuple(elts=items), slice=ast.Constant(value=int(place))) if (
                0 <= place < len(items)
            ):
                return items[place]
            case _:
                return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Write `x * x` for `square(x)`."""
        function = self.constants.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if not isinstance(function, ast.Lambda):
            self.generic_visit(node)
            return node
        node.args = [self.visit(item) for item in node.args]
        node.keywords = [
            ast.copy_location(ast.keyword(item.arg, self.visit(item.value)), item) for item in node.keywords
        ]
        given = _arguments_of(function.args, node)
        if given is None:
            return node
        made = _Literals(given).visit(_at(function.body, node))
        return made if _is_short(made) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Write `a` for `a if True else b`."""
        self.generic_visit(node)
        match node.test:
            case ast.Constant(value=bool(chosen)):
                return node.body if chosen else node.orelse
            case _:
                return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Write `"kernel_16"` for `f"kernel_{N}"`."""
        self.generic_visit(node)
        parts = [item.value if isinstance(item, ast.FormattedValue) else item for item in node.values]
        values = [str(item.value) for item in parts if isinstance(item, ast.Constant)]
        return ast.copy_location(ast.Constant("".join(values)), node) if len(values) == len(parts) else node


def _arguments_of(parameters: ast.arguments, call: ast.Call) -> dict[str, ast.expr] | None:
    """Return what a call gives each parameter of a function; `None` if it does not fit."""
    names = [item.arg for item in parameters.args]
    found = dict(zip(reversed(names), reversed(parameters.defaults), strict=False))
    found |= zip(names, call.args, strict=False)
    found |= {item.arg: item.value for item in call.keywords if item.arg is not None}
    has_starred = any(isinstance(item, ast.Starred) for item in call.args)
    fits = len(call.args) <= len(names) and found.keys() == set(names) and not has_starred
    return found if fits else None


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
