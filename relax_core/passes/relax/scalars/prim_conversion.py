"""Convert between host scalars and tensors of rank 0: what BoxPrims and UnboxScalars share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from relax_core.check.unify import is_unknown
from relax_core.ir.expr import (
    OBJECT,
    Call,
    Expr,
    Function,
    FuncType,
    GlobalVar,
    If,
    Op,
    PrimType,
    SeqExpr,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import normalize
from relax_core.ir.tir import PrimFunc
from relax_core.ops import find
from relax_core.ops.schema import ARGUMENTS
from relax_core.ops.spec import OpSpec, Param
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions

_MAX_ROUNDS = 100
REPAIRS = ("TY003", "TY020", "TY021", "TY022", "TY029", "TY035", "TY011")
"""The errors of a module that a conversion may remove."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """An expression of the wanted kind, and the bytes that each run of it allocates; 0 for a literal."""

    value: Expr
    size_bytes: int
    is_literal: bool


Convert = Callable[[Expr, Type, Type], Conversion | None]
"""`convert(value, given, expected)`: `None` if nothing is to be converted, or it cannot be."""


def convert_places(module: IRModule, ctx: PassContext, convert: Convert) -> IRModule:
    """Return `module` with values converted where `convert` says so.

    A call with a wrong argument has no type, so what follows from it is seen in the next round.
    """
    counted: dict[str, _Count] = {}
    for _ in range(_MAX_ROUNDS):
        new = _convert_once(module, ctx, convert, counted)
        if new is module:
            break
        module = normalize(new, ctx.log)
    for var, function in module.relax_functions:
        if var.name in counted and counted[var.name].total:
            ctx.remark(function, "note", counted[var.name].words(var.name))
    return module


def _convert_once(module: IRModule, ctx: PassContext, convert: Convert, counted: "dict[str, _Count]") -> IRModule:
    type_of = ctx.types(module)
    prim_funcs = {var.name: function for var, function in module.prim_funcs}

    def change(name: GlobalVar, function: Function) -> Function:
        places = _Places(type_of, prim_funcs, ctx, convert, counted.setdefault(name.name, _Count()))
        return ctx.rewrite(function, places.rule)

    return change_functions(module, ctx, change)


@dataclass(slots=True)
class _Count:
    """The conversions of one function."""

    total: int = 0
    literals: int = 0
    allocations: int = 0
    size_bytes: int = 0

    def words(self, name: str) -> str:
        """Say what the conversions cost."""
        at_run_time = self.total - self.literals
        return (
            f"{name}: conversions: {self.total}; of literals, which cost nothing: {self.literals}; when it runs: "
            f"{at_run_time}; allocations: {self.allocations}, of {self.size_bytes} bytes together"
        )


@dataclass(slots=True)
class _Places:
    """The places of one function where a kind of value is wanted."""

    type_of: Mapping[Node, Type]
    prim_funcs: Mapping[str, PrimFunc]
    ctx: PassContext
    convert: Convert
    count: _Count = field(default_factory=_Count)

    def rule(self, node: Node) -> Node | None:
        """Rule: value of one kind where the other is wanted -> converted value."""
        match node:
            case Call(op=Op(name="relax.call_tir" | "relax.call_tir_inplace"), args=(GlobalVar(name=name), inputs, *_)):
                return self.kernel_call(node, self.prim_funcs.get(name), inputs)
            case Call(op=Op(name=name)) if (spec := find(name)) is not None:
                return self.operator_call(node, spec)
            case Call(op=callee) if isinstance(found := self.type_of.get(callee), FuncType) and found.params:
                args = tuple(map(self.converted, node.args, found.params))
                return replace(node, args=args) if _differ(args, node.args) else None
            case If():
                return self.branches(node)
            case Function(ret_type=ret, body=SeqExpr() as body) if ret is not None:
                result = self.converted(body.body, ret)
                return replace(node, body=replace(body, body=result)) if result is not body.body else None
            case VarBinding(var=Var(annotation=annotation), value=value) if annotation is not None:
                made = self.converted(value, annotation)
                return replace(node, value=made) if made is not value else None
            case _:
                return None

    def converted(self, value: Expr, expected: Type) -> Expr:
        """Return `value`, converted if `expected` wants it; fields of a tuple one by one."""
        if isinstance(value, Tuple) and isinstance(expected, TupleType) and len(value.fields) == len(expected.fields):
            fields = tuple(map(self.converted, value.fields, expected.fields))
            return self.ctx.derive(replace(value, fields=fields), value) if _differ(fields, value.fields) else value
        given = self.type_of.get(value)
        made = None if given is None else self.convert(value, given, expected)
        if made is None:
            return value
        self.count.total += 1
        self.count.literals += made.is_literal
        self.count.allocations += made.size_bytes > 0
        self.count.size_bytes += made.size_bytes
        name = value.name if isinstance(value, Var) else "a value"
        self.ctx.remark(value, "applied", f"{name} is {_words(made, is_boxed=isinstance(expected, TensorType))}")
        return self.ctx.derive(made.value, value, rule="conversion")

    def kernel_call(self, call: Call, prim_func: PrimFunc | None, inputs: Expr) -> Call | None:
        if prim_func is None or not isinstance(inputs, Tuple):
            return None
        expected: list[Type] = []
        for param in prim_func.params[: len(inputs.fields)]:
            buffer = prim_func.buffer_of(param)
            expected.append(PrimType(param.dtype) if buffer is None else TensorType(buffer.shape, buffer.dtype))
        fields = tuple(map(self.converted, inputs.fields, expected))
        if len(fields) != len(inputs.fields) or not _differ(fields, inputs.fields):
            return None
        made = self.ctx.derive(replace(inputs, fields=fields), inputs)
        return replace(call, args=(call.args[0], made, *call.args[2:]))

    def operator_call(self, call: Call, spec: OpSpec) -> Call | None:
        if any(is_unknown(self.type_of.get(arg, OBJECT)) for arg in call.args):
            return None
        given = [self.type_of.get(arg) for arg in call.args]
        flat = [part for item in given for part in (item.fields if isinstance(item, TupleType) else (item,))]
        dtype = next((item.dtype for item in flat if isinstance(item, TensorType) and item.dtype), None)
        args = tuple(
            self.converted(arg, self.wanted(param, arg, dtype))
            for param, arg in zip(spec.params, call.args, strict=False)
        )
        args = (*args, *call.args[len(args) :])
        return replace(call, args=args) if _differ(args, call.args) else None

    def wanted(self, param: Param, arg: Expr, dtype: str | None) -> Type:
        """Return the type that a parameter of an operator wants; a boxed scalar takes the dtype of the tensors."""
        given = self.type_of.get(arg)
        match param.kind:
            case "tensor":
                return TensorType(None, dtype)
            # The arguments of a callee are of any kind; only its signature, where it is known, says which.
            case "tuple" if param is not ARGUMENTS and isinstance(given, TupleType) and given.fields:
                return TupleType((TensorType(None, dtype),) * len(given.fields))
            case "prim":
                return PrimType(param.dtype or "")
            case "axes" | "ints" if isinstance(given, TupleType):
                return TupleType((PrimType("int64"),) * len(given.fields))
            case "axes" | "ints":
                return PrimType("int64")
            case _:
                return OBJECT

    def branches(self, conditional: If) -> If | None:
        """Bring the values of both branches to one kind."""
        yes, no = conditional.true_branch, conditional.false_branch
        if not (isinstance(yes, SeqExpr) and isinstance(no, SeqExpr)):
            return None
        left, right = self.type_of.get(yes.body), self.type_of.get(no.body)
        if left is None or right is None:
            return None
        made = (self.converted(yes.body, right), self.converted(no.body, left))
        if made[0] is yes.body and made[1] is no.body:
            return None
        pairs = ((yes, made[0]), (no, made[1]))
        new = tuple(
            seq if value is seq.body else self.ctx.derive(replace(seq, body=value), seq) for seq, value in pairs
        )
        return replace(conditional, true_branch=new[0], false_branch=new[1])


def _words(made: Conversion, *, is_boxed: bool) -> str:
    """Say what is made of a value, and what that costs."""
    what = "boxed, for a tensor is wanted" if is_boxed else "unboxed, for a host scalar is wanted"
    if made.is_literal:
        return f"{what}: a literal, at no cost"
    if is_boxed:
        return f"{what}: each time a tensor of {made.size_bytes} bytes is allocated"
    return f"{what}: each time its element is read; on another device than the host it is copied first"


def _differ(a: tuple[Expr, ...], b: tuple[Expr, ...]) -> bool:
    return any(x is not y for x, y in zip(a, b, strict=True))
