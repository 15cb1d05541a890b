"""Read Relax functions: their statements, one after another, into blocks of bindings."""

import ast
from collections.abc import Sequence

from relax_core.frontend.tvmscript.context import Failed, source_of
from relax_core.frontend.tvmscript.literal.literals import with_attributes
from relax_core.frontend.tvmscript.names import qualified
from relax_core.frontend.tvmscript.plain.plain_calls import plain_call
from relax_core.frontend.tvmscript.plain.plain_types import written_out
from relax_core.frontend.tvmscript.relax import calls
from relax_core.frontend.tvmscript.relax import macro as relax_macro
from relax_core.frontend.tvmscript.relax.bindings import (
    Body,
    assign,
    defines_symbols,
    is_form,
    read_matched,
    unpack,
    without_value,
)
from relax_core.frontend.tvmscript.relax.expr import OPERATORS
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.relax.signature import (
    Decorator,
    declared_dtypes,
    literal_parameters,
    literal_result,
    poison,
    read_decorator,
    read_parameters,
    read_return_type,
)
from relax_core.frontend.tvmscript.scalar.prim_variables import ComputedNames
from relax_core.frontend.tvmscript.scope import POISONED, REGIONAL, Forward, ModuleName, Poisoned
from relax_core.frontend.tvmscript.unread import tell_arguments, tell_import
from relax_core.ir.absent import no_value
from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import (
    OBJECT,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimType,
    SeqExpr,
    Tuple,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.prim import PrimVar
from relax_core.ops import find
from relax_core.source import Span

_BARE = ("PrimType", "Prim", "relax.PrimType", "relax.Prim", "relax.ty.PrimType")
_SCALARS = ("relax.PrimValue", "relax.prim_value", "relax.str", "relax.StringImm")


_NO_VALUES = (PrimVar, ModuleName)


def read_function(outer: RelaxReader, node: ast.FunctionDef, decorator: Decorator) -> Function:
    """Read a Relax function in the scope of `outer`: that of the module, or of the function around it."""
    context = outer.context
    reader = outer.inner()
    reader.prims.is_dataflow = False
    reader.prims.computed = ComputedNames(context, node)
    reader.level = outer.level + 1
    reader.dtypes = declared_dtypes(context, node.body)
    params = read_parameters(reader, node)
    ret = read_return_type(reader, node)
    body, attrs = _function_body(reader, node, ret)
    return Function(params, body, ret, attrs, decorator.is_pure, decorator.is_private, span=context.span(node))


def _function_body(reader: RelaxReader, node: ast.FunctionDef, ret: Type | None) -> tuple[SeqExpr, Attrs]:
    """Read the body of a function: its blocks and its result, and its attributes."""
    body = Body(reader, ret=ret)
    _statements(body, node.body)
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


def _statements(body: Body, statements: Sequence[ast.stmt]) -> None:
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
            poison(body.reader, _assigned_names(statement))


def _assigned_names(statement: ast.stmt) -> tuple[str, ...]:
    """Return the names that a statement defines, nested ones included."""
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case _:
            stores = (item for item in ast.walk(statement) if isinstance(item, ast.Name))
            return tuple(dict.fromkeys(item.id for item in stores if isinstance(item.ctx, ast.Store)))


def _announce(reader: RelaxReader, statements: Sequence[ast.stmt]) -> None:
    """Declare the local functions of a list before their bodies are read, so that these may refer to each other."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef) and reader.scope.find(statement.name) is None:
            var = Var(statement.name, span=reader.context.span(statement))
            reader.scope.define(statement.name, Forward(var, reader.level))


def _statement(body: Body, statement: ast.stmt, *, is_last: bool) -> None:
    reader, context = body.reader, body.reader.context
    if (found := relax_macro.call_in(reader, statement)) is not None:
        _macro(body, statement, *found)
        return
    match statement:
        case ast.Assign(targets=[ast.Name() as target], value=value):
            assign(body, statement, target, value, None)
        case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)], value=value):
            unpack(body, statement, targets, value)
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=ast.expr() as value):
            if context.is_2022 and defines_symbols(body, statement):
                read_matched(body, statement)
            else:
                assign(body, statement, target, value, annotation_of(reader, annotation, value))
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=None):
            without_value(body, statement, target, reader.declared(annotation))
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value) if type(op) in OPERATORS:
            left = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            assign(body, statement, target, ast.copy_location(ast.BinOp(left, op, value), statement), None)
        case ast.Expr(value=value):
            _expression(body, statement, value)
        case ast.Return() if body.result is not None:
            raise context.fail("PA011", statement, "a function returns once")
        case ast.Return(value=value):
            body.result = Tuple((), span=context.span(statement)) if value is None else _return(body, value)
        case ast.If():
            _if(body, statement, is_last=is_last)
        case ast.With(items=[ast.withitem(context_expr=expr, optional_vars=None)]) if is_form(body, expr, "dataflow"):
            _dataflow(body, statement)
        case ast.FunctionDef():
            _local(body, statement)
        case _:
            _without_effect(body, statement)


def _macro(body: Body, statement: ast.stmt, call: ast.Call, node: ast.FunctionDef) -> None:
    """Read the statements that a call of a macro stands for, then its own with what they return as the value."""
    reader, context = body.reader, body.reader.context
    inner_reader, statements = relax_macro.expand(reader, call, node)
    inner = Body(inner_reader, blocks=body.blocks, outputs=None if body.outputs is None else {})
    _statements(inner, statements)
    if inner.failed:
        raise Failed(node.name)
    if isinstance(statement, ast.Expr):
        return
    if inner.result is None:
        raise context.fail("PA011", call, f"the macro `{node.name}` returns nothing", "end it with `return value`")
    result = inner.result
    if not isinstance(result, Var):
        var = (Var if body.outputs is None else DataflowVar)(node.name, span=context.span(call))
        reader.bindings.append(VarBinding(var, result, span=context.span(call)))
        reader.prims.note(var, result)
        result = var
    # No name of the text has parentheses.
    name = ast.copy_location(ast.Name(f"{node.name}()", ast.Load()), call)
    reader.scope.define(name.id, result)
    match statement:
        case ast.Assign(targets=[ast.Name() as target]):
            assign(body, statement, target, name, None)
        case ast.Assign(targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)]):
            unpack(body, statement, targets, name)
        case ast.AnnAssign(target=ast.Name() as target, annotation=annotation):
            assign(body, statement, target, name, annotation_of(reader, annotation, name))
        case ast.Return() if body.result is None:
            body.result = _return(body, name)
        case _:
            raise context.unsupported(statement, f"`{source_of(statement)}` in a Relax function")


def _without_effect(body: Body, statement: ast.stmt) -> None:
    """Pass over a statement that makes no binding, or refuse it."""
    context = body.reader.context
    match statement:
        case ast.Pass() if (names := context.cut_at(statement)) is not None:
            body.failed = True
            poison(body.reader, names)
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
        # It has the declared type, so that no follow-on errors are reported.
        return no_value(OBJECT if body.ret is None else body.ret, body.reader.context.span(value))


def _expression(body: Body, statement: ast.stmt, value: ast.expr) -> None:
    reader, context = body.reader, body.reader.context
    plain = plain_call(reader, value)
    value = written_out(context, value) if plain is None else value
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
    matched = calls.match_cast(reader, value) if isinstance(value, ast.Call) else None
    span = context.span(statement)
    made = plain if plain is not None or matched is not None else reader.expr(value)
    if isinstance(made, Call) and isinstance(made.op, Op) and _is_value_only(made.op.name):
        words = source_of(written_out(context, value))
        raise context.fail("PA005", value, f"the value of `{words}` is not used", f"write y = {words}, or remove it")
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
    statements, names = _split_output(body, statement)
    assert inner.outputs is not None
    for name in names:
        inner.outputs[name.id] = next((item for item in reversed(statements) if name.id in _assigned_names(item)), None)
    _statements(inner, statements)
    if inner.result is not None:
        context.report("PA012", statement, "a dataflow block does not return")
        inner.failed = True
    body.failed = body.failed or inner.failed
    _give_out(body, inner, names)
    bindings = tuple(inner.reader.bindings)
    body.blocks.append(DataflowBlock(bindings, span=context.span(statement)))


def _give_out(body: Body, inner: Body, names: list[ast.Name]) -> None:
    """Define the outputs of a dataflow block after it; its other variables go out of scope."""
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


def _if(body: Body, statement: ast.If, *, is_last: bool) -> None:
    """Read a conditional: both branches end by assigning the same name, or, at the end of a function, by `return`."""
    reader, context = body.reader, body.reader.context
    condition = reader.expr(statement.test)
    branches: list[tuple[SeqExpr, str | None, Type | None]] = []
    for statements in (statement.body, statement.orelse):
        if not statements:
            hint = "add an else branch that assigns the same name"
            raise context.fail("PA013", statement, "both branches of a conditional give a value", hint)
        branches.append(_branch(body, statements))
    (true_branch, name, annotation), (false_branch, other, other_annotation) = branches
    if name != other:
        words = [f"`{item}`" if item else "a return" for item in (name, other)]
        message = f"the branches end with {words[0]} and {words[1]}"
        raise context.fail("PA013", statement, message, "let the last statement of both assign the same name")
    made = If(condition, true_branch, false_branch, span=context.span(statement))
    if name is None:
        if not is_last:
            raise context.fail("PA013", statement, "branches that return stand at the end of a function")
        body.result = made
        return
    span = context.span(statement)
    outputs = body.outputs
    is_local = outputs is not None and outputs.get(name) is not statement
    declared = annotation if annotation is not None else other_annotation
    var = (DataflowVar if is_local else Var)(name, declared, span=span)
    reader.bindings.append(VarBinding(var, made, span=span))
    reader.prims.note(var, made)
    reader.scope.define(name, var)


def _branch(body: Body, statements: list[ast.stmt]) -> tuple[SeqExpr, str | None, Type | None]:
    """Read a branch; return its value, the name that its last statement assigns, and the type declared there."""
    context = body.reader.context
    inner = Body(body.reader.inner(), ret=body.ret)
    span = context.span(statements[0]).to(context.span(statements[-1]))
    _statements(inner, statements)
    bindings = inner.reader.bindings
    if inner.failed:
        raise Failed
    if inner.result is not None:
        inner.flush()
        return SeqExpr(tuple(inner.blocks), inner.result, span=span), None, None
    names = _assigned_names(statements[-1])
    match bindings[-1] if bindings else None:
        case VarBinding(var=var, value=value) if var.name != "_":
            bindings.pop()
            inner.flush()
            return SeqExpr(tuple(inner.blocks), value, span=span), var.name, var.annotation
        case MatchCast(var=var, value=value, type=PrimType(value=PrimVar(span=span_of_symbol))) if (
            span_of_symbol is not None and span_of_symbol == var.span
        ):
            # The symbol is of the name that the branch assigns, and nothing in the branch computes with it.
            bindings.pop()
            inner.flush()
            return SeqExpr(tuple(inner.blocks), value, span=span), var.name, None
        case MatchCast(var=var) if var.name != "_":
            inner.flush()
            return SeqExpr(tuple(inner.blocks), var, span=span), var.name, None
        case None if len(inner.blocks) > 0 and isinstance(statements[-1], ast.With):
            given = [name for name in names if isinstance(inner.reader.scope.names.get(name), Var)]
            if len(given) == 1 and isinstance(var := inner.reader.scope.names[given[0]], Var):
                return SeqExpr(tuple(inner.blocks), var, span=span), given[0], None
        case _:
            pass
    raise context.fail("PA013", statements[-1], "a branch ends by assigning its value to a name")


def _split_output(body: Body, statement: ast.With) -> tuple[list[ast.stmt], list[ast.Name]]:
    """Return the statements before `R.output(a, b)`, and the names that it lists."""
    context = body.reader.context
    match statement.body[-1]:
        case ast.Expr(value=ast.Call(args=args) as call) if is_form(body, call, "output", "outputs"):
            tell_arguments(context, call, None)
        case _ if (early := _early_end(body, statement)) is not None:
            message = "R.output(...) is the last statement of a dataflow block"
            words = "a dataflow block does not return" if isinstance(early, ast.Return) else message
            context.report("PA012", early, words)
            body.failed = True
            names = [item for item in ast.walk(early) if isinstance(item, ast.Name) and item.id not in ("R", "relax")]
            return [item for item in statement.body if item is not early], names
        case last if (
            any(context.cut_at(item) is not None for item in statement.body) or context.cut_at(last) is not None
        ):
            return statement.body, []
        case _:
            hint = "end it with R.output(...), which lists the variables that are used behind it"
            context.report("PA012", statement, "the dataflow block has no R.output(...)", hint, "warning")
            return statement.body, []
    names: list[ast.Name] = []
    for item in args:
        for name in item.elts if isinstance(item, ast.Tuple | ast.List) else [item]:
            if isinstance(name, ast.Name):
                names.append(name)
            else:
                context.report("PA012", name, f"R.output lists names, got `{source_of(name)}`")
    return statement.body[:-1], names


def _early_end(body: Body, statement: ast.With) -> ast.stmt | None:
    """The R.output(...) that does not stand last, or a `return`, in a dataflow block."""
    for item in statement.body:
        is_output = isinstance(item, ast.Expr) and is_form(body, item.value, "output", "outputs")
        if is_output or isinstance(item, ast.Return):
            return item
    return None


def _local(body: Body, node: ast.FunctionDef) -> None:
    """Read a function inside a function: it is bound to a variable of its name."""
    reader, context = body.reader, body.reader.context
    if len(node.decorator_list) != 1:
        hint = f"write @R.function above `def {node.name}`"
        raise context.fail("PA016", node, f"the local function `{node.name}` has no decorator", hint)
    decorator = read_decorator(context, node.decorator_list[0])
    if decorator.kind == "tir.prim_func" and context.is_2022:
        _prim_func(body, node)
        return
    if decorator.kind != "relax.function":
        raise context.unsupported(node.decorator_list[0], f"`@{decorator.kind}` inside a Relax function")
    known = reader.scope.names.get(node.name)
    is_output = body.outputs is None or body.outputs.get(node.name) is node
    var = known.var if isinstance(known, Forward) else Var(node.name, span=context.span(node))
    if not is_output:
        var = DataflowVar(node.name, span=context.span(node))
    reader.parameters[var] = literal_parameters(context, node)
    reader.prims.local_result_of[var] = literal_result(context, node)
    # The name is known in the function's own body.
    reader.scope.define(node.name, var)
    made: Function = read_function(reader, node, decorator)
    reader.bindings.append(VarBinding(var, made, span=context.span(node)))


def _prim_func(body: Body, node: ast.FunctionDef) -> None:
    """Leave a prim func, which 2022 has inside of Relax functions too, to the module, whose function it is."""
    reader, context = body.reader, body.reader.context
    taken = {*reader.module.functions, *(item.name for item in context.inner_functions)}
    name, count = node.name, 1
    while name in taken:
        name, count = f"{node.name}_{count}", count + 1
    var = GlobalVar(name, span=context.span(node))
    context.inner_functions[var] = node
    reader.scope.define(node.name, var)


def annotation_of(reader: RelaxReader, node: ast.expr, value: ast.expr) -> Type | None:
    """Read the annotation of a variable that is bound to `value`; `None` leaves its type to the value."""
    if isinstance(node, ast.Name) and node.id in reader.context.plain:
        return reader.declared(node)
    aliases = reader.context.aliases
    is_bare = isinstance(node, ast.Name | ast.Attribute) and qualified(node, aliases) in _BARE
    match value:
        case ast.Call(func=func) if is_bare and qualified(func, aliases) in _SCALARS:
            return None
        case ast.Name(id=name) if is_bare and isinstance(known := reader.scope.find(name), Var):
            return None if isinstance(reader.prims.type(known), PrimType) else reader.declared(node)
        case _:
            return reader.declared(node)
