"""Make the destinations of destination-passing calls explicit."""

from dataclasses import dataclass, field

from relax_core.analysis.device.virtual_devices import device_index
from relax_core.ir.expr import (
    Binding,
    Call,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.properties import DESTINATION_CALLS
from relax_core.passes.relax.functions import (
    dtype_argument,
    effect,
    integer,
    operator_call,
    rewrite_functions,
    shape,
    string,
)
from relax_core.passes.relax.operators.calls import integers_in


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Allocate the outputs of `call_tir` and its like, then call the callee with inputs, outputs, scalars."""

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        names = names_in(function)

        def allocate(node: Node) -> tuple[Node, ...] | None:
            """Rule: x = call_tir(f, (a,), out) -> y = alloc_tensor(out); f(a, y); x = y."""
            match node:
                case VarBinding(value=Call(op=Op(name=name)) as call) if name in DESTINATION_CALLS:
                    return _Destination(call, names, module, ctx).bindings(node)
                case _:
                    return None

        return (allocate,)

    return rewrite_functions(module, ctx, rules_for, (VarBinding,))


@dataclass(slots=True)
class _Destination:
    """One destination-passing call and the bindings that take its place."""

    call: Call
    names: Names
    module: IRModule
    ctx: PassContext
    made: list[Binding] = field(default_factory=list[Binding])
    outputs: list[Expr] = field(default_factory=list[Expr])

    def bindings(self, binding: VarBinding) -> tuple[Node, ...]:
        callee, inputs, *rest = self.call.args
        arguments = inputs.fields if isinstance(inputs, Tuple) else (inputs,)
        inplace: tuple[int, ...] = ()
        if isinstance(self.call.op, Op) and self.call.op.name == "relax.call_tir_inplace":
            inplace = tuple(integers_in(rest[0]))
            rest = rest[1:]
        reused = [None if index < 0 else arguments[index] for index in inplace]
        result = self.result(self.call.type_args, reused)
        called = Call(callee, (*arguments, *self.written(arguments), *_scalars(rest)))
        if any(isinstance(item, Var | ShapeExpr) for item in rest) and not _scalars(rest):
            called = operator_call("relax.vm.call_tir_dyn", callee, Tuple((*arguments, *self.outputs, rest[-1])))
        is_plain = isinstance(result, Tuple) or not inplace
        self.made.append(effect(called))
        self.made.append(VarBinding(binding.var, result))
        where = "allocated by the caller" if is_plain else "the inputs that it overwrites"
        count = f"{len(self.outputs)} output{'s' * (len(self.outputs) != 1)}"
        self.ctx.remark(binding, "applied", f"{binding.var.name}: {count}, {where}")
        return tuple(self.made)

    def written(self, arguments: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The outputs that are not among the inputs."""
        return tuple(item for item in self.outputs if not any(item is argument for argument in arguments))

    def result(self, types: tuple[Type, ...], reused: list[Expr | None]) -> Expr:
        """Allocate what the types say, in order, and return the value of the call."""
        if len(types) == 1:
            return self.output(types[0], reused)
        return Tuple(tuple(self.output(item, reused) for item in types))

    def output(self, type_: Type, reused: list[Expr | None]) -> Expr:
        match type_:
            case TupleType(fields=fields):
                return Tuple(tuple(self.output(item, reused) for item in fields))
            case TensorType(shape=dims, dtype=str()) if dims is not None:
                position = len(self.outputs)
                old = reused[position] if position < len(reused) else None
                self.outputs.append(old or self.allocate(type_, dims if isinstance(dims, Var) else shape(dims)))
                return self.outputs[-1]
            case _:
                self.ctx.fail(
                    "PS004",
                    "the output of a destination-passing call needs a shape and a dtype",
                    self.call,
                    'declare it: out_ty=R.Tensor((n, 4), "float32")',
                )

    def allocate(self, type_: TensorType, dims: Expr) -> Var:
        """Allocate a tensor on the device that its type names."""
        var = Var(self.names.fresh("alloc"))
        dtype, device = dtype_argument(type_.dtype or ""), integer(device_index(self.module, type_))
        args = (dims, dtype, device, string("global"))
        value = operator_call("relax.builtin.alloc_tensor", *args, type_args=(type_,))
        self.made.append(VarBinding(var, value))
        return var


def _scalars(rest: list[Expr]) -> tuple[Expr, ...]:
    """The scalars that follow the outputs: the dimensions of a shape literal."""
    return tuple(PrimValue(value) for item in rest if isinstance(item, ShapeExpr) for value in item.values)


PASS = Pass(
    "CallTIRRewrite",
    "Makes destinations explicit: allocates the outputs of call_tir, then calls the kernel with inputs and outputs.",
    run,
    needs=("normal form", "no dataflow blocks"),
    gives=("explicit destinations",),
    breaks=("explicit storage",),
    see="tvm/src/relax/transform/call_tir_rewrite.cc",
)
