"""Drop the fields that private functions return and no caller takes."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    SeqExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.rewriting.builder import Emitter, names_in
from relax_core.ir.rewriting.substitute import type_nodes, types_in
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.closures.result_types import result_type
from relax_core.passes.relax.interfaces.internal import cleaned, escaping, fields_of, internal_functions, uses_of


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Let private functions return only those fields of their tuple that some caller takes.

    A single field is returned by itself. A function without side effects of which nothing is taken goes with its
    calls; one with side effects is still called. TVM drops that call too, and with it what the call prints or writes.
    """
    uses = uses_of(module)
    type_of = ctx.types(module)
    taken = _taken(module)
    kept: dict[str, tuple[int, ...]] = {}
    for name, function in internal_functions(module, uses).items():
        fields = fields_of(result_type(function, type_of))
        used = taken.get(name)
        if fields is None or name not in uses.calls:
            continue
        if used is None or len(used) == len(fields):
            ctx.remark(function, "missed", f"@{name} keeps its results: every one is used")
            continue
        kept[name] = tuple(sorted(used))
        gone = [index for index in range(len(fields)) if index not in used]
        ctx.remark(function, "applied", f"@{name} no longer returns {', '.join(f'[{index}]' for index in gone)}")
    for name, function, place in escaping(module, uses):
        ctx.remark(function, "missed", f"@{name} keeps its results: it is used as a value", (place,))

    def change(var: GlobalVar, function: Function) -> Function:
        new = _with_fewer_fields(function, kept, ctx)
        return _returning(new, kept[var.name], ctx) if var.name in kept else new

    return cleaned(change_functions(module, ctx, change), ctx)


def _taken(module: IRModule) -> Mapping[str, AbstractSet[int] | None]:
    """Return for each function that is called the fields that are taken of its results; `None` for all."""
    found: dict[str, set[int] | None] = {}
    for _, function in module.relax_functions:
        called: dict[Node, str] = {}
        for item in preorder(function):
            match item:
                case VarBinding(var=var, value=Call(op=GlobalVar(name=name))):
                    called[var] = name
                    found.setdefault(name, set())
                case _:
                    pass
        for item in preorder(function):
            for part in _used_by(item):
                name = called.get(part)
                fields = None if name is None else found[name]
                if name is None or fields is None:
                    continue
                if isinstance(item, TupleGetItem):
                    fields.add(item.index)
                else:
                    found[name] = None
    return found


def _used_by(node: Node) -> Iterable[Node]:
    """Return the variables that `node` itself uses, in its type as well; a binding does not use what it binds."""
    parts = (part for type_ in types_in(node) for part in type_nodes(type_))
    if isinstance(node, VarBinding):
        return (node.value, *parts)
    return (*children(node), *parts)


def _with_fewer_fields(function: Function, kept: Mapping[str, tuple[int, ...]], ctx: PassContext) -> Function:
    """Let the callers take fields from where they are in the shorter results, right behind the call."""
    short: dict[Var, Expr] = {}
    field_of: dict[Node, dict[int, Var]] = {}
    names = names_in(function)
    for item in preorder(function):
        match item:
            case VarBinding(var=var, value=Call(op=GlobalVar(name=name))) if name in kept:
                made = ctx.derive(replace(var, annotation=None), var)
                short[var] = made
                field_of[made] = {
                    index: made if len(kept[name]) == 1 else replace(made, name=names.fresh(var.name))
                    for index in kept[name]
                }
            case _:
                pass

    def take(node: Node) -> Node | tuple[Node, ...] | None:
        """Rule: field of a result -> field of the shorter result."""
        match node:
            case TupleGetItem(tuple_value=source, index=index) if source in field_of:
                return field_of[source][index]
            case VarBinding(var=var) if len(field_of.get(var, ())) > 1:
                parts = enumerate(field_of[var].values())
                return (node, *(VarBinding(part, TupleGetItem(var, number), span=node.span) for number, part in parts))
            case _:
                return None

    return ctx.rewrite(ctx.substitute(function, short), take) if short else function


def _returning(function: Function, fields: tuple[int, ...], ctx: PassContext) -> Function:
    """Return `function` with only these fields of its result."""
    body = function.body
    assert isinstance(body, SeqExpr), "a function in A-normal form has a sequence as its body"
    emitter = Emitter(names_in(function))
    whole = emitter.emit(body.body, "previous_outputs")
    items: list[Expr] = [emitter.emit(TupleGetItem(whole, index)) for index in fields]
    result = items[0] if len(items) == 1 else Tuple(tuple(items))
    blocks = (*body.blocks, emitter.block())
    made = replace(function, body=SeqExpr(blocks, result, span=body.span), ret_type=_short(function.ret_type, fields))
    return ctx.derive(made, function, rule="function -> function with fewer results")


def _short(type_: Type | None, fields: tuple[int, ...]) -> Type | None:
    declared = fields_of(type_)
    if declared is None:
        return None
    return declared[fields[0]] if len(fields) == 1 else TupleType(tuple(declared[index] for index in fields))


PASS = Pass(
    "RemoveUnusedOutputs",
    "Drops the fields that private functions return and no caller takes, and what was computed for them.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/remove_unused_outputs.cc",
)
