"""Compute expressions of symbolic dimensions by prim funcs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from relax_core.ir.attrs import attrs_of
from relax_core.ir.equality import structural_hash
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    Tuple,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, nodes_in, preorder
from relax_core.ir.prim import FloatImm, IntImm, Intrinsic, PrimExpr, PrimVar, StringImm, dtype_of
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.ir.rewriting.substitute import free_symbols, replace_symbols
from relax_core.ir.tir import Evaluate, PrimFunc
from relax_core.ops import OPS
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import join_blocks


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace scalars that are computed from dimensions by calls of prim funcs, one for equal expressions.

    Attributes of operators that LegalizeOps reads stay, such as where a slice begins: TVM computes these as well, and
    the operator's shape is then no longer known.
    """
    made = _Made(Names(module.names), ctx)

    def change(_: GlobalVar, function: Function) -> Function:
        # Rules see branches before conditions; names are given in the order of the text.
        for value in _computed(function):
            made.name_of(value)
        computing = _Computing(made, names_in(function), ctx)
        return ctx.rewrite(function, computing.block, computing.result, join_blocks, kinds=(BindingBlock, SeqExpr))

    changed = change_functions(module, ctx, change)
    return ctx.derive(changed.with_definitions(*made.definitions), module) if made.definitions else changed


@dataclass(slots=True)
class _Made:
    """The prim funcs that compute expressions, by the hash of their definition."""

    names: Names
    ctx: PassContext
    by_hash: dict[str, GlobalVar] = field(default_factory=dict[str, GlobalVar])
    definitions: list[Definition] = field(default_factory=list[Definition])

    def name_of(self, value: PrimValue) -> GlobalVar:
        """Return the prim func that computes a scalar, a new one if there is none that is equal."""
        params: dict[PrimVar, PrimExpr] = {item: PrimVar(item.name, item.dtype) for item in free_symbols(value.value)}
        function = _prim_func(replace_symbols(value.value, params), params)
        name = self.by_hash.get(key := structural_hash(function))
        if name is None:
            name = self.by_hash[key] = GlobalVar(self.names.fresh("compute_symbolic_expr"))
            self.definitions.append(self.ctx.derive(Definition(name, function), value))
        return name

    def call(self, value: PrimValue) -> Call:
        """Return the call that computes a scalar."""
        name = self.name_of(value)
        call = Call(name, tuple(PrimValue(item) for item in free_symbols(value.value)), span=value.span)
        self.ctx.remark(value, "applied", f"an expression of dimensions is computed by @{name.name}")
        return self.ctx.derive(call, value, rule="expression of dimensions -> call of a prim func")


def _prim_func(value: PrimExpr, params: dict[PrimVar, PrimExpr]) -> PrimFunc:
    own = tuple(item for item in params.values() if isinstance(item, PrimVar))
    attrs = attrs_of({"tirx.is_host_func": True})
    body = Evaluate(Intrinsic("ret", (value,), "void"))
    return PrimFunc(own, (), body, attrs, is_private=True, ret_dtype=dtype_of(value), is_s_tir=True)


@dataclass(frozen=True, slots=True)
class _Computing:
    """The scalars of one function."""

    made: _Made
    names: Names
    ctx: PassContext

    def block(self, node: Node) -> Node | None:
        """Rule: scalar that is computed from dimensions -> variable of a call that computes it."""
        if not isinstance(node, BindingBlock):
            return None
        emitter = Emitter(self.names, is_dataflow=isinstance(node, DataflowBlock))
        for item in node.bindings:
            emitter.bindings.append(self.binding(item, emitter))
        return None if tuple(emitter.bindings) == node.bindings else replace(node, bindings=tuple(emitter.bindings))

    def result(self, node: Node) -> Node | None:
        """Rule: result that is computed from dimensions -> variable of a call that computes it."""
        if not isinstance(node, SeqExpr):
            return None
        emitter = Emitter(self.names)
        body = self.leaf(node.body, emitter)
        return None if body is node.body else replace(node, blocks=(*node.blocks, emitter.block()), body=body)

    def binding(self, binding: Binding, emitter: Emitter) -> Binding:
        """Return a binding that uses no expressions of dimensions; what computes them is emitted."""
        match binding:
            case VarBinding(value=PrimValue() as value) if _is_computed(value):
                return self.bound(binding, self.made.call(value))
            case VarBinding(value=Call(op=op, args=args) as call) if not self.is_read_early(op, args, binding):
                new = tuple(self.leaf(arg, emitter) for arg in args)
                return binding if new == args else self.bound(binding, replace(call, args=new))
            case VarBinding(value=If(condition=condition) as choice):
                leaf = self.leaf(condition, emitter)
                return binding if leaf is condition else self.bound(binding, replace(choice, condition=leaf))
            case VarBinding(value=Tuple() as value):
                items = self.leaf(value, emitter)
                return binding if items is value else self.bound(binding, items)
            case MatchCast(value=value):
                cast = self.leaf(value, emitter)
                return binding if cast is value else self.bound(binding, cast)
            case _:
                return binding

    def bound(self, binding: Binding, value: Expr) -> Binding:
        """Return a binding with another value; what the variable was known to equal is no longer said."""
        made = replace(binding, value=value)
        self.ctx.derive(made, binding, binding.value)
        return made

    def is_read_early(self, op: Expr, args: Sequence[Expr], binding: Binding) -> bool:
        """Tell whether LegalizeOps reads the arguments of a call, which it then needs as they are."""
        if not _is_legalized(op):
            return False
        parts = (part for arg in args for part in (arg.fields if isinstance(arg, Tuple) else (arg,)))
        if any(isinstance(part, PrimValue) and _is_computed(part) for part in parts):
            self.ctx.remark(binding, "missed", f"{binding.var.name} keeps an expression: LegalizeOps reads it")
        return True

    def leaf(self, value: Expr, emitter: Emitter) -> Expr:
        """Return `value` without expressions of dimensions, also inside of a tuple."""
        match value:
            case PrimValue() if _is_computed(value):
                var = emitter.emit(self.made.call(value))
                return self.ctx.derive(var, value)
            case Tuple(fields=fields):
                new = tuple(self.leaf(item, emitter) for item in fields)
                return value if new == fields else replace(value, fields=new)
            case _:
                return value


def _computed(function: Function) -> Iterator[PrimValue]:
    """Yield the scalars that are to be computed, in the order of the text."""
    nodes = nodes_in(function)
    calls = (item for item in nodes if isinstance(item, Call) and _is_legalized(item.op))
    early = {part for call in calls for part in preorder(call)}
    for item in nodes:
        if isinstance(item, PrimValue) and _is_computed(item) and item not in early:
            yield item


def _is_legalized(op: Expr) -> bool:
    spec = OPS.get(op.name) if isinstance(op, Op) else None
    return spec is not None and spec.legalize is not None


def _is_computed(value: PrimValue) -> bool:
    return not isinstance(value.value, IntImm | FloatImm | StringImm | PrimVar)


PASS = Pass(
    "ComputePrimValue",
    "Computes expressions of symbolic dimensions by prim funcs.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/compute_prim_value.cc",
)
