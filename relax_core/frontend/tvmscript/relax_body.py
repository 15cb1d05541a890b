"""Read the statements of Relax functions into blocks of bindings."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from relax_core.frontend.tvmscript import (
    relax_calls,
    relax_function,
    relax_if,
    relax_local,
    relax_older,
    relax_output,
)
from relax_core.frontend.tvmscript.bare_types import annotation_of
from relax_core.frontend.tvmscript.coerce import is_tuple
from relax_core.frontend.tvmscript.context import Failed, source_of
from relax_core.frontend.tvmscript.literals import with_attributes
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.plain_calls import plain_call
from relax_core.frontend.tvmscript.plain_types import written_out
from relax_core.frontend.tvmscript.relax_expr import OPERATORS, RelaxReader
from relax_core.frontend.tvmscript.scope import MODULE_NAME, POISONED, REGIONAL, Forward, ModuleName, Poisoned
from relax_core.frontend.tvmscript.unread import tell_arguments, tell_import
from relax_core.ir.absent import no_value
from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relax_core.ir.prim import PrimVar
from relax_core.ir.types import OBJECT, PrimType, ShapeType, TensorType, TupleType, Type
from relax_core.ops import find
from relax_core.source import Span

_NO_VALUES = (PrimVar, ModuleName)


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
        """Close the block of the bindings collected so far."""
        bindings = self.reader.bindings
        if bindings:
            self.blocks.append(BindingBlock(tuple(bindings), span=_covering(bindings)))
            bindings.clear()


def read_function_body(reader: RelaxReader, node: ast.FunctionDef, ret: Type | None) -> tuple[SeqExpr, Attrs]:
    """Read the body of a function: its blocks and its result, and its attributes."""
    body = Body(reader, ret=ret)
    read_statements(body, node.body)
    body.flush()
    span = reader.context.span(node.body[0]).to(reader.context.span(node.body[-1]))
    if body.result is None:
        end = Span(span.source, span.end, span.end)
        is_void = isinstance(ret, TupleType) and not ret.fields
        if not body.failed and not is_void:
            hint = "end it with `return value`; one that only has effects ends with `return R.tuple()`"
            reader.context.report("PA011", node, f"`{node.name}` has no `return`", hint)
        is_missing = body.failed or not is_void
        body.result = no_value(OBJECT if ret is None else ret, end) if is_missing else Tuple((), span=end)
    return SeqExpr(tuple(body.blocks), body.result, span=span), body.attrs


def read_statements(body: Body, statements: Sequence[ast.stmt]) -> None:
    """Read statements one by one; one that fails is reported, and the names it defines are poisoned."""
    _announce(body.reader, statements)
    is_told = False
    for index, statement in enumerate(statements):
        if body.result is not None and not is_told and not isinstance(statement, ast.Return | ast.Pass):
            # As in TVM, which moves such statements before the `return`.
            message = "what stands after `return` is taken as if it stood before it"
            body.reader.context.report("PA011", statement, message, "move it, or remove it", severity="warning")
            is_told = True
        count = len(body.reader.bindings)
        try:
            _statement(body, statement, is_last=index == len(statements) - 1)
        except Failed:
            body.reader.prims.forget(body.reader.bindings[count:])
            del body.reader.bindings[count:]
            body.failed = True
            relax_function.poison(body.reader, assigned_names(statement))


def _announce(reader: RelaxReader, statements: Sequence[ast.stmt]) -> None:
    """Let local functions of the list be known to each other's bodies before they are read."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef) and reader.scope.find(statement.name) is None:
            var = Var(statement.name, span=reader.context.span(statement))
            reader.scope.define(statement.name, Forward(var, reader.level))


