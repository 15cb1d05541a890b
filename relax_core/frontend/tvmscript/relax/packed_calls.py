"""Bind the arguments of a packed function to its schema: keyword arguments become host scalars in their places."""

import ast
from collections.abc import Mapping, Sequence

from relax_core.diagnostics import plural
from relax_core.frontend.tvmscript.context import every
from relax_core.frontend.tvmscript.literal.literals import is_plain_data, maker_of, read_attribute
from relax_core.frontend.tvmscript.literal.values import Items, Literal, Value
from relax_core.frontend.tvmscript.names import qualified, suggestion
from relax_core.frontend.tvmscript.relax.coerce import is_tuple, to_argument, to_expr, to_scalar
from relax_core.frontend.tvmscript.relax.generic_calls import as_written
from relax_core.frontend.tvmscript.relax.op_calls import (
    CALL_TYPES,
    OUT_DTYPES,
    OUT_SHAPES,
    call_operator,
    dps_call,
    out_types,
    type_arguments,
    without_stars,
)
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.ir.attrs import Attrs, attrs_of
from relax_core.ir.expr import Call, DataTypeImm, Expr, ExternFunc, Null, Op, PrimValue, TensorType, Tuple
from relax_core.ir.prim import StringImm, const
from relax_core.ops.packed.registry import DECLARED
from relax_core.ops.packed.schema import Absent, Default, SchemaParam, SchemaType
from relax_core.ops.packed.spec import PackedSpec
from relax_core.ops.spec import OpSpec, Param

Named = Mapping[str, ast.expr]
_OUT_NAMES = (*CALL_TYPES, *OUT_SHAPES)
_FIELD = Param("field", "expr")


def packed_call(reader: RelaxReader, node: ast.Call) -> Call:
    """`R.call_packed("f", x, alpha=2)` is a call of `ExternFunc("f")`."""
    match without_stars(reader, node.args):
        case [ast.Constant(value=str(name)) as first, *rest]:
            callee = ExternFunc(name, span=reader.context.span(first))
        case _:
            raise reader.context.fail("PA006", node, '`call_packed` takes a name first: R.call_packed("f", x)')
    named, attrs = _without_objects(reader, _named(reader, node, CALL_TYPES))
    args = _arguments(reader, node, name, rest, named)
    return Call(callee, args, attrs, type_arguments(reader, node), span=reader.context.span(node))


