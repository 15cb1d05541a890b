"""Read calls in Relax functions: operators by their schema, callees, and the forms with a syntax of their own."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import every, source_of
from relax_core.frontend.tvmscript.literal.constants import read_constant
from relax_core.frontend.tvmscript.literal.literals import maker_of, read_attribute
from relax_core.frontend.tvmscript.literal.numbers import number_of
from relax_core.frontend.tvmscript.literal.values import Literal, TypeValue, Value
from relax_core.frontend.tvmscript.names import dotted, qualified
from relax_core.frontend.tvmscript.operator_names import OPERATOR_NAMES, operator_suggestion
from relax_core.frontend.tvmscript.relax.coerce import is_shape, to_expr, to_scalar
from relax_core.frontend.tvmscript.relax.emitted import emitted
from relax_core.frontend.tvmscript.relax.generic_calls import as_written, generic_call
from relax_core.frontend.tvmscript.relax.op_calls import (
    CALL_TYPES,
    call_operator,
    dps_call,
    opaque_function,
    type_arguments,
    without_stars,
)
from relax_core.frontend.tvmscript.relax.packed_calls import dps_packed_call, packed_call, pure_packed_call
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.relax.types import TYPE_NAMES
from relax_core.frontend.tvmscript.scalar.scalar_calls import is_dtype
from relax_core.frontend.tvmscript.scope import OperatorName
from relax_core.frontend.tvmscript.unread import refuse_repeated, tell_arguments
from relax_core.ir.absent import no_data
from relax_core.ir.attrs import attrs_of
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Dims,
    Expr,
    ExternFunc,
    MatchCast,
    Null,
    Op,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
)
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, StringImm
from relax_core.ops import ALIASES, OPS, find
from relax_core.ops.spec import OpSpec

RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "relax.dot": "relax.matmul",
        **{
            f"relax.vm.builtin.{name}": f"relax.vm.{name}"
            for name in ("alloc_storage", "alloc_tensor", "load_shape", "store_shape")
        },
    }
)
"""Names of 2022 for operators."""
STATEMENT_FORMS = ("output", "outputs", "func_attr", "dataflow", "function")
PYTHON_FORMS: Mapping[str, str] = MappingProxyType(
    {
        "rewriter": "a rewriter is Python that matches and replaces; write the pattern as a pass instead",
        "macro": "a macro is Python that is expanded; print the module with TVM and open what it prints",
    }
)


_DEVICE_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "cpu": 1, "cuda": 2, "gpu": 2, "opencl": 4, "vulkan": 7, "metal": 8, "vpi": 9, "rocm": 10, "ext_dev": 12,
        "hexagon": 16, "webgpu": 15,
    }
)  # fmt: skip
"""The numbers by which DLPack knows devices."""
_HOMES = ("tvm", "R", "relax")


def read_device(reader: RelaxReader, node: ast.Call) -> Call | None:
    """Read `tvm.cuda(1)` or `R.cpu()` as `R.device(2, 1)`; `None` for another call."""
    match dotted(node.func):
        case (home, kind) if home in _HOMES and kind in _DEVICE_TYPES:
            pass
        case _:
            return None
    given = [*node.args, *(item.value for item in node.keywords)]
    match given:
        case []:
            number = 0
        case [ast.Constant(value=int(number))]:
            pass
        case _:
            raise reader.context.fail("PA006", node, f"`{kind}` takes the number of a device")
    span = reader.context.span(node)
    args = tuple(PrimValue(IntImm(item), span=span) for item in (_DEVICE_TYPES[kind], number))
    return Call(Op("relax.device", span=reader.context.span(node.func)), args, span=span)


def assertion(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """Read `R.assert_op(c, [x, y], "words {}")`: by position a list of values, then the format.

    As TVM prints it, the values may also stand one by one, with the format by name.
    """
    keywords = {item.arg: item for item in node.keywords}
    positional = list(node.args)
    if "format_args" in keywords:
        positional.insert(1, keywords.pop("format_args").value)
    if len(positional) == 3 and "format" not in keywords:
        keywords["format"] = ast.copy_location(ast.keyword("format", positional.pop()), node)
    match positional[1:]:
        case [ast.List(elts=items) | ast.Tuple(elts=items)]:
            positional[1:] = items
        case [ast.Constant(value=None)]:
            del positional[1]
        case _:
            pass
    call = ast.copy_location(ast.Call(node.func, positional, list(keywords.values())), node)
    return call_operator(reader, call, spec)


def take(reader: RelaxReader, node: ast.Call, spec: OpSpec) -> Call:
    """Read `R.take(x, 1, axis=0)`: a bare index is a host scalar of 32 bits, as in TVM."""
    call = call_operator(reader, node, spec)
    indices = [*node.args[1:2], *(item.value for item in node.keywords if item.arg == "indices")]
    match indices, call.args:
        case [ast.Constant(value=int(index)) as place], (data, Constant(), *rest):
            span = reader.context.span(place)
            return replace(call, args=(data, PrimValue(IntImm(index, "int32"), span=span), *rest))
        case _:
            return call


def read_call(reader: RelaxReader, node: ast.Call) -> Value:
    """Read a call of anything."""
    if len(node.keywords) > 1:
        refuse_repeated(reader.context, node)
    name = qualified(node.func, reader.context.aliases)
    if name is None or _is_bound(reader, node.func):
        return _callee_call(reader, node)
    if (special := _SPECIAL.get(name)) is not None:
        return special(reader, node)
    name = RENAMED.get(name, name)
    if (spec := find(name)) is not None:
        return call_operator(reader, node, spec)
    if name == "relax.Tuple" and (fields := _values_of(reader, node)) is not None:
        return reader.expr(fields)
    if reader.types().is_type(node):
        return TypeValue(reader.types().read(node), reader.context.span(node))
    if name.startswith("relax."):
        if (device := read_device(reader, node)) is not None:
            return device
        return _without_schema(reader, node, name)
    if name == "tir.index_map":
        return index_map(reader, *_mapping_and_more(reader, node))
    if name.startswith("ir.") and maker_of(reader.context, node) is not None:
        return _made(reader, node, name)
    if name.startswith("tir."):
        return reader.scalars().read(node)
    if (device := read_device(reader, node)) is not None:
        return device
    if reader.context.is_2022 and (spec := _unprefixed(reader, node.func, name)) is not None:
        return call_operator(reader, node, spec)
    return _of_python(reader, node, name)


def _of_python(reader: RelaxReader, node: ast.Call, name: str) -> Value:
    """Read a call that Python would compute, `float("inf")`, or one of what has a plain name."""
    if (number := number_of(reader.context, node)) is not None:
        return reader.literal(number, node)
    if "." not in name:
        return _callee_call(reader, node)
    raise reader.context.unsupported(node.func, f"`{source_of(node.func)}`")


def _unprefixed(reader: RelaxReader, func: ast.expr, name: str) -> OpSpec | None:
    """Return the operator that `add` or `nn.relu` means in a text of 2022, unless the program has that name."""
    return None if _is_bound(reader, func) else find(f"relax.{name}")


def is_read_by_schema(reader: RelaxReader, name: str) -> bool:
    """Tell whether a call of the operator `name` through `R` has no form of its own, if its arguments are variables."""
    is_special = name in _SPECIAL and name != "relax.take"
    is_bound = reader.scope.find("R") is not None or "R" in reader.module.functions or reader.module.name == "R"
    return not is_special and not is_bound


def _values_of(reader: RelaxReader, node: ast.Call) -> ast.expr | None:
    """Return the fields of `relax.Tuple((x, y))`, which is a value and no type."""
    match node.args:
        case [(ast.Tuple(elts=[first, *_]) | ast.List(elts=[first, *_])) as fields] if not reader.types().is_type(
            first
        ):
            return fields
        case _:
            return None


def match_cast(reader: RelaxReader, node: ast.Call) -> tuple[Expr, Type] | None:
    """Read `R.match_cast(x, T)` or `R.match_shape(x, (n, m))`; `None` for another call."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("match_cast", "match_shape"):
        return None
    name = qualified(node.func, reader.context.aliases)
    if name not in ("relax.match_cast", "relax.match_shape") or _is_bound(reader, node.func):
        return None
    given = [*node.args, *(item.value for item in node.keywords)]
    if len(given) != 2:
        raise reader.context.fail("PA006", node, f"`{source_of(node.func)}` takes a value and what it is matched with")
    value = reader.expr(given[0])
    types = reader.types(defines=True)
    if name == "relax.match_cast":
        return value, types.read(given[1])
    return value, match_shape_type(value, types.dims(given[1]))


