"""End the life of tensors, storages and other objects after their last use."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    Function,
    FuncType,
    Op,
    PrimType,
    SeqExpr,
    ShapeType,
    TensorType,
    Type,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.relax import canonicalize_bindings
from relax_core.passes.relax.effects import KILL_CALLS
from relax_core.passes.relax.functions import effect, operator_call

STORAGE_CALLS = ("relax.memory.alloc_storage", "relax.vm.alloc_storage")


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Put a kill behind the last use of each tensor, storage and object that a sequence binds and does not return.

    `memory.kill_tensor` ends a tensor, `memory.kill_storage` a storage, `vm.kill_object` any other object. Constants,
    functions, shapes and scalars are none of these, and what is killed already is not killed again.
    Each sequence is treated on its own: a use inside an `if` counts as a use at the `if`, and what a branch binds ends
    in that branch. (In TVM a function with an `if` kills nothing that is bound outside it.) What nothing uses has no
    last use and stays, as in TVM: DeadCodeElimination removes it unless it comes from a call with side effects.
    Variables that only rename go first: a value must not end under one name while another is in use.
    """
    module = canonicalize_bindings.canonicalized(module, ctx)
    type_of = ctx.types(module)

    def kill(node: Node) -> Node | None:
        """Rule: last use of x -> last use of x, kill x."""
        return _Sequence(node, type_of, ctx).with_kills() if isinstance(node, SeqExpr) else None

    return ctx.rewrite(module, kill, kinds=(SeqExpr,))


@dataclass(frozen=True, slots=True)
class _Sequence:
    body: SeqExpr
    type_of: Mapping[Node, Type]
    ctx: PassContext

    def with_kills(self) -> SeqExpr | None:
        last = self.last_uses()
        if not last:
            return None
        blocks: list[BindingBlock] = []
        for block in self.body.blocks:
            bindings: list[Binding] = []
            for binding in block.bindings:
                bindings.append(binding)
                for var, call in last.get(binding, ()):
                    bindings.append(self.ctx.derive(effect(operator_call(call, var)), binding))
                    self.ctx.remark(binding, "applied", f"{var.name} is not used after this", (var,))
            blocks.append(replace(block, bindings=tuple(bindings)) if len(bindings) > len(block.bindings) else block)
        return replace(self.body, blocks=tuple(blocks))

    def last_uses(self) -> dict[Binding, list[tuple[Var, str]]]:
        """For each binding the variables whose last use it is, in the order of their definition, and how they end."""
        defined: dict[Var, Binding] = {}
        last: dict[Var, Binding] = {}
        killed: set[Node] = set()
        returned = set(preorder(self.body.body))
        for binding in self.bindings():
            for item in preorder(binding.value):
                if isinstance(item, Var) and item in defined:
                    last[item] = binding
            killed.update(_killed(binding))
            if self.kill_for(binding) is not None:
                defined[binding.var] = binding
        found: dict[Binding, list[tuple[Var, str]]] = {}
        for var, definition in defined.items():
            call = self.kill_for(definition)
            if call is None:
                continue
            if var in returned:
                self.ctx.remark(definition, "missed", f"{var.name} lives on: it is in the result", (self.body.body,))
            elif var in killed:
                self.ctx.remark(definition, "missed", f"{var.name} is ended already")
            elif var not in last:
                self.ctx.remark(definition, "missed", f"{var.name} lives on: nothing uses it")
            else:
                found.setdefault(last[var], []).append((var, call))
        return found

    def bindings(self) -> Iterator[Binding]:
        for block in self.body.blocks:
            yield from block.bindings

    def kill_for(self, binding: Binding) -> str | None:
        """Return the operator that ends the life of what is bound, `None` if nothing is held by it."""
        var, value = binding.var, binding.value
        if isinstance(value, Call) and isinstance(value.op, Op) and value.op.name in STORAGE_CALLS:
            return "relax.memory.kill_storage"
        if isinstance(value, Constant | Function) or var.name == "_":
            return None
        match self.type_of.get(var):
            case TensorType():
                return "relax.memory.kill_tensor"
            case ShapeType() | PrimType() | FuncType() | None:
                return None
            case _:
                return "relax.vm.kill_object"


def _killed(binding: Binding) -> tuple[Node, ...]:
    value = binding.value
    is_kill = isinstance(value, Call) and isinstance(value.op, Op) and value.op.name in KILL_CALLS
    return value.args if is_kill and isinstance(value, Call) else ()


PASS = Pass(
    "KillAfterLastUse",
    "Ends the life of each tensor, storage and object after its last use, also around and inside an if.",
    run,
    needs=("normal form", "no dataflow blocks"),
    breaks=("runtime builtins",),
    see="tvm/src/relax/transform/kill_after_last_use.cc",
)
