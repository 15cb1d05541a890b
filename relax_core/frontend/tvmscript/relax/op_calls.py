"""Place the arguments of an operator call in the order of its schema; read declared result types."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from relax_core.frontend.tvmscript.context import Failed, every, source_of
from relax_core.frontend.tvmscript.literal.literals import read_attribute
from relax_core.frontend.tvmscript.literal.values import Items, Literal
from relax_core.frontend.tvmscript.names import suggestion
from relax_core.frontend.tvmscript.relax.coerce import is_tuple, to_argument
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import Call, Expr, ExternFunc, Op, ShapeExpr, TensorType, Tuple, TupleType, Type, Var
from relax_core.ops import find
from relax_core.ops.signature import schema_text
from relax_core.ops.spec import OpSpec, Param, default_expr

OUT_TYPES = ("out_ty", "out_sinfo")
CALL_TYPES = (*OUT_TYPES, "ty_args", "sinfo_args", "type_args")
OUT_SHAPES = ("shape", "output_shape")
OUT_DTYPES = ("dtype", "output_dtype")
_DISPLAYS = (ast.Tuple, ast.List)
_CALL_FAMILY = ("args",)
_IGNORED = ("attrs_type_key",)
_OLDER_NAMES: Mapping[str, tuple[tuple[str, str | None], ...]] = MappingProxyType(
    {
        "relax.unique": (("dim", "axis"),),
        "relax.nn.conv2d": (("kernel_size", None),),
        "relax.vm.alloc_storage": (("device_id", "runtime_device_index"),),
    }
)
"""Names of 2022 for arguments; `None` for what the weight's shape tells."""


A = TypeVar("A")
_Written: TypeAlias = tuple[ast.expr, Param] | Expr


@dataclass(frozen=True, slots=True)
class _Given:
    """The arguments as written: by position and by name."""

    positional: Sequence[ast.expr]
    named: dict[str, ast.expr]