def match_shape_type(value: Expr, dims: Dims) -> Type:
    """Return the type that `match_shape(value, dims)` checks: of a shape, or of a tensor with the dtype it declares."""
    if is_shape(value):
        return ShapeType(dims)
    match value:
        case Var(annotation=TensorType(dtype=dtype)):
            return TensorType(dims, dtype)
        case _:
            return TensorType(dims)


def _is_bound(reader: RelaxReader, func: ast.expr) -> bool:
    """Tell whether the callee starts from a name of the program rather than from R, T or I."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and (
        reader.scope.find(func.id) is not None or func.id in reader.module.functions or reader.is_module(func.id)
    )


def operator_named(reader: RelaxReader, node: ast.Attribute) -> OperatorName | None:
    """Return the operator that `R.add` without arguments names, `None` if it names none."""
    name = qualified(node, reader.context.aliases) or ""
    if _is_bound(reader, node) or (find(name) is None and name.removeprefix("relax.") not in OPERATOR_NAMES):
        return None
    return OperatorName(node)


def _callee_call(reader: RelaxReader, node: ast.Call) -> Value:
    if isinstance(node.func, ast.Name) and isinstance(found := reader.scope.find(node.func.id), OperatorName):
        return read_call(reader, ast.copy_location(ast.Call(found.node, node.args, node.keywords), node))
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "astype"
        and reader.global_function(node.func) is None
    ):
        return _astype(reader, node, node.func)
    callee = opaque_function(reader, node.func) or reader.expr(node.func)
    expected = _parameter_types(reader, callee, len(node.args))
    pairs = zip(_positional(reader, node), expected, strict=True)
    args = tuple(every(lambda pair: reader.expr(*pair), pairs))
    for keyword in node.keywords:
        if keyword.arg not in CALL_TYPES:
            raise reader.context.fail("PA006", keyword, "a call of a function has no keyword arguments")
    return Call(callee, args, type_args=type_arguments(reader, node), span=reader.context.span(node))


def _astype(reader: RelaxReader, node: ast.Call, func: ast.Attribute) -> Value:
    """`x.astype("float16")`, the one method that tensors have."""
    value = reader.read(func.value)
    if isinstance(value, PrimExpr):
        return reader.scalars().read(node)
    spec = find("relax.astype")
    assert spec is not None
    call = ast.copy_location(ast.Call(func, [func.value, *node.args], node.keywords), node)
    return call_operator(reader, call, spec)


def _parameter_types(reader: RelaxReader, callee: Expr, count: int) -> list[Type | None]:
    known = reader.module.parameters.get(getattr(callee, "name", "")) if not isinstance(callee, Var) else None
    if isinstance(callee, Var):
        known = reader.parameters.get(callee)
    return [*(known or ()), *[None] * count][:count]


def _positional(reader: RelaxReader, node: ast.Call) -> Sequence[ast.expr]:
    return without_stars(reader, node.args)


def _without_schema(reader: RelaxReader, node: ast.Call, name: str) -> Value:
    """Read the call of an operator that the table has not, or say what is wrong with its name."""
    short = name.removeprefix("relax.")
    if short in STATEMENT_FORMS:
        raise reader.context.fail("PA005", node, f"`{source_of(node.func)}` is a statement, not a value")
    if short in PYTHON_FORMS:
        raise reader.context.unsupported(node, f"`{source_of(node.func)}`", PYTHON_FORMS[short])
    if (made := generic_call(reader, node, name)) is not None:
        return made
    names = (item.removeprefix("relax.") for item in (*OPS, *ALIASES, *RENAMED, *_SPECIAL))
    known = (*names, *OPERATOR_NAMES, *TYPE_NAMES)
    prefix = source_of(node.func).removesuffix(short)
    message = f"there is no operator `{source_of(node.func)}`"
    raise reader.context.fail("RS002", node.func, message, operator_suggestion(short, known, prefix))


def _one(reader: RelaxReader, node: ast.Call) -> ast.expr:
    given = [*node.args, *(item.value for item in node.keywords)]
    if len(given) != 1:
        raise reader.context.fail("PA006", node, f"`{source_of(node.func)}` takes one argument, got {len(given)}")
    return given[0]


def _mapping_and_more(reader: RelaxReader, node: ast.Call) -> tuple[ast.expr, str]:
    """Return the function of `T.index_map(lambda i: (i // 4, i % 4), index_dtype="int32")`, and the rest as text."""
    more: list[str] = []
    for item in node.keywords:
        match item:
            case ast.keyword(arg="index_dtype", value=ast.Constant(value=str(dtype))) if is_dtype(dtype):
                more.append(f', index_dtype="{dtype}"')
            case ast.keyword(arg="inverse_index_map", value=ast.Lambda() as inverse):
                more.append(f", inverse_index_map={ast.unparse(inverse)}")
            case ast.keyword(
                arg="inverse_index_map", value=ast.Call(func=func, args=[ast.Lambda() as inverse], keywords=[])
            ) if qualified(func, reader.context.aliases) == "tir.index_map":
                more.append(f", inverse_index_map={ast.unparse(inverse)}")
            case ast.keyword(arg="inverse_index_map", value=ast.Constant(value=None)):
                pass
            case _:
                raise reader.context.fail("PA006", item, f"`T.index_map`: `{item.arg}` is no such argument")
    if len(node.args) != 1:
        raise reader.context.fail("PA006", node, f"`T.index_map` takes one function, got {len(node.args)} arguments")
    return node.args[0], "".join(more)


class _PlainIntegers(ast.NodeTransformer):
    """Writes `T.int64(4)`, as TVM prints the integers of an index map, as `4`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Attribute(attr="int64" | "int32"), args=[ast.Constant() as number], keywords=[]):
                return number
            case _:
                return node


