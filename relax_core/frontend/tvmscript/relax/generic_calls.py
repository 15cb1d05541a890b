"""Read calls of operators that TVM has and the operator table lacks: arguments are kept as written."""

import ast

from relax_core.frontend.tvmscript.context import every, source_of
from relax_core.frontend.tvmscript.literal.literals import BY_NAME, is_plain_data, read_attribute
from relax_core.frontend.tvmscript.literal.values import Items, Literal, Value
from relax_core.frontend.tvmscript.operator_names import OPERATOR_NAMES
from relax_core.frontend.tvmscript.relax.coerce import to_expr, to_scalar
from relax_core.frontend.tvmscript.relax.op_calls import OUT_TYPES, read_types, type_arguments, without_stars
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.ir.attrs import AttrValue, attrs_of
from relax_core.ir.expr import Call, Expr, Op, PrimValue, Tuple, Type

_MAKERS = ("device",)
"""Names that are not operators but arguments of one."""
_TYPES = ("ty_args", "sinfo_args", "type_args", *OUT_TYPES)


def generic_call(reader: RelaxReader, node: ast.Call, name: str) -> Call | None:
    """Read the call of an operator without a schema; `None` if TVM has no operator `name` ("relax.sort").

    Arguments by position are in `args`. Those by name are in `attrs` if they are plain data; else they follow in
    `args`, and the attribute `BY_NAME` lists their names.
    """
    short = name.removeprefix("relax.")
    if short not in OPERATOR_NAMES:
        return None
    _note(reader, node, short)
    attrs: dict[str, AttrValue] = {}
    named: list[tuple[str, ast.expr]] = []
    for item in node.keywords:
        if item.arg is None:
            raise reader.context.unsupported(item.value, "an unpacked argument")
        if item.arg in _TYPES:
            continue
        if is_plain_data(reader.context, item.value):
            attrs[item.arg] = read_attribute(reader.context, item.value)
        else:
            named.append((item.arg, item.value))
    if named:
        attrs[BY_NAME] = tuple(key for key, _ in named)
    written = [*without_stars(reader, node.args), *(value for _, value in named)]
    args = tuple(every(lambda item: as_written(reader, reader.read(item), item), written))
    span = reader.context.span(node)
    return Call(Op(name, span=reader.context.span(node.func)), args, attrs_of(attrs), _types(reader, node), span=span)


def as_written(reader: RelaxReader, value: Value, place: ast.expr) -> Expr:
    """Coerce where nothing is expected: numbers are host scalars, lists are tuples."""
    if isinstance(value, Items):
        return Tuple(tuple(as_written(reader, item, place) for item in value.values), span=value.span)
    if isinstance(value, Literal) and (scalar := to_scalar(value)) is not None:
        return PrimValue(scalar, span=value.span)
    return to_expr(reader.context, value, place)


def _types(reader: RelaxReader, node: ast.Call) -> tuple[Type, ...]:
    out = [item.value for item in node.keywords if item.arg in OUT_TYPES]
    return read_types(reader, out[0]) if out else type_arguments(reader, node)


def _note(reader: RelaxReader, node: ast.Call, short: str) -> None:
    """Report, once per operator of a text, that it is only read and shown."""
    context = reader.context
    if short in context.noted or short in _MAKERS:
        return
    context.noted.add(short)
    message = f"`{source_of(node.func)}` is read and shown, but it has no rule for types or values here"
    context.report("PA030", node.func, message, severity="note")
