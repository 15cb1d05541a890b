"""FoldConstant: operators on constants are computed.

See: tvm/src/relax/transform/fold_constant.cc
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, cast

import numpy as np

from relax_core.ir.expr import (
    OBJECT,
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.integer.evaluate import NoValueError
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import FloatImm, IntImm, StringImm, const
from relax_core.ir.tir import PrimFunc
from relax_core.ops import OPS
from relax_core.ops.kernels.numbers import numpy_type
from relax_core.ops.spec import OpTypeError
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.folding import folded
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.dead_code_elimination import without_unused
from relax_core.passes.relax.effects import killed_vars
from relax_core.passes.relax.functions import join_blocks
from relax_core.passes.relax.known_types import is_open, untyped, with_known_results
from relax_core.passes.tir.running.statements import run_prim_func

MAX_CREATED: Final = 1024
"""A call without tensors, such as `zeros`, of more elements stays: its value is larger than it."""
_LITERAL: Final = ("relax.arange",)
"""What TVM makes a constant of only in LegalizeOps, where it has no prim func."""
MAX_COUNT: Final = 1 << 24
"""A result of more elements is left to the run."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace calls on constants by their values, and what follows from them: of prim funcs, and of operators in
    dataflow blocks.

    A constant stands where its variable was used, outside of dataflow blocks as well. Unused bindings go, as in TVM. A
    prim func is run here, if it is of loops and blocks and takes not too long.
    """
    type_of = ctx.types(module)

    def change(_: GlobalVar, function: Function) -> Function:
        folding = _Folding(module, type_of, ctx, killed_vars(function))
        for item in preorder(function):
            for binding in item.bindings if isinstance(item, BindingBlock) else ():
                if isinstance(item, DataflowBlock) or _is_known(binding.value):
                    folding.visit(binding)
        if not (folding.constant_of or folding.shape_of or folding.value_of):
            return function
        known = {var for var in (*folding.constant_of, *folding.shape_of) if is_open(type_of.get(var))}
        values = {**untyped(function, known), **folding.constant_of} if known else {**folding.constant_of}
        return ctx.substitute(ctx.rewrite(function, folding.change, join_blocks), values)

    folded_module = without_unused(change_functions(module, ctx, change), ctx)
    return module if folded_module is module else with_known_results(module, folded_module, ctx)


@dataclass(slots=True)
class _Folding:
    """`constant_of` are the variables that constants take the place of, `value_of` those with another literal.

    `shape_of` are the shapes of variables, which stand in the calls that use them.
    """

    module: IRModule
    type_of: Mapping[Node, Type]
    ctx: PassContext
    killed: frozenset[Var]
    constant_of: dict[Var, Constant] = field(default_factory=dict[Var, Constant])
    value_of: dict[Var, Expr] = field(default_factory=dict[Var, Expr])
    shape_of: dict[Var, ShapeExpr] = field(default_factory=dict[Var, ShapeExpr])

    def visit(self, binding: Binding) -> None:
        """Note what a binding of a dataflow block is, if only constants decide it."""
        if not isinstance(binding, VarBinding) or binding.var in self.killed:
            return
        match binding.value:
            case Constant() as value:
                self.constant_of[binding.var] = value
            case Var() as source if source in self.constant_of:
                self.constant_of[binding.var] = self.constant_of[source]
            case ShapeExpr() as value:
                self.shape_of[binding.var] = value
            case Call(op=Op(name=name), args=args) as call if args:
                value = self.run(call) if _calls_tir(call) else self.computed(name, call)
                if isinstance(value, Constant):
                    self.constant_of[binding.var] = value
                elif value is not None:
                    self.value_of[binding.var] = value
                if isinstance(value, ShapeExpr):
                    self.shape_of[binding.var] = value
            case _:
                pass

    def computed(self, name: str, call: Call) -> Expr | None:
        """Return the literal that a call gives, `None` if it is not for this pass to say."""
        spec, known = OPS.get(name), tuple(map(self.argument, call.args))
        is_known = name not in _LITERAL and not any(item is _UNKNOWN for item in known)
        if spec is None or spec.evaluate is None or not spec.is_pure or not is_known:
            return None
        compute = partial(spec.evaluate, known)
        if isinstance(self.type_of.get(call), ShapeType):
            compute = partial(_shape, compute)
        value = folded(self.ctx, call, call.args, self.refused(call, known), compute)
        if value is not None:
            self.ctx.log.replace(call, value, "call on constants -> its value")
        return value

    def run(self, call: Call) -> Expr | None:
        """Return what a prim func gives on constants, `None` if it is not called with constants alone."""
        match call.args:
            case (GlobalVar(name=name), Tuple() as given, *sizes):
                function, known = self.module.find(name), self.argument(given)
            case _:
                return None
        if function is None or not isinstance(function.function, PrimFunc) or known is _UNKNOWN:
            return None
        shapes = [self.argument(item) for item in sizes]
        if any(item is _UNKNOWN for item in shapes) or not all(isinstance(item, np.ndarray) for item in known):
            return None
        compute = partial(_results, function.function, known, shapes, self.type_of.get(call, OBJECT))
        value = folded(self.ctx, call, given.fields, self.refused(call, known), compute)
        if value is not None:
            self.ctx.log.replace(call, value, "call on constants -> its value")
        return value

    def refused(self, call: Call, known: tuple[Any, ...]) -> str:
        type_ = self.type_of.get(call)
        if isinstance(type_, ShapeType):
            return ""
        count = _element_count(type_) if not is_open(type_) else _element_count(self.retyped(call))
        if count is None:
            return "the sizes of the result are known only when the program runs"
        limit = MAX_COUNT if _has_tensor(known) else MAX_CREATED
        return f"the result has {count:,} elements" if count > limit else ""

    def retyped(self, call: Call) -> Type | None:
        """Return the type of a call on what its arguments are known to be."""
        assert isinstance(call.op, Op), "only calls of operators are folded"
        args = tuple(map(self.literal, call.args))
        types = tuple(_literal_type(arg) or self.type_of.get(arg, OBJECT) for arg in args)
        try:
            return OPS[call.op.name].infer(replace(call, args=args), types)
        except OpTypeError:
            return None

    def literal(self, expr: Expr) -> Expr:
        match expr:
            case Var() if expr in self.constant_of:
                return self.constant_of[expr]
            case Var() if expr in self.shape_of:
                return self.shape_of[expr]
            case _:
                return expr

    def argument(self, expr: Expr) -> Any:
        """Return the value of an argument as operators take it, `_UNKNOWN` if no constant decides it."""
        match expr:
            case Constant(data=data):
                return data
            case Var() if expr in self.constant_of:
                return self.constant_of[expr].data
            case Var() if expr in self.shape_of:
                return self.argument(self.shape_of[expr])
            case ShapeExpr(values=dims):
                sizes = tuple(map(constant_value, dims))
                return _UNKNOWN if None in sizes else sizes
            case PrimValue(value=IntImm(value=value) | FloatImm(value=value) | StringImm(value=value)):
                return value
            case DataTypeImm(value=name):
                return name
            case Null():
                return None
            case Tuple(fields=fields):
                values = tuple(map(self.argument, fields))
                return _UNKNOWN if any(item is _UNKNOWN for item in values) else values
            case _:
                return _UNKNOWN

    def with_shapes(self, call: Call) -> Call:
        """Return a call with shapes in the place of the variables that hold them."""
        held = tuple(arg for arg in call.args if isinstance(arg, Var) and arg in self.shape_of)
        names = ", ".join(arg.name for arg in held)
        self.ctx.remark(call, "applied", f"the shape stands in the call in the place of {names}", held)
        return replace(call, args=tuple(self.literal(arg) if arg in held else arg for arg in call.args))

    def change(self, node: Node) -> Node | tuple[Node, ...] | None:
        """Rule: binding of what constants decide -> nothing, or a binding of its value."""
        match node:
            case VarBinding(var=var, value=value) if var in self.constant_of:
                if isinstance(value, Constant | Var):
                    self.ctx.remark(node, "applied", f"{var.name} is a constant, which stands where it was used")
                return ()
            case VarBinding(var=var) if var in self.value_of:
                return replace(node, value=self.value_of[var])
            case Call(args=args) if any(arg in self.shape_of for arg in args):
                return self.with_shapes(node)
            case BindingBlock(bindings=()):
                return ()
            case _:
                return None


_UNKNOWN: Final = object()


def _is_known(value: Expr) -> bool:
    """Tell whether constants may decide a binding outside of dataflow blocks."""
    return isinstance(value, Constant | ShapeExpr | Var) or _calls_tir(value)


def _calls_tir(value: Expr) -> bool:
    return isinstance(value, Call) and isinstance(value.op, Op) and value.op.name == "relax.call_tir"


def _results(function: PrimFunc, given: tuple[Any, ...], sizes: list[Any], type_: Type) -> Any:
    """Run a prim func on arrays, and return its result, or a tuple of them."""
    outs = tuple(map(_allocated, type_.fields if isinstance(type_, TupleType) else (type_,)))
    arrays = run_prim_func(function, (*given, *outs), tuple(number for shape in sizes for number in shape))
    return arrays[len(given) :] if isinstance(type_, TupleType) else arrays[-1]


def _allocated(type_: Type) -> Any:
    if not isinstance(type_, TensorType) or not isinstance(type_.shape, tuple):
        raise NoValueError("the sizes of the result are known only when the program runs")
    return np.zeros(tuple(constant_value(dim) or 0 for dim in type_.shape), numpy_type(type_.dtype or ""))


def _has_tensor(values: tuple[Any, ...]) -> bool:
    return any(
        _has_tensor(cast("tuple[Any, ...]", item)) if isinstance(item, tuple) else isinstance(item, np.ndarray)
        for item in values
    )


def _shape(compute: Callable[[], Any]) -> Expr | None:
    """Return the shape that is computed, `None` if it is none."""
    sizes = tuple(map(int, compute()))
    return ShapeExpr(tuple(map(const, sizes))) if all(size >= 0 for size in sizes) else None


def _literal_type(expr: Expr) -> Type | None:
    match expr:
        case Constant(data=data):
            return TensorType(tuple(const(size) for size in data.shape), str(data.dtype))
        case ShapeExpr(values=values):
            return ShapeType(values, len(values))
        case _:
            return None


def _element_count(type_: Type | None) -> int | None:
    match type_:
        case TensorType(shape=tuple() as dims):
            sizes = tuple(map(constant_value, dims))
            return math.prod(size for size in sizes if size is not None) if None not in sizes else None
        case TupleType(fields=fields):
            counts = tuple(map(_element_count, fields))
            return sum(count for count in counts if count is not None) if None not in counts else None
        case _:
            return None


PASS = Pass(
    "FoldConstant",
    "Computes operators whose arguments are constants.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/fold_constant.cc",
)