def call_operator(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """Read the call of an operator: all its parameters in schema order, defaults filled in."""
    given = _given(reader, node, CALL_TYPES)
    for older, name in _OLDER_NAMES.get(spec.name, ()):
        if older in given.named:
            value = given.named.pop(older)
            given.named.update(() if name is None else ((name, value),))
    types = type_arguments(reader, node)
    args = _place(reader, node, spec, given)
    return Call(Op(spec.name, span=reader.context.span(node.func)), args, (), types, span=reader.context.span(node))


def dps_call(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """Read `call_tir` and its kin: a callee, its inputs, and the types of its results in any dialect."""
    given = _given(reader, node, ())
    positional = list(given.positional)
    if spec.name == "relax.call_tir_inplace" and positional[3:] and "inplace_indices" not in given.named:
        given.named["inplace_indices"] = positional.pop(2)
    out = positional.pop(2) if len(positional) > 2 else None
    is_dtype = positional[2:] and _is_text(_items(positional[2])) and spec.name != "relax.call_tir_inplace"
    if is_dtype and "dtype" not in given.named:
        given.named["dtype"] = positional.pop(2)
    if positional[2:] and spec.name == "relax.call_tir":
        given.named["tir_vars"] = positional.pop(2)
    types = out_types(reader, node, out, given.named)
    if spec.name == "relax.call_tir" and positional and (opaque := opaque_function(reader, positional[0])) is not None:
        positional[0] = ast.copy_location(ast.Constant(opaque.name), positional[0])
    if (reader.context.is_2022 or out is not None) and spec.name == "relax.call_tir" and _is_text(positional):
        # Until early 2023 packed functions are called so too.
        spec = find("relax.call_dps_packed") or spec
    attrs: Attrs = ()
    if (named := given.named.pop("te_grad_kwargs", None)) is not None:
        attrs = (("te_grad_kwargs", read_attribute(reader.context, named)),)
    args = _place(reader, node, spec, _Given(positional, given.named))
    return Call(Op(spec.name, span=reader.context.span(node.func)), args, attrs, types, span=reader.context.span(node))


def opaque_function(reader: RelaxReader, node: ast.expr) -> ExternFunc | None:
    """Return what a name stands for that a text of 2022 calls and does not define; `None` for any other expression.

    Texts of that year are often parts of a module, whose prim funcs stand elsewhere.
    """
    if not isinstance(node, ast.Name) or not reader.context.is_2022:
        return None
    module = reader.module
    is_known = reader.scope.find(node.id) is not None or node.id in module.functions or node.id in module.broken
    if is_known or node.id in reader.context.type_vars:
        return None
    if node.id not in reader.context.noted:
        reader.context.noted.add(node.id)
        hint = suggestion(node.id, [*reader.scope.visible(), *module.functions])
        message = f"the text does not define `{node.id}`: it is read as a packed function of that name"
        reader.context.report("PA038", node, message, hint, severity="warning")
    return ExternFunc(node.id, span=reader.context.span(node))


def _items(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List) else [node]


def _is_text(positional: list[ast.expr]) -> bool:
    return bool(positional) and isinstance(positional[0], ast.Constant) and isinstance(positional[0].value, str)


def type_arguments(reader: RelaxReader, node: ast.Call) -> tuple[Type, ...]:
    """Read `ty_args=`, `sinfo_args=` or `type_args=`: one type, or a tuple or list of them."""
    found = [item.value for item in node.keywords if item.arg in CALL_TYPES] if node.keywords else ()
    if not found:
        return ()
    return tuple(type_ for value in found for type_ in read_types(reader, value))


def without_stars(reader: RelaxReader, nodes: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """Return arguments with `*(a, b)` and `*t`, where `t` is declared as a tuple, written out."""
    if ast.Starred not in map(type, nodes):
        return nodes
    found: list[ast.expr] = []
    for item in nodes:
        match item:
            case ast.Starred(value=ast.Tuple(elts=items) | ast.List(elts=items)):
                found.extend(items)
            case ast.Starred(value=ast.Name() as name) if isinstance(type_ := _declared(reader, name), TupleType):
                indices = (ast.copy_location(ast.Constant(index), name) for index in range(len(type_.fields)))
                found.extend(ast.copy_location(ast.Subscript(name, index, ast.Load()), name) for index in indices)
            case ast.Starred():
                raise reader.context.unsupported(item, "an unpacked argument", "write the fields of the tuple: t[0]")
            case _:
                found.append(item)
    return found


def _declared(reader: RelaxReader, node: ast.Name) -> Type | None:
    found = reader.scope.find(node.id)
    return found.annotation if isinstance(found, Var) else None


def read_types(reader: RelaxReader, node: ast.expr) -> tuple[Type, ...]:
    """Read one type, or a list of types."""
    return tuple(reader.declared(item) for item in _items(node))


def _given(reader: RelaxReader, node: ast.Call, without: tuple[str, ...]) -> _Given:
    named: dict[str, ast.expr] = {}
    for item in node.keywords:
        if item.arg is None:
            raise reader.context.unsupported(item.value, "an unpacked argument")
        if item.arg not in without and item.arg not in _IGNORED:
            named[item.arg] = item.value
    return _Given(without_stars(reader, node.args), named)


def _place(reader: RelaxReader, node: ast.Call, spec: OpSpec, given: _Given) -> tuple[Expr, ...]:
    written, lacking, count = placed(spec, given.positional, given.named)
    if lacking is not None:
        message = f"`{source_of(node.func)}` lacks its argument `{lacking.name}`"
        raise reader.context.fail("PA006", node, message, _signature(spec))
    if count < len(given.positional) + len(given.named):
        raise _surplus(reader, node, spec, given)
    return _arguments(reader, written)


def placed(
    spec: OpSpec, positional: Sequence[A], named: Mapping[str, A]
) -> tuple[list[tuple[A, Param] | Expr], Param | None, int]:
    """Place arguments in the order of a schema.

    Returns them with their parameters, a default for one that is not given; the first parameter that lacks its
    argument; and how many arguments have a place.
    """
    at = named_count = 0
    written: list[tuple[A, Param] | Expr] = []
    for param in spec.params:
        if param.is_variadic:
            written.extend((item, param) for item in positional[at:])
            at = len(positional)
        elif param.name in named:
            written.append((named[param.name], param))
            named_count += 1
        elif at < len(positional) and not param.is_keyword:
            written.append((positional[at], param))
            at += 1
        elif (default := default_expr(param)) is not None:
            written.append(default)
        elif param.is_required:
            return written, param, at + named_count
    return written, None, at + named_count


def _surplus(reader: RelaxReader, node: ast.Call, spec: OpSpec, given: _Given) -> Failed:
    """Report the arguments that have no parameter: the first of those by position, or one by name."""
    fail, func = reader.context.fail, source_of(node.func)
    known = [item.name for item in spec.params]
    at = sum(not param.is_keyword and param.name not in given.named for param in spec.params)
    if at < len(given.positional):
        if (twice := next((name for name in known if name in given.named), None)) is not None:
            message = f"`{twice}` of `{func}` is given twice, by position and by name"
            return fail("PA006", given.named[twice], message, _signature(spec))
        return fail("PA006", given.positional[at], f"too many arguments for `{func}`", _signature(spec))
    name, value = next((name, value) for name, value in given.named.items() if name not in known)
    near = suggestion(name, known, more=f"; {_signature(spec)}")
    place = reader.context.keyword(name, value) if near else value
    return fail("PA006", place, f"`{func}` has no argument `{name}`", near or _signature(spec))


def _arguments(reader: RelaxReader, written: list[_Written]) -> tuple[Expr, ...]:
    """Read all arguments; a default stands for itself, and so does a variable where a tensor is expected."""
    find = reader.scope.find
    rest: list[tuple[ast.expr, Param]] = []
    made: list[Expr | None] = []
    for item in written:
        if isinstance(item, Expr):
            made.append(item)
        elif isinstance(item[0], ast.Name) and item[1].kind == "tensor" and isinstance(found := find(item[0].id), Var):
            made.append(found)
        else:
            made.append(None)
            rest.append(item)
    if not rest:
        return tuple(item for item in made if item is not None)
    others = iter(every(partial(_argument, reader), rest))
    return tuple(next(others) if item is None else item for item in made)


def _argument(reader: RelaxReader, written: tuple[ast.expr, Param]) -> Expr:
    """Read an argument for a parameter."""
    node, param = written
    if param.kind == "shape" and isinstance(node, _DISPLAYS):
        return ShapeExpr(reader.types().dims(node), span=reader.context.span(node))
    value = reader.read(node)
    made = to_argument(reader.context, value, node, param)
    is_call_family = param.kind == "tuple" and param.name in _CALL_FAMILY
    if is_call_family and not isinstance(value, Items | Literal) and not is_tuple(made, reader.tuples):
        return Tuple((made,), span=reader.context.span(node))
    return made


def _signature(spec: OpSpec) -> str:
    return f"the schema: {schema_text(spec)}"


def out_types(
    reader: RelaxReader, node: ast.Call, out: ast.expr | None, named: dict[str, ast.expr]
) -> tuple[Type, ...]:
    """Read the declared results: types (2023, 2026), or shapes with dtypes (2022). What it reads leaves `named`."""
    by_type = _first(named, CALL_TYPES)
    by_shape = _first(named, OUT_SHAPES)
    dtype = _first(named, OUT_DTYPES)
    told = [item for item in (out, by_shape, by_type) if item is not None]
    if len(told) > 1:
        raise reader.context.fail("PA006", told[0], "the type of the result is told twice", "remove one of them")
    out = told[0] if told else None
    if out is None:
        hint = 'add out_ty=R.Tensor((n,), "float32")'
        raise reader.context.fail("PA006", node, f"`{source_of(node.func)}` lacks the type of its result", hint)
    if by_type is not None or _is_types(reader, out):
        found = read_types(reader, out)
        if dtype is not None:
            raise reader.context.fail("PA006", dtype, "the type of the result tells its dtype already")
        return found[0].fields if len(found) == 1 and isinstance(found[0], TupleType) else found
    dtypes = _dtypes(reader, node, dtype)
    shapes = out.elts if isinstance(out, ast.Tuple | ast.List) and _is_nested(out) else [out]
    if len(dtypes) not in (1, len(shapes)):
        raise reader.context.fail("PA006", out, f"{len(shapes)} shapes but {len(dtypes)} dtypes")
    dtypes = dtypes * len(shapes) if len(dtypes) == 1 else dtypes
    return tuple(_tensor(reader, shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True))


def _first(named: dict[str, ast.expr], names: tuple[str, ...]) -> ast.expr | None:
    found = [named.pop(name) for name in names if name in named]
    return found[0] if found else None


def _is_types(reader: RelaxReader, node: ast.expr) -> bool:
    items = _items(node)
    return bool(items) and reader.types().is_type(items[0])


def _is_nested(node: ast.Tuple | ast.List) -> bool:
    return bool(node.elts) and all(isinstance(item, ast.Tuple | ast.List) for item in node.elts)


def _dtypes(reader: RelaxReader, node: ast.Call, dtype: ast.expr | None) -> list[str]:
    items = dtype.elts if isinstance(dtype, ast.Tuple | ast.List) else [dtype]
    found: list[str] = []
    for item in items:
        if not isinstance(item, ast.Constant) or not isinstance(item.value, str):
            hint = 'add dtype="float32"'
            raise reader.context.fail(
                "PA006", item or node, f"`{source_of(node.func)}` lacks the dtype of its result", hint
            )
        found.append(item.value)
    return found


def _tensor(reader: RelaxReader, node: ast.expr, dtype: str) -> Type:
    """A shape variable that was bound to dimensions written out stays a variable."""
    shape = reader.types().shape(node)
    assert isinstance(shape, Var | tuple)
    return TensorType(shape, dtype)
