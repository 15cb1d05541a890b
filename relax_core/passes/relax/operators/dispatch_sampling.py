"""Choose the kernels of operators that draw samples."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Function,
    GlobalVar,
    Op,
    TensorType,
    Tuple,
    Type,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import Emitter, Names, names_in
from relax_core.ir.rewriting.rewrite import Rule
from relax_core.ir.tir import PrimFunc
from relax_core.ops.show import show_type
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax.functions import integer, rewrite_functions
from relax_core.passes.relax.operators.calls import dtype, flag, op_call
from relax_core.passes.relax.operators.sampling_kernel import NAME, sample_index


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Draw from running sums: `multinomial_from_uniform` becomes `cumsum` and a kernel that looks samples up in it.

    So it is on the machine, the only target there is: TVM asks the target of a function, and stops if there is none.
    """
    sampling = _Sampling(module, ctx, ctx.types_when_read(module))

    def rules_for(_: GlobalVar, function: Function) -> tuple[Rule, ...]:
        names = names_in(function)

        def draw(node: Node) -> Node | None:
            """Rule: multinomial_from_uniform -> cumsum, call_tir of a kernel."""
            if not isinstance(node, BindingBlock):
                return None
            bindings = tuple(made for item in node.bindings for made in sampling.bindings(item, node, names))
            return None if bindings == node.bindings else replace(node, bindings=bindings)

        return (draw,)

    result = rewrite_functions(module, ctx, rules_for, (BindingBlock,))
    return ctx.derive(result.with_definitions(*sampling.added), module) if sampling.added else result


@dataclass(slots=True)
class _Sampling:
    """The types of a module, and the kernels that were added to it."""

    module: IRModule
    ctx: PassContext
    types: Mapping[Node, Type]
    added: list[Definition] = field(default_factory=list[Definition])

    def bindings(self, item: Binding, block: BindingBlock, names: Names) -> Iterator[Binding]:
        """Yield what a binding becomes."""
        match item:
            case VarBinding(value=Call(op=Op(name="relax.multinomial_from_uniform"), args=args) as call):
                types = [self.types.get(value) for value in (*args[:3], call)]
            case _:
                yield item
                return
        known = [type_ for type_ in types if isinstance(type_, TensorType) and type_.dims is not None and type_.dtype]
        dtypes = [type_.dtype or "" for type_ in known]
        if len(known) < len(types) or dtypes[0] != dtypes[1]:
            shown = ", ".join("a value" if type_ is None else show_type(type_) for type_ in types[:3])
            self.ctx.remark(call, "missed", f"multinomial_from_uniform stays: there is no kernel for {shown}", args)
            yield item
            return
        emitter = Emitter(names, is_dataflow=isinstance(block, DataflowBlock))
        sums = emitter.emit(op_call("cumsum", args[0], integer(1), dtype(dtypes[0]), flag(value=False)))
        callee = self.kernel(sample_index(dtypes[0], dtypes[2], dtypes[3]), call)
        made = Call(Op("relax.call_tir"), (callee, Tuple((sums, *args[1:3]))), type_args=(known[3],), span=call.span)
        self.ctx.remark(call, "applied", f"multinomial_from_uniform becomes cumsum and a call of @{callee.name}")
        for binding in emitter.bindings:
            yield self.ctx.derive(binding, item)
        yield self.ctx.derive(replace(item, value=self.ctx.derive(made, call)), item)

    def kernel(self, made: PrimFunc, call: Call) -> GlobalVar:
        """Return the global of a kernel, which other calls may share."""
        known = next((item.var for item in self.added if structural_equal(item.function, made)), None)
        if known is None:
            names = Names((*self.module.names, *(item.var.name for item in self.added)))
            self.added.append(self.ctx.derive(Definition(GlobalVar(names.fresh(NAME)), made), call))
            known = self.added[-1].var
        return known


PASS = Pass(
    "DispatchSampling",
    "Lowers operators that draw samples, before all others, to the kernels of the target.",
    run,
    needs=("normal form",),
    breaks=("explicit destinations",),
    see="tvm/python/tvm/relax/backend/dispatch_sampling.py",
)