def index_map(reader: RelaxReader, node: ast.expr, more: str = "") -> Call:
    """Read `lambda i, j: (j, i)`, which says where an element goes; it is kept as its text."""
    if not isinstance(node, ast.Lambda):
        raise reader.context.fail("PA006", node, "an index map is a function: T.index_map(lambda i, j: (j, i))")
    span = reader.context.span(node)
    text = PrimValue(StringImm(ast.unparse(_PlainIntegers().visit(node)) + more), span=span)
    return Call(Op("tir.index_map", span=span), (text,), span=span)


def _made(reader: RelaxReader, node: ast.Call, name: str) -> Value:
    """Read an object made of plain data, such as `I.vdevice("llvm", 0)`, which is written "llvm:0:global" too."""
    match name, node:
        case "ir.vdevice", ast.Call(args=[ast.Constant(value=str(kind)), *rest], keywords=[]) if len(rest) <= 2:
            words = [str(item.value) for item in rest if isinstance(item, ast.Constant)]
            if len(words) == len(rest):
                return Literal(":".join([kind, *words, *("0", "global")[len(words) :]]), reader.context.span(node))
        case _:
            pass
    args = tuple(as_written(reader, reader.read(item), item) for item in node.args)
    attrs = attrs_of((item.arg, read_attribute(reader.context, item.value)) for item in node.keywords if item.arg)
    return Call(Op(name, span=reader.context.span(node.func)), args, attrs, span=reader.context.span(node))


