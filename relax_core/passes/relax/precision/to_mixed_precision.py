"""Compute products and convolutions in float16."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import is_

import numpy as np

from relax_core.ir.expr import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.ops import OPS
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.operators.calls import dtype, op_call
from relax_core.passes.relax.precision.policies import Need, Needs, is_tensors, policy_of
from relax_core.passes.relax.retyped_block import RetypedBlock

_FLOATS = ("float16", "float32")
_GREATEST = float(np.finfo(np.float16).max)


@dataclass(frozen=True, slots=True)
class ToMixedPrecisionOptions:
    """`out_dtype` is what products accumulate in; parameters of the names `fp16_input_names` become float16."""

    out_dtype: str = "float32"
    fp16_input_names: tuple[str, ...] = ()


def run(module: IRModule, options: ToMixedPrecisionOptions, ctx: PassContext) -> IRModule:
    """Give operators on tensors of float32 float16 instead, by their policy, in dataflow blocks.

    An operator of the policy "always" gets float16. One of "follow" gets it if all its arguments have it, or are
    constants that it holds, and else float32; all others get what they had. A value that only operators of "always"
    use is kept in float16, but not in branches; results of functions and outputs of blocks keep their dtype. Each use
    casts for itself, so that casts can be fused.

    apache-tvm also casts a parameter in blocks that do not use it, gives products of integers a result in float16, and,
    where a later block uses an output in float16 only, leads that block to a variable of the earlier one; here the
    later block casts the output. It stops at an operator of "follow" with scalars, and at `call_tir`.
    """
    type_of = ctx.types(module)

    def change(_: GlobalVar, function: Function) -> Function:
        return _function(function, _KnownValue(ctx, type_of, options, Needs(function, type_of), names_in(function)))

    return change_functions(module, ctx, change)


@dataclass(frozen=True, slots=True)
class _KnownValue:
    """What is known of a function."""

    ctx: PassContext
    type_of: Mapping[Node, Type]
    options: ToMixedPrecisionOptions
    needs: Needs
    names: Names


def _function(function: Function, known: _KnownValue) -> Function:
    ctx = known.ctx
    narrow = {item: _narrowed(item, known) for item in function.params if item.name in known.options.fp16_input_names}
    narrow = {old: new for old, new in narrow.items() if new is not old}
    params = tuple(narrow.get(item, item) for item in function.params)
    outer = frozenset(function.body.blocks if isinstance(function.body, SeqExpr) else ())

    def block(node: Node) -> Node | None:
        """Rule: operators on float32 -> operators on float16, with casts between them."""
        if not isinstance(node, DataflowBlock):
            return None
        return _PrecisionBlock(node, known, params, dict(narrow), keeps=node in outer).rewritten()

    new = ctx.rewrite(function, block)
    if not narrow:
        return new
    # What stands outside of dataflow blocks gets the parameters as they were.
    new = ctx.derive(replace(new, params=params), new)
    outside = [item for item in narrow if item in free_vars(new)]
    emitter = Emitter(known.names)
    wide = {item: emitter.emit(op_call("astype", narrow[item], dtype(_dtype(known.type_of[item])))) for item in outside}
    body = ctx.substitute(new.body, dict(wide))
    if not outside or not isinstance(body, SeqExpr):
        return new
    for item in emitter.bindings:
        ctx.derive(item, function)
    return ctx.derive(replace(new, body=replace(body, blocks=(emitter.block(), *body.blocks))), new)


def _narrowed(param: Var, known: _KnownValue) -> Var:
    type_ = known.type_of.get(param)
    if not isinstance(type_, TensorType) or type_.dtype == "float16":
        return param
    return known.ctx.derive(replace(param, annotation=replace(type_, dtype="float16")), param)


class _PrecisionBlock(RetypedBlock):
    """A dataflow block while casts are put into it."""

    def __init__(
        self,
        block: DataflowBlock,
        known: _KnownValue,
        params: tuple[Var, ...],
        current: dict[Var, Expr],
        *,
        keeps: bool,
    ) -> None:
        super().__init__(block, known.ctx, known.type_of, known.names)
        self.known = known
        self.current = current
        self.keeps = keeps
        used = frozenset(free_vars(block))
        olds = {new: old for old, new in current.items()}
        self.params = tuple(old for old in (olds.get(item, item) for item in params) if old in used)

    def rewritten(self) -> DataflowBlock | None:
        for param in self.params:
            self.keep_narrow(param)
        for item in self.emitter.bindings:
            self.ctx.derive(item, self.block)
        for binding in self.each():
            self.emitter.bindings.append(self.binding(binding))
            if isinstance(binding.var, DataflowVar):
                self.keep_narrow(binding.var)
        return self.made_of()

    def keep_narrow(self, var: Var) -> None:
        """Cast what operators of the policy "always" alone use, as soon as it is there."""
        if not self.keeps:
            return
        now = self.current.get(var, var)
        cast = self.converted(now, _narrow(self.type(now), self.known.needs.of(var)))
        if cast is not now:
            self.current[var] = self.emit(cast)

    def converted(self, expr: Expr, want: Type) -> Expr:
        """Return a value with its float tensors in the dtypes of `want`, `expr` itself if it has them."""
        have = self.type(expr)
        match have, want:
            case TensorType(dtype=old), TensorType(dtype=new) if old != new and old in _FLOATS and new in _FLOATS:
                source = expr if isinstance(expr, Var | Constant) else self.emit(expr)
                call = op_call("astype", source, dtype(str(new)))
                self.types[call] = replace(have, dtype=new)
                return call
            case TupleType(fields=fields), TupleType(fields=wanted) if _differ(have, want):
                whole = expr if isinstance(expr, Var | Tuple) else self.emit(expr)
                olds = (self.field(whole, index) for index in range(len(fields)))
                return Tuple(tuple(map(self.argument, olds, wanted)))
            case _:
                return expr

    def argument(self, expr: Expr, want: Type) -> Expr:
        """Return an argument with its float tensors in the dtypes of `want`; casts are emitted."""
        new = self.converted(expr, want)
        return new if new is expr or isinstance(new, Tuple) else self.emit(new)

    def binding(self, binding: Binding) -> Binding:
        """Return a binding with its value rewritten; what it needs is emitted before."""
        if not isinstance(binding, VarBinding):
            return replace(binding, value=self.as_it_was(binding.value))
        match binding.value:
            case Call(op=Op(name="relax.wrap_param"), args=(param, *_)):
                return self.bound(binding, self.now(param))
            case Call(op=Op()) as call:
                return self.call(binding, call)
            case (Tuple() | TupleGetItem()) as value:
                return self.bound(binding, self.result(binding, self.now(value)))
            case Var() as value:
                return self.bound(binding, self.converted(self.now(value), self.type_of[value]))
            case value:
                return self.bound(binding, self.as_it_was(value))

    def as_it_was(self, value: Expr) -> Expr:
        """Return a value in which variables have the types that they had."""
        used = [var for var in free_vars(value) if var in self.current]
        olds = {var: self.argument(self.current[var], self.type_of[var]) for var in used}
        return self.ctx.substitute(value, olds)

    def result(self, binding: VarBinding, value: Expr) -> Expr:
        """Return a value in the dtypes of the variable if other blocks may use it."""
        want = self.type_of[binding.var]
        return value if isinstance(binding.var, DataflowVar) else self.converted(value, want)

    def call(self, binding: VarBinding, call: Call) -> VarBinding:
        assert isinstance(call.op, Op), "the case above says so"
        args = tuple(map(self.now, call.args))
        match policy_of(call.op.name):
            case "never":
                pairs = zip(args, call.args, strict=True)
                news = (new if new is old else self.argument(new, self.type_of[old]) for new, old in pairs)
                return self.bound(binding, self.made(call, tuple(news)))
            case "always" if not any(_has_floats(self.type(item)) for item in args):
                return self.bound(binding, self.made(call, args))
            case "always":
                made = self.made(call, self.to(args, "float16"), self.known.options.out_dtype)
                self.ctx.remark(binding, "applied", f"{binding.var.name} is computed in float16")
                want = self.type_of[binding.var]
                is_inside = isinstance(binding.var, DataflowVar)
                return self.bound(binding, self.converted(made, _in(self.type(made), "float16") if is_inside else want))
            case "follow":
                obstacle = next((item for item in args if not self.is_narrow(item)), None)
                made = self.made(call, self.to(args, "float16" if obstacle is None else "float32"))
                self.tell(binding, args, obstacle)
                return self.bound(binding, self.result(binding, made))

    def made(self, call: Call, args: tuple[Expr, ...], out_dtype: str = "") -> Call:
        """Return the call with these arguments, and accumulating in `out_dtype` if the operator can."""
        assert isinstance(call.op, Op), "only calls of operators are made"
        spec = OPS.get(call.op.name)
        if spec is None:
            return call if all(map(is_, args, call.args)) else replace(call, args=args)
        names = [param.name for param in spec.params[: len(args)]]
        if out_dtype and "out_dtype" in names:
            at = names.index("out_dtype")
            old = args[at]
            is_so = isinstance(old, DataTypeImm) and old.value == out_dtype
            args = args if is_so else (*args[:at], dtype(out_dtype), *args[at + 1 :])
        return self.call_with(call, args)

    def to(self, args: tuple[Expr, ...], name: str) -> tuple[Expr, ...]:
        """Return arguments with their float tensors in one dtype."""
        return tuple(
            self.argument(item, _in(self.type(item), name)) if is_tensors(self.type(item)) else item for item in args
        )

    def is_narrow(self, arg: Expr) -> bool:
        """Tell whether an argument is in float16, or a constant that float16 holds, or no tensor."""
        match arg:
            case Constant(data=data):
                return data.dtype == np.float16 or (
                    (data.dtype.kind == "f" or data.dtype.kind == "i") and bool(np.all(np.abs(data) <= _GREATEST))
                )
            case Tuple(fields=fields):
                return all(map(self.is_narrow, fields))
            case _:
                type_ = self.type(arg)
                return not is_tensors(type_) or (isinstance(type_, TensorType) and type_.dtype == "float16")

    def tell(self, binding: VarBinding, args: tuple[Expr, ...], obstacle: Expr | None) -> None:
        """Say in which dtype an operator of the policy "follow" computes, where one of its arguments is in float16."""
        if not any(isinstance(item, Var) and self.is_narrow(item) and is_tensors(self.type(item)) for item in args):
            return
        name = binding.var.name
        if obstacle is None:
            self.ctx.remark(binding, "applied", f"{name} is computed in float16, as all that it is given")
        else:
            what = obstacle.name if isinstance(obstacle, Var) else "another argument"
            self.ctx.remark(binding, "missed", f"{name} is computed in float32: {what} is not in float16")


def _dtype(type_: Type) -> str:
    return str(type_.dtype) if isinstance(type_, TensorType) else ""


def _in(type_: Type, name: str) -> Type:
    """Return a type of tensors with its float tensors in one dtype."""
    match type_:
        case TensorType(dtype=str(old)) if old in _FLOATS:
            return replace(type_, dtype=name)
        case TupleType(fields=fields):
            return TupleType(tuple(_in(item, name) for item in fields))
        case _:
            return type_


def _has_floats(type_: Type) -> bool:
    match type_:
        case TensorType(dtype=dtype):
            return dtype in _FLOATS
        case TupleType(fields=fields):
            return any(map(_has_floats, fields))
        case _:
            return False


def _narrow(type_: Type, need: Need) -> Type:
    """Return a type with those tensors in float16 of which no more is needed."""
    match type_, need:
        case _, "float16":
            return _in(type_, "float16")
        case TupleType(fields=fields), tuple():
            return TupleType(tuple(map(_narrow, fields, need)))
        case _:
            return type_


def _differ(have: Type, want: Type) -> bool:
    """Tell whether a float tensor has another dtype in the second of two types."""
    match have, want:
        case TensorType(dtype=old), TensorType(dtype=new):
            return old != new and old in _FLOATS and new in _FLOATS
        case TupleType(fields=olds), TupleType(fields=news):
            return any(map(_differ, olds, news))
        case _:
            return False


PASS = Pass(
    "ToMixedPrecision",
    "Computes products and convolutions in float16, and what follows them as far as it may.",
    run,
    options=ToMixedPrecisionOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/to_mixed_precision.cc",
)
