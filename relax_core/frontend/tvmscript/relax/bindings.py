"""Read the statements of Relax functions that bind values to names, or declare what a name stands for."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.plain.plain_calls import plain_call
from relax_core.frontend.tvmscript.plain.plain_types import written_out
from relax_core.frontend.tvmscript.relax import calls as relax_calls
from relax_core.frontend.tvmscript.relax.coerce import is_tuple
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.relax.signature import (
    declared_dtype,
)
from relax_core.frontend.tvmscript.scope import MODULE_NAME
from relax_core.frontend.tvmscript.unread import tell_declaration
from relax_core.ir.absent import no_value
from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.expr import (
    BindingBlock,
    DataflowVar,
    Expr,
    MatchCast,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.prim import PrimVar
from relax_core.source import Span

_NO_SYMBOLS = ("_", "R", "T", "relax", "tir")


@dataclass(slots=True)
class Body:
    """A list of statements under construction.

    `outputs` are the names that a dataflow block gives out, `None` outside of one; `ret` is the declared result.
    """

    reader: RelaxReader
    blocks: list[BindingBlock] = field(default_factory=list[BindingBlock])
    outputs: dict[str, ast.stmt | None] | None = None
    ret: Type | None = None
    attrs: Attrs = NO_ATTRS
    result: Expr | None = None
    failed: bool = False

    def flush(self) -> None:
        """Close the current block of bindings."""
        bindings = self.reader.bindings
        if bindings:
            self.blocks.append(BindingBlock(tuple(bindings), span=_covering(bindings)))
            bindings.clear()


def is_form(body: Body, node: ast.expr, *names: str) -> bool:
    """Tell whether `node` is a call of `R.<name>` for one of the names, however the text imports Relax."""
    if not isinstance(node, ast.Call):
        return False
    return qualified(node.func, body.reader.context.aliases) in {f"relax.{name}" for name in names}


def variable_of(body: Body, name: str, annotation: Type | None, place: ast.AST, statement: ast.stmt) -> Var:
    """Make the variable of a binding: of the dataflow block only, unless this is the one that it gives out."""
    span = body.reader.context.span(place)
    if body.outputs is None or body.outputs.get(name) is statement:
        return Var(name, annotation, span=span)
    return DataflowVar(name, annotation, span=span)


def assign(body: Body, statement: ast.stmt, target: ast.Name, value: ast.expr, annotation: Type | None) -> None:
    """Read `x = value` with the type that is declared for `x`."""
    reader = body.reader
    if annotation is None and _declares(reader, target, value):
        return
    span = reader.context.span(statement)
    plain = plain_call(reader, value)
    value = written_out(reader.context, value) if plain is None else value
    matched = relax_calls.match_cast(reader, value) if isinstance(value, ast.Call) else None
    if matched is not None:
        var = variable_of(body, target.id, annotation, target, statement)
        reader.bindings.append(MatchCast(var, *matched, span=span))
        reader.prims.type_of[var] = matched[1]
    else:
        expected = annotation if annotation is not None else _expected(reader, value)
        made = reader.expr(value, expected) if plain is None else plain
        matched_type = reader.prims.match(target.id, made, annotation, reader.context.span(target))
        var = variable_of(body, target.id, annotation if matched_type is None else None, target, statement)
        if matched_type is None:
            reader.bindings.append(VarBinding(var, made, span=span))
            reader.prims.note(var, made)
        else:
            reader.bindings.append(MatchCast(var, made, matched_type, span=span))
            reader.prims.type_of[var] = matched_type
        if isinstance(annotation, TupleType) or is_tuple(made, reader.tuples):
            reader.tuples.add(var)
    reader.scope.define(target.id, var)


def without_value(body: Body, statement: ast.stmt, target: ast.Name, type_: Type) -> None:
    """Read `x: R.Any`, as TVM prints a variable that only another branch binds: nothing gives it a value here."""
    reader = body.reader
    span = reader.context.span(statement)
    message = f"`{target.id}` is declared without a value"
    reader.context.report("PA034", statement, message, "give it a value, or remove the line", severity="warning")
    var = variable_of(body, target.id, type_, target, statement)
    reader.bindings.append(VarBinding(var, no_value(type_, span), span=span))
    reader.scope.define(target.id, var)


def _expected(reader: RelaxReader, value: ast.expr) -> Type | None:
    """What `s = (n,)` and `x = 3` are taken for, as TVM does: a shape, and a tensor."""
    match value:
        case ast.Constant(value=int() | float() as number):
            hint = f"write R.const({number}) for a tensor, or R.prim_value({number}) for a host scalar"
            message = f"`{number}` may be a tensor or a host scalar here; it is taken as a tensor"
            reader.context.report("PA008", value, message, hint, "warning")
            return TensorType()
        case _:
            return ShapeType() if _is_shape_display(reader, value) else None


def _is_shape_display(reader: RelaxReader, value: ast.expr) -> bool:
    """In 2022 `s = (n * m,)` is a shape because symbolic dimensions occur in it; later it is a tuple of scalars."""
    if not isinstance(value, ast.Tuple) or not reader.context.is_2022:
        return False
    names = [item.id for item in ast.walk(value) if isinstance(item, ast.Name)]
    found = [reader.scope.find(name) for name in names if name not in ("T", "tir")]
    return bool(found) and all(isinstance(item, PrimVar) for item in found)


def _declares(reader: RelaxReader, target: ast.Name, value: ast.expr) -> bool:
    """Read `cls = Module` and `n = T.int64()`, which bind no value."""
    match value:
        case ast.Name(id=name):
            is_module = reader.is_module(name)
            if is_module and name not in reader.module.functions:
                reader.scope.define(target.id, MODULE_NAME)
            return is_module
        case ast.Attribute() if (operator := relax_calls.operator_named(reader, value)) is not None:
            reader.scope.define(target.id, operator)
            return True
        case ast.Call(func=ast.Name(id="TypeVar")):
            # This is how 2026 declares, above a local function, the dimensions of its signature.
            reader.define_symbol(target.id, target)
            return True
        case ast.Call() if declared_dtype(reader.context, value) is not None:
            dtype = declared_dtype(reader.context, value)
            tell_declaration(reader.context, value)
            known = reader.scope.find(target.id)
            is_scalar = isinstance(known, Var) and reader.prims.is_scalar(known)
            if not isinstance(known, PrimVar) and not is_scalar:
                reader.dtypes[target.id] = dtype or "int64"
                reader.define_symbol(target.id, target)
            return True
        case _:
            return False


def unpack(body: Body, statement: ast.stmt, targets: list[ast.expr], value: ast.expr) -> None:
    """Read `a, b = t`: the tuple is bound once, then its fields."""
    reader = body.reader
    if _declares_all(reader, targets, value):
        return
    made = reader.expr(value)
    if isinstance(made, Tuple) and len(made.fields) != len(targets):
        raise reader.context.fail("PA006", value, f"{len(made.fields)} fields for {len(targets)} names")
    if not isinstance(made, Var | Tuple):
        span = reader.context.span(value)
        var = Var("t", span=span) if body.outputs is None else DataflowVar("t", span=span)
        reader.bindings.append(VarBinding(var, made, span=span))
        reader.prims.note(var, made)
        made = var
    variables: list[tuple[str, Var]] = []
    for index, target in enumerate(targets):
        if not isinstance(target, ast.Name):
            raise reader.context.unsupported(target, f"the target `{source_of(target)}`")
        var = variable_of(body, target.id, None, target, statement)
        item = (
            made.fields[index]
            if isinstance(made, Tuple)
            else TupleGetItem(made, index, span=reader.context.span(target))
        )
        reader.bindings.append(VarBinding(var, item, span=reader.context.span(statement)))
        reader.prims.note(var, item)
        variables.append((target.id, var))
    for name, var in variables:
        reader.scope.define(name, var)


def _declares_all(reader: RelaxReader, targets: list[ast.expr], value: ast.expr) -> bool:
    """Read `n, m = T.int64(), T.int64()`, which binds no value."""
    values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    are_calls = bool(values) and all(isinstance(item, ast.Call) for item in values)
    if not are_calls or len(values) != len(targets):
        return False
    calls = [item for item in values if isinstance(item, ast.Call)]
    if any(declared_dtype(reader.context, item) is None for item in calls):
        return False
    pairs = zip(targets, values, strict=True)
    return sum(isinstance(name, ast.Name) and _declares(reader, name, item) for name, item in pairs) == len(targets)


def defines_symbols(body: Body, statement: ast.stmt) -> bool:
    """Tell whether an annotation has names that stand for nothing yet."""
    reader = body.reader
    if not isinstance(statement, ast.AnnAssign):
        return False
    dims = [item for item in ast.walk(statement.annotation) if isinstance(item, ast.Tuple | ast.List)]
    names = {item.id for dim in dims for item in ast.walk(dim) if isinstance(item, ast.Name)}
    types = reader.types()
    unknown = (name for name in names if name not in _NO_SYMBOLS and reader.scope.find(name) is None)
    return any(not types.is_type(ast.Name(name, ast.Load())) for name in unknown)


def read_matched(body: Body, statement: ast.stmt) -> None:
    """Read an annotation of 2022 that defines symbolic dimensions, `z: Tensor((n, m), "float32") = f(x)`.

    Later dialects write such a check of the run time as `R.match_cast`, and so it is read.
    """
    assert isinstance(statement, ast.AnnAssign)
    assert isinstance(statement.target, ast.Name)
    assert statement.value is not None
    reader, context, target = body.reader, body.reader.context, statement.target
    span = context.span(statement)
    statement.value = written_out(context, statement.value)
    matched = relax_calls.match_cast(reader, statement.value) if isinstance(statement.value, ast.Call) else None
    types = reader.types(defines=True)
    if matched is not None:
        value, type_ = matched
        var = variable_of(body, target.id, types.read(statement.annotation), target, statement)
    else:
        made = reader.expr(statement.value)
        value = (Var if body.outputs is None else DataflowVar)(target.id, span=context.span(target))
        reader.bindings.append(VarBinding(value, made, span=span))
        type_ = types.read(statement.annotation)
        var = variable_of(body, target.id, None, target, statement)
    reader.bindings.append(MatchCast(var, value, type_, span=span))
    reader.scope.define(target.id, var)


def _covering(bindings: Sequence[VarBinding | MatchCast | object]) -> Span | None:
    spans = [span for item in bindings if (span := getattr(item, "span", None)) is not None]
    return spans[0].to(spans[-1]) if spans else None