def from_table(reader: RelaxReader, node: ast.Subscript) -> Expr | None:
    """Read `metadata["relax.expr.Constant"][0]` or `meta[relay.Constant][0]`; `None` for another subscript.

    What the text does not hold is read as a reference that the checks refuse.
    """
    match node:
        case ast.Subscript(
            value=ast.Subscript(value=ast.Name(id="metadata" | "meta" as table), slice=key),
            slice=ast.Constant(value=int(index)),
        ) if reader.scope.find(table) is None:
            kind = key.value if isinstance(key, ast.Constant) else ".".join(dotted(key) or ("",))
        case _:
            return None
    span = reader.context.span(node)
    items = reader.context.tables.get(table, {}).get(str(kind), ())
    data = items[index] if 0 <= index < len(items) else None
    if data is not None:
        return Constant(data, span=span)
    if table not in reader.context.noted:
        reader.context.noted.add(table)
        hint = "print the module with show_meta=True, or write R.const([...]) in its place"
        message = f"`{source_of(node)}` is not in the text"
        reader.context.report("PA031", node, message, hint, severity="warning")
    return no_data(str(kind), index, TensorType(), span)


def _shape(reader: RelaxReader, node: ast.Call) -> Value:
    return ShapeExpr(reader.types().dims(_one(reader, node)), span=reader.context.span(node))