def assigned_names(statement: ast.stmt) -> tuple[str, ...]:
    """Return the names that a statement defines, nested ones included."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case _:
            stores = (item for item in ast.walk(statement) if isinstance(item, ast.Name))
            return tuple(dict.fromkeys(item.id for item in stores if isinstance(item.ctx, ast.Store)))


def _statement(body: Body, statement: ast.stmt, *, is_last: bool) -> None:
    reader, context = body.reader, body.reader.context
    match statement:
        case ast.Assign(targets=[ast.Name() as target], value=value):
            _assign(body, statement, target, value, None)
        case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)], value=value):
            _unpack(body, statement, targets, value)
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=ast.expr() as value):
            if context.is_2022 and relax_older.defines_symbols(body, statement):
                relax_older.read_matched(body, statement)
            else:
                _assign(body, statement, target, value, annotation_of(reader, annotation, value))
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=None):
            _without_value(body, statement, target, reader.declared(annotation))
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value) if type(op) in OPERATORS:
            left = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            _assign(body, statement, target, ast.copy_location(ast.BinOp(left, op, value), statement), None)
        case ast.Expr(value=value):
            _expression(body, statement, value)
        case ast.Return() if body.result is not None:
            raise context.fail("PA011", statement, "a function returns once")
        case ast.Return(value=value):
            body.result = Tuple((), span=context.span(statement)) if value is None else _return(body, value)
        case ast.If():
            relax_if.read_if(body, statement, is_last=is_last)
        case ast.With(items=[ast.withitem(context_expr=expr, optional_vars=None)]) if is_form(body, expr, "dataflow"):
            _dataflow(body, statement)
        case ast.FunctionDef():
            relax_local.read_local(body, statement)
        case ast.Pass() if (names := context.cut_at(statement)) is not None:
            body.failed = True
            relax_function.poison(reader, names)
        case ast.Import() | ast.ImportFrom():
            tell_import(context, statement)
        case ast.Pass():
            pass
        case _:
            raise context.unsupported(statement, f"`{source_of(statement)}` in a Relax function")


def _return(body: Body, value: ast.expr) -> Expr:
    try:
        return body.reader.expr(value, body.ret)
    except Failed:
        body.failed = True
        # It has the declared type, so nothing follows from it.
        return no_value(OBJECT if body.ret is None else body.ret, body.reader.context.span(value))


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


def _assign(body: Body, statement: ast.stmt, target: ast.Name, value: ast.expr, annotation: Type | None) -> None:
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
        if isinstance(matched[1], PrimType | TupleType):
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


def _without_value(body: Body, statement: ast.stmt, target: ast.Name, type_: Type) -> None:
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
            found = reader.scope.find(name)
            is_module = isinstance(found, ModuleName) or (found is None and name == reader.module.name)
            if is_module and name not in reader.module.functions:
                reader.scope.define(target.id, MODULE_NAME)
            return is_module
        case ast.Attribute() if (operator := relax_calls.operator_named(reader, value)) is not None:
            reader.scope.define(target.id, operator)
            return True
        case ast.Call(func=ast.Name(id="TypeVar")):
            # 2026 declares so, above a local function, the dimensions of its signature.
            reader.define_symbol(target.id, target)
            return True
        case ast.Call() if relax_function.declared_dtype(reader.context, value) is not None:
            dtype = relax_function.declared_dtype(reader.context, value)
            known = reader.scope.find(target.id)
            is_scalar = isinstance(known, Var) and reader.prims.is_scalar(known)
            if not isinstance(known, PrimVar) and not is_scalar:
                reader.dtypes[target.id] = dtype or "int64"
                reader.define_symbol(target.id, target)
            return True
        case _:
            return False


def _unpack(body: Body, statement: ast.stmt, targets: list[ast.expr], value: ast.expr) -> None:
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
    if any(relax_function.declared_dtype(reader.context, item) is None for item in calls):
        return False
    pairs = zip(targets, values, strict=True)
    return sum(isinstance(name, ast.Name) and _declares(reader, name, item) for name, item in pairs) == len(targets)


def _expression(body: Body, statement: ast.stmt, value: ast.expr) -> None:
    reader, context = body.reader, body.reader.context
    if isinstance(value, ast.Constant) and (isinstance(value.value, str) or value.value is Ellipsis):
        return
    if is_form(body, value, "func_attr") and isinstance(value, ast.Call):
        if len(value.args) != 1 or body.outputs is not None:
            raise context.fail("PA016", value, "`func_attr` takes one dictionary, at the head of a function")
        tell_arguments(context, value, 1)
        body.attrs = with_attributes(context, body.attrs, value.args[0])
        return
    if is_form(body, value, "output", "outputs"):
        raise context.fail("PA012", value, "R.output(...) is the last statement of a dataflow block")
    matched = relax_calls.match_cast(reader, value) if isinstance(value, ast.Call) else None
    span = context.span(statement)
    made = None if matched is not None else reader.expr(value)
    if isinstance(made, Call) and isinstance(made.op, Op) and _is_value_only(made.op.name):
        hint = f"write y = {source_of(value)}, or remove it"
        raise context.fail("PA005", value, f"the value of `{source_of(value)}` is not used", hint)
    var = Var("_", span=context.span(value)) if body.outputs is None else DataflowVar("_", span=context.span(value))
    if matched is not None:
        reader.bindings.append(MatchCast(var, *matched, span=span))
    else:
        assert made is not None
        reader.bindings.append(VarBinding(var, made, span=span))


def _is_value_only(name: str) -> bool:
    """Tell whether an operator is called for its value alone, so that a statement of it does nothing."""
    spec = find(name)
    return spec is not None and spec.is_pure and not spec.takes_type_args


def _dataflow(body: Body, statement: ast.With) -> None:
    reader, context = body.reader, body.reader.context
    if body.outputs is not None:
        raise context.fail("PA012", statement, "a dataflow block inside a dataflow block")
    form = statement.items[0].context_expr
    if isinstance(form, ast.Call):
        tell_arguments(context, form, 0)
    body.flush()
    inner = Body(reader.inner(), outputs={}, ret=body.ret)
    inner.reader.prims.is_dataflow = True
    statements, names = relax_output.split_output(body, statement)
    assert inner.outputs is not None
    for name in names:
        inner.outputs[name.id] = next((item for item in reversed(statements) if name.id in assigned_names(item)), None)
    read_statements(inner, statements)
    if inner.result is not None:
        context.report("PA012", statement, "a dataflow block does not return")
        inner.failed = True
    body.failed = body.failed or inner.failed
    _give_out(body, inner, names)
    bindings = tuple(inner.reader.bindings)
    body.blocks.append(DataflowBlock(bindings, span=context.span(statement)))


def _give_out(body: Body, inner: Body, names: list[ast.Name]) -> None:
    """Define the outputs of a dataflow block behind it; its other variables end with it."""
    outer = body.reader
    for name, entity in inner.reader.scope.names.items():
        if isinstance(entity, _NO_VALUES):
            outer.scope.define(name, entity)
        elif isinstance(entity, Poisoned):
            outer.scope.define(name, POISONED)
        elif outer.scope.find(name) is None:
            outer.scope.define(name, REGIONAL)
    for name in names:
        found = inner.reader.scope.names.get(name.id)
        if isinstance(found, Var | Poisoned):
            outer.scope.define(name.id, found)
        elif outer.scope.find(name.id) is None and not inner.failed:
            outer.context.report("RS001", name, f"`{name.id}` is not defined in the dataflow block")
        elif found is None and not isinstance(outer.scope.find(name.id), Poisoned):
            hint = "it is visible behind the block without R.output"
            outer.context.report("PA012", name, f"`{name.id}` is defined outside of the dataflow block", hint)


def _covering(bindings: Sequence[VarBinding | MatchCast | object]) -> Span | None:
    spans = [span for item in bindings if (span := getattr(item, "span", None)) is not None]
    return spans[0].to(spans[-1]) if spans else None
