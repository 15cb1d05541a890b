"""Read attributes: plain data in braces, brackets and literals, and what TVM makes of such data."""

import ast

from relax_core.frontend.tvmscript.context import Context, source_of
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.unread import read_arguments, refuse_repeated, tell_keys
from relax_core.ir.attrs import Attrs, AttrValue, attrs_of, has_attr

BY_NAME = "@names"
"""The attribute of a call that lists the names by which its last arguments are given."""
MADE = "@"
"""`T.target({...})` is the dictionary `{"@T.target": (args, named)}`: the mark, who makes it, and from what."""
PYTHON_FUNCTIONS = "@pyfunc"
"""The attribute of a module that holds its Python functions: names with source texts."""
EXTERNAL_FUNCTIONS = "@extern"
"""The attribute of a module that holds its functions from outside: names with symbols."""
_LETTERS = (("relax.", "R."), ("tir.", "T."), ("ir.", "I."))


def read_attribute(context: Context, node: ast.expr) -> AttrValue:
    """Read one attribute value; lists and tuples become tuples, dictionaries tuples of pairs."""
    match node:
        case ast.Constant(value=value) if value is None or isinstance(value, bool | int | float | str):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
            return -value
        case ast.Call(
            func=ast.Name(id="float"), args=[ast.Constant(value="nan" | "inf" | "-inf" as text)], keywords=[]
        ):
            return float(text)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(read_attribute(context, item) for item in items)
        case ast.Dict():
            return read_attributes(context, node)
        case ast.Call(func=func, args=[inner], keywords=[]) if _is_typed(context, func):
            return _with_dtype(context, func, read_attribute(context, inner))
        case ast.Call() if (maker := maker_of(context, node)) is not None:
            refuse_repeated(context, node)
            given = tuple(_part(context, item) for item in node.args)
            named = attrs_of((item.arg, _part(context, item.value)) for item in node.keywords if item.arg)
            return ((MADE + maker, (given, named)),)
        case _:
            raise context.fail("PA016", node, f"an attribute is plain data, got `{source_of(node)}`")


def _with_dtype(context: Context, func: ast.expr, value: AttrValue) -> AttrValue:
    """`T.float32(1.0)` keeps its dtype, as in TVM; an integer in a typed scalar is shown as a plain one there."""
    name = (qualified(func, context.aliases) or "").removeprefix("tir.")
    if not name.startswith(("float", "bfloat")):
        return value
    number = float(value) if isinstance(value, int) else value
    return ((f"{MADE}T.{name}", ((number,), ())),)


def _part(context: Context, node: ast.expr) -> AttrValue:
    """A function, such as the one of `T.index_map(lambda i, j: (j, i))`, is kept as its text."""
    return ((f"{MADE}lambda", ast.unparse(node)),) if isinstance(node, ast.Lambda) else read_attribute(context, node)


def read_attributes(context: Context, node: ast.expr) -> Attrs:
    """Read `{"key": value, ...}`."""
    if not isinstance(node, ast.Dict):
        raise context.fail("PA016", node, 'expected a dictionary, such as {"key": 1}')
    tell_keys(context, node.keys)
    pairs: list[tuple[str, AttrValue]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise context.fail("PA016", key or node, "the key of an attribute is a string")
        pairs.append((key.value, read_attribute(context, value)))
    return attrs_of(pairs)


def with_attributes(context: Context, known: Attrs, node: ast.expr) -> Attrs:
    """Read `{"key": value, ...}` behind what a function has said before; it says each thing once."""
    more = read_attributes(context, node)
    if repeated := next((key for key, _ in more if has_attr(known, key)), None):
        raise context.fail("PA022", node, f'the attribute "{repeated}" is there twice')
    return attrs_of([*known, *more])


def virtual_device(context: Context, node: ast.Call) -> AttrValue:
    """Read `I.vdevice("llvm", 0, "global")` as "llvm:0:global", and that of a target in full with its target."""
    given = read_arguments(context, node, ("target", "vdevice_id", "memory_scope"))
    target = read_attribute(context, given["target"]) if "target" in given else "llvm"
    index = read_attribute(context, given["vdevice_id"]) if "vdevice_id" in given else 0
    scope = read_attribute(context, given["memory_scope"]) if "memory_scope" in given else "global"
    return f"{target}:{index}:{scope}" if isinstance(target, str) else (target, index, scope)


def maker_of(context: Context, node: ast.Call) -> str | None:
    """Return "T.target" for `T.target({...})`: a call of R, T or I that makes an object of plain data."""
    name = qualified(node.func, context.aliases) or ""
    name = "tir.target" if name in ("tvm.target.Target", "target.Target") else name
    letter = next(
        (f"{letter}{name.removeprefix(module)}" for module, letter in _LETTERS if name.startswith(module)), None
    )
    are_plain = all(isinstance(item, ast.Lambda) or is_plain_data(context, item) for item in node.args)
    are_plain = are_plain and all(
        item.arg is not None and (isinstance(item.value, ast.Lambda) or is_plain_data(context, item.value))
        for item in node.keywords
    )
    return letter if are_plain else None


def is_plain_data(context: Context, node: ast.expr) -> bool:
    """Tell whether `node` is a literal, or a list, tuple, dictionary or object of such; a typed scalar is not."""
    match node:
        case ast.Constant(value=value):
            return value is None or isinstance(value, bool | int | float | str)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="nan" | "inf" | "-inf")], keywords=[]):
            return True
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(is_plain_data(context, item) for item in items)
        case ast.Dict(keys=keys, values=values):
            return all(isinstance(key, ast.Constant) for key in keys) and all(is_plain_data(context, x) for x in values)
        case ast.Call(func=func, args=args) if not _is_typed(context, func):
            return maker_of(context, node) is not None and not any(isinstance(item, ast.Lambda) for item in args)
        case _:
            return False


def _is_typed(context: Context, func: ast.expr) -> bool:
    """`T.int64(4)`, `T.bool(True)`, `R.str("x")` and `R.prim_value(1)` are plain data too."""
    name = qualified(func, context.aliases) or ""
    return name in ("relax.str", "relax.prim_value", "relax.dtype") or (
        name.startswith("tir.") and is_dtype(name.removeprefix("tir."))
    )