def pure_packed_call(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """`R.call_pure_packed("f", x, alpha=2)`: the operator, the callee, and the callee's arguments."""
    match without_stars(reader, node.args):
        case [first, *rest] if (callee := _callee(reader, first)) is not None:
            args = _arguments(reader, node, callee.name, rest, _named(reader, node, CALL_TYPES))
        case _:
            return call_operator(reader, node, spec)
    op, span = Op(spec.name, span=reader.context.span(node.func)), reader.context.span(node)
    return Call(op, (callee, *args), type_args=type_arguments(reader, node), span=span)


def dps_packed_call(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """`R.call_dps_packed("f", (x, y), alpha=2, out_ty=T)`: what it gives is allocated by the types that it declares.

    Arguments may also stand one by one, where the result is given by name: `R.call_dps_packed("f", x, y, out_ty=T)`.
    """
    positional = [*without_stars(reader, node.args)]
    named = _named(reader, node, ())
    first = named.pop("func", None) or (positional.pop(0) if positional else None)
    callee = None if first is None else _callee(reader, first)
    declared = None if callee is None else DECLARED.find(callee.name)
    own = {key: named.pop(key) for key in list(named) if not _is_reserved(key, named, declared)}
    has_out = any(key in named for key in _OUT_NAMES)
    is_plain = declared is None and not own and (len(positional) <= 1 or not has_out)
    if callee is None or is_plain:
        return dps_call(reader, node, spec)
    written = [named.pop("args")] if "args" in named else positional if has_out else positional[:1]
    out, dtype, *_ = (*(() if has_out else positional[len(written) :]), None, None)
    if dtype is not None:
        named["dtype"] = dtype
    types = out_types(reader, node, out, named)
    own, attrs = _without_objects(reader, own)
    inputs = _inputs(reader, node, callee.name, written, own)
    op, span = Op(spec.name, span=reader.context.span(node.func)), reader.context.span(node)
    return Call(op, (callee, inputs), attrs, types, span=span)


def _callee(reader: RelaxReader, node: ast.expr) -> ExternFunc | None:
    """Return the packed function that `"f"` or `R.ExternFunc("f")` names."""
    match node:
        case ast.Constant(value=str(name)):
            return ExternFunc(name, span=reader.context.span(node))
        case ast.Call(func=func, args=[ast.Constant(value=str(name))], keywords=[]) if (
            qualified(func, reader.context.aliases) == "relax.ExternFunc"
        ):
            return ExternFunc(name, span=reader.context.span(node))
        case _:
            return None


def _named(reader: RelaxReader, node: ast.Call, reserved: Sequence[str]) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for item in node.keywords:
        if item.arg is None:
            raise reader.context.unsupported(item.value, "an unpacked argument")
        if item.arg not in reserved:
            found[item.arg] = item.value
    return found


def _without_objects(reader: RelaxReader, named: Named) -> tuple[Named, Attrs]:
    """Take out what no host scalar can hold, dictionaries and objects such as a device: they annotate the call."""
    objects = {key: read_attribute(reader.context, value) for key, value in named.items() if _is_object(reader, value)}
    # TVM prints so which attributes a call of the run time carries; it is no argument.
    if (kind := named.get("attrs_type_key")) is not None and is_plain_data(reader.context, kind):
        objects["attrs_type_key"] = read_attribute(reader.context, kind)
    return {key: value for key, value in named.items() if key not in objects}, attrs_of(objects)


def _is_object(reader: RelaxReader, node: ast.expr) -> bool:
    match node:
        case ast.Dict():
            return is_plain_data(reader.context, node)
        case ast.Call():
            maker = maker_of(reader.context, node)
            return maker is not None and maker.startswith("I.")
        case _:
            return False


def _is_reserved(key: str, named: Named, declared: PackedSpec | None) -> bool:
    """Tell whether a keyword of `call_dps_packed` is its own: `dtype` is the callee's if the result has a type."""
    if key == "dtype" and declared is not None and declared.index(key) is not None:
        return not any(name in named for name in CALL_TYPES)
    return key in ("args", *_OUT_NAMES, *OUT_DTYPES)


def _inputs(reader: RelaxReader, node: ast.Call, name: str, written: Sequence[ast.expr], named: Named) -> Expr:
    """Read the inputs of a destination-passing call: a tuple; a variable that is a tuple stays one if it is alone."""
    match list(written):
        case [ast.Tuple(elts=items) | ast.List(elts=items)]:
            written = without_stars(reader, items)
        case [ast.Call(func=func, args=items, keywords=[])] if qualified(func, reader.context.aliases) == "relax.tuple":
            written = without_stars(reader, items)
        case [ast.Name() as only] if not named:
            value = reader.expr(only)
            if is_tuple(value, reader.tuples):
                return value
        case _:
            pass
    return Tuple(_arguments(reader, node, name, written, named), span=reader.context.span(node))


def _arguments(
    reader: RelaxReader, node: ast.Call, name: str, positional: Sequence[ast.expr], named: Named
) -> tuple[Expr, ...]:
    """Read the arguments of the packed function `name`, in the order of its schema, defaults filled in.

    `R.call_dps_packed` gives no destinations; elsewhere they are arguments like the others. Parameters behind `*` may
    be given by position too, as a lowered program gives them. Without a schema, keyword arguments follow in the order
    of the text, with a note.
    """
    spec = DECLARED.find(name)
    if spec is None:
        return _as_written(reader, node, name, positional, named)
    params = spec.inputs if _is_dps(reader, node) else spec.params
    written = _placed(reader, node, spec, params, (positional, named))
    return tuple(every(lambda item: _argument(reader, *item), zip(params, written, strict=True)))


def _is_dps(reader: RelaxReader, node: ast.Call) -> bool:
    return qualified(node.func, reader.context.aliases) == "relax.call_dps_packed"


def _as_written(
    reader: RelaxReader, node: ast.Call, name: str, positional: Sequence[ast.expr], named: Named
) -> tuple[Expr, ...]:
    if named:
        words = ", ".join(f"`{key}`" for key in named)
        message = (
            f"`{name}` has no schema: {words} {'is' if len(named) == 1 else 'are'} passed in the order of the text"
        )
        hint = "declare one: register_packed(name, function, schema=...)"
        near = DECLARED.near(name)
        hint = f"did you mean {', '.join(near)}? Or {hint}" if near else hint
        reader.context.report("PA050", next(iter(named.values())), message, hint, "note")
    read = _field if _is_dps(reader, node) else _value
    args = every(lambda item: read(reader, item), positional)
    return (*args, *every(lambda item: as_written(reader, reader.read(item), item), named.values()))


def _value(reader: RelaxReader, node: ast.expr) -> Expr:
    """Read an argument of which nothing is declared: a bare number is a host scalar."""
    value = reader.read(node)
    if isinstance(value, Literal) and (scalar := to_scalar(value)) is not None:
        return PrimValue(scalar, span=value.span)
    return to_expr(reader.context, value, node)


def _field(reader: RelaxReader, node: ast.expr) -> Expr:
    return to_argument(reader.context, reader.read(node), node, _FIELD)


def _placed(
    reader: RelaxReader,
    node: ast.Call,
    spec: PackedSpec,
    params: tuple[SchemaParam, ...],
    given: tuple[Sequence[ast.expr], Named],
) -> list[ast.expr | None]:
    """Return what is written for each parameter, `None` where the default stands; every mistake is reported."""
    context, (positional, named), hint = reader.context, given, f"its schema: {spec.schema}"
    names = [param.name for param in params]
    message = f"`{spec.name}` takes {plural(len(params), 'argument')}, got {len(positional)}"
    problems = [context.fail("PA053", item, message, hint) for item in positional[len(params) : len(params) + 1]]
    for key, value in named.items():
        if key not in names:
            near = suggestion(key, names, more=f"; {hint}")
            place = context.keyword(key, value) if near else value
            problems.append(context.fail("PA051", place, f"`{spec.name}` has no argument `{key}`", near or hint))
        elif names.index(key) < len(positional):
            message = f"`{key}` of `{spec.name}` is given twice: by position and by name"
            problems.append(context.fail("PA052", value, message, hint))
    written: list[ast.expr | None] = [*positional[: len(params)], *[None] * (len(params) - len(positional))]
    for index, param in enumerate(params):
        if param.name in named and index >= len(positional):
            written[index] = named[param.name]
        elif written[index] is None and param.default is Absent.REQUIRED:
            message = f"`{spec.name}` lacks its argument `{param.name}`"
            problems.append(context.fail("PA054", node, message, hint))
    if problems:
        raise problems[0]
    return written


def _argument(reader: RelaxReader, param: SchemaParam, node: ast.expr | None) -> Expr:
    if node is None:
        return _default(param.default, param.type)
    return _made(reader, reader.read(node), node, param.type)


def _made(reader: RelaxReader, value: Value, place: ast.expr, type_: SchemaType) -> Expr:
    """Make an expression as the schema says; a literal of another type stays as it is, and the checker says so."""
    match value:
        case Literal(value=None):
            return Null(span=value.span)
        case Items(values=values) if type_.is_list:
            item = SchemaType(type_.base)
            return Tuple(tuple(_made(reader, part, place, item) for part in values), span=value.span)
        case Items():
            return as_written(reader, value, place)
        case Literal() if type_.is_list and type_.length is not None:
            item = SchemaType(type_.base)
            return Tuple(tuple(_made(reader, value, place, item) for _ in range(type_.length)), span=value.span)
        case Literal(value=str(text)) if type_.base == "ScalarType":
            return DataTypeImm(text, span=value.span)
        case Literal(value=int() | float()) if type_.base == "Tensor" and not type_.is_list:
            return to_expr(reader.context, value, place, TensorType())
        case Literal(value=int() as number) if type_.base == "float" and not isinstance(number, bool):
            return PrimValue(const(number, "float64"), span=value.span)
        case Literal(value=float() as number):
            return PrimValue(const(number, "float64"), span=value.span)
        case Literal() if (scalar := to_scalar(value)) is not None:
            return PrimValue(scalar, span=value.span)
        case _:
            return to_expr(reader.context, value, place)


def _default(value: Default, type_: SchemaType) -> Expr:
    """Return the argument that stands where none is given."""
    match value:
        case None:
            return Null()
        case tuple():
            return Tuple(tuple(_default(item, SchemaType(type_.base)) for item in value))
        case str() if type_.base == "ScalarType":
            return DataTypeImm(value)
        case str():
            return PrimValue(StringImm(value))
        case float():
            return PrimValue(const(value, "float64"))
        case bool() | int():
            return PrimValue(const(value))
        case Absent():
            raise AssertionError("a required argument is given")