def _prim_value(reader: RelaxReader, node: ast.Call) -> Value:
    argument = _one(reader, node)
    value = reader.read(argument)
    if isinstance(value, Literal) and isinstance(value.value, float):
        # As in TVM, where a Python float is a float64.
        return PrimValue(FloatImm(value.value, "float64", span=value.span), span=reader.context.span(node))
    if (scalar := to_scalar(value)) is not None:
        return PrimValue(scalar, span=reader.context.span(node))
    made = to_expr(reader.context, value, argument, PrimType("int64"))
    if isinstance(made, PrimValue) or isinstance(reader.prims.type(made), PrimType):
        return made
    raise reader.context.fail("PA006", argument, f"expected a host scalar, got `{source_of(argument)}`")


def _string(reader: RelaxReader, node: ast.Call) -> Value:
    argument = _one(reader, node)
    match reader.read(argument):
        case Literal(value=str()) as text:
            return to_expr(reader.context, text, argument)
        case _:
            raise reader.context.fail("PA006", argument, "expected a string")


def _dtype(reader: RelaxReader, node: ast.Call) -> Value:
    argument = _one(reader, node)
    match reader.read(argument):
        case Literal(value=str(text)):
            return DataTypeImm(text, span=reader.context.span(node))
        case _:
            raise reader.context.fail("PA006", argument, 'expected a dtype, such as "float32"')


def _constant(reader: RelaxReader, node: ast.Call) -> Value:
    """Read a constant, whose dtype may be that of a variable: `R.const(1, x.dtype)`."""
    for place, item in enumerate(node.args[1:], 1):
        node.args[place] = _written_dtype(reader, item)
    for keyword in node.keywords:
        keyword.value = _written_dtype(reader, keyword.value) if keyword.arg == "dtype" else keyword.value
    return read_constant(reader.context, node)


def _written_dtype(reader: RelaxReader, node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Attribute) or node.attr != "dtype":
        return node
    match reader.read(node):
        case Literal(value=str(text)):
            return ast.copy_location(ast.Constant(text), node)
        case _:
            return node


def _sharded_constant(reader: RelaxReader, node: ast.Call) -> Value:
    """Read `R.dist.const(1.0, R.DTensor((), "float32", "mesh[0]", "R, R"))`, without its sharding."""
    given = [*node.args, *(item.value for item in node.keywords)]
    type_ = reader.declared(given[1]) if len(given) == 2 else None
    if not isinstance(type_, TensorType) or type_.dtype is None:
        raise reader.context.fail("PA006", node, "`dist.const` takes a value and the type of a tensor with its dtype")
    message = "the sharding of a constant is left out"
    reader.context.report("PA040", given[1], message, severity="warning")
    dtype = ast.copy_location(ast.Constant(type_.dtype), node)
    return read_constant(reader.context, ast.copy_location(ast.Call(node.func, [given[0], dtype], []), node))


def _tuple(reader: RelaxReader, node: ast.Call) -> Value:
    tell_arguments(reader.context, node, None)
    fields = tuple(reader.expr(item) for item in _positional(reader, node))
    return Tuple(fields, span=reader.context.span(node))


def _null(reader: RelaxReader, node: ast.Call) -> Value:
    tell_arguments(reader.context, node, 0)
    return Null(span=reader.context.span(node))


def _tuple_get_item(reader: RelaxReader, node: ast.Call) -> Value:
    tell_arguments(reader.context, node, None)
    match node.args:
        case [value, ast.Constant(value=int(index))]:
            return TupleGetItem(reader.expr(value), index, span=reader.context.span(node))
        case _:
            raise reader.context.fail("PA006", node, "`TupleGetItem` takes a tuple and a number")


def _extern_func(reader: RelaxReader, node: ast.Call) -> Value:
    tell_arguments(reader.context, node, None)
    match node.args:
        case [ast.Constant(value=str(name))]:
            return ExternFunc(name, span=reader.context.span(node))
        case [ast.Constant(value=str(name)), type_]:
            return ExternFunc(name, reader.declared(type_), span=reader.context.span(node))
        case _:
            raise reader.context.fail("PA006", node, "`ExternFunc` takes a name")


def _nested_match(reader: RelaxReader, node: ast.Call) -> Value:
    """A match inside an expression is bound before it."""
    found = match_cast(reader, node)
    assert found is not None
    var = Var("match", span=reader.context.span(node))
    reader.bindings.append(MatchCast(var, *found, span=reader.context.span(node)))
    return var


def _by_spec(
    read: Callable[[RelaxReader, ast.Call, OpSpec], Value], name: str
) -> Callable[[RelaxReader, ast.Call], Value]:
    spec = find(f"relax.{name}")
    assert spec is not None
    return lambda reader, node: read(reader, node, spec)


_SPECIAL: Mapping[str, Callable[[RelaxReader, ast.Call], Value]] = MappingProxyType(
    {
        "relax.shape": _shape,
        "relax.ShapeExpr": _shape,
        "relax.prim_value": _prim_value,
        "relax.PrimValue": _prim_value,
        "relax.str": _string,
        "relax.StringImm": _string,
        "relax.dtype": _dtype,
        "relax.const": _constant,
        "relax.dist.const": _sharded_constant,
        "relax.tuple": _tuple,
        "relax.null_value": _null,
        "relax.TupleGetItem": _tuple_get_item,
        "relax.ExternFunc": _extern_func,
        "relax.assert_op": _by_spec(assertion, "assert_op"),
        "relax.emit_te": emitted,
        "relax.take": _by_spec(take, "take"),
        "relax.dist.call_tir": _by_spec(dps_call, "dist.call_tir"),
        "relax.dist.call_tir_local_view": _by_spec(dps_call, "dist.call_tir_local_view"),
        "relax.call_packed": packed_call,
        "relax.call_pure_packed": _by_spec(pure_packed_call, "call_pure_packed"),
        "relax.match_cast": _nested_match,
        "relax.match_shape": _nested_match,
        "relax.call_tir": _by_spec(dps_call, "call_tir"),
        "relax.call_tir_inplace": _by_spec(dps_call, "call_tir_inplace"),
        "relax.call_tir_with_grad": _by_spec(dps_call, "call_tir_with_grad"),
        "relax.call_dps_packed": _by_spec(dps_packed_call, "call_dps_packed"),
    }
)
