"""Multiply a matrix with several others at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TypeAlias

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Dims,
    Expr,
    Function,
    GlobalVar,
    Null,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
    is_op_call,
)
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.builder import Emitter, names_in
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import integer
from relax_core.passes.relax.operators.calls import dtype, ints, op_call
from relax_core.passes.relax.redundancy import without_redundancy

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu")
Check: TypeAlias = Callable[[Expr, list[Expr], list[Expr], Mapping[Var, Expr]], bool]


@dataclass(frozen=True, slots=True)
class CombineParallelMatmulOptions:
    """`check(matrix, weights, biases, value_of)` tells whether products of one matrix are to be combined."""

    check: Check | None = None


def run(module: IRModule, options: CombineParallelMatmulOptions, ctx: PassContext) -> IRModule:
    """Write `x a` and `x b` as the parts of `x (a, b)`, with what all branches do next: a bias, an activation.

    In dataflow blocks, also those of branches, and in other blocks of functions without side effects. Where TVM stops
    with an error, at products of vectors and biases that are repeated, the products stay, or the biases are added to
    the parts. Products with constants, which TVM leaves, are combined.
    """
    type_of = ctx.types(module)

    def change(_: GlobalVar, function: Function) -> Function:
        names = names_in(function)

        def combine(node: Node) -> Node | None:
            """Rule: several products of a matrix -> the parts of one product."""
            is_dataflow = isinstance(node, DataflowBlock)
            if not isinstance(node, BindingBlock) or not (is_dataflow or function.is_pure):
                return None
            emitter = Emitter(names, is_dataflow=is_dataflow)
            return _Block(node, emitter, type_of, options.check, ctx).combined()

        return ctx.rewrite(function, combine)

    changed = change_functions(module, ctx, change)
    return changed if changed is module else without_redundancy(module, changed, ctx)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A product, and in order the bias that is added to it and the activation behind that, where there are such."""

    product: VarBinding
    weight: Expr
    bias: Expr | None = None
    biased: VarBinding | None = None
    activation: str = ""
    activated: VarBinding | None = None

    def only(self, *, has_bias: bool, activation: str) -> "_Branch":
        """Return the branch up to what all branches have."""
        if activation:
            return self if has_bias else replace(self, bias=None, biased=None)
        cut = replace(self, activation="", activated=None)
        return cut if has_bias else replace(cut, bias=None, biased=None)

    @property
    def end(self) -> VarBinding:
        """The last binding of the branch."""
        return self.activated or self.biased or self.product


@dataclass(slots=True)
class _Block:
    """A block whose products of one matrix are combined."""

    block: BindingBlock
    emitter: Emitter
    type_of: Mapping[Node, Type]
    check: Check | None
    ctx: PassContext
    users: dict[Node, list[VarBinding]] = field(default_factory=dict[Node, list[VarBinding]])

    def combined(self) -> BindingBlock | None:
        for item in self.bindings():
            for var in dict.fromkeys(free_vars(item.value)):
                self.users.setdefault(var, []).append(item)
        bindings = list(self.block.bindings)
        by_matrix: dict[Expr, list[_Branch]] = {}
        for item in self.bindings():
            if is_op_call(item.value, "relax.matmul"):
                by_matrix.setdefault(item.value.args[0], []).append(self.branch(item, item.value.args[1]))
        for matrix, found in by_matrix.items():
            products: set[Node] = {item.product.var for item in found}
            branches = [
                item
                if item.bias is None or not products & self.sources(item.bias)
                else _Branch(item.product, item.weight)
                for item in found
            ]
            for group in self.groups(matrix, branches):
                bindings = self.with_group(bindings, matrix, group)
        is_same = len(bindings) == len(self.block.bindings)
        return None if is_same else replace(self.block, bindings=tuple(bindings))

    def bindings(self) -> Iterator[VarBinding]:
        return (item for item in self.block.bindings if isinstance(item, VarBinding))

    def branch(self, product: VarBinding, weight: Expr) -> _Branch:
        """Follow a product to the bias and the activation behind it."""
        branch = _Branch(product, weight)
        for user in self.users.get(product.var, ()):
            match user.value:
                case Call(op=Op(name="relax.add"), args=(left, bias)) if left is product.var is not bias:
                    if self.is_bias(bias, weight, product):
                        branch = replace(branch, bias=bias, biased=user)
                        break
                case _:
                    pass
        for user in self.users.get(branch.end.var, ()):
            name = next((item for item in ACTIVATIONS if is_op_call(user.value, f"relax.nn.{item}")), None)
            if name is not None:
                return replace(branch, activation=name, activated=user)
        return branch

    def dims(self, expr: Node) -> Dims:
        type_ = self.type_of.get(expr)
        return (type_.dims or ()) if isinstance(type_, TensorType) else ()

    def is_bias(self, bias: Expr, weight: Expr, product: VarBinding) -> bool:
        """Tell whether the columns of a bias are those of the weight."""
        own, columns = self.dims(bias), self.dims(weight)
        return bool(own and columns) and len(own) <= len(self.dims(product.var)) and prove_equal(own[-1], columns[-1])

    def groups(self, matrix: Expr, branches: list[_Branch]) -> Iterator[list[_Branch]]:
        """Yield the branches that can be combined, each cut to what all of the matrix have in common."""
        if len(branches) < 2:
            return
        reason = self.obstacle(matrix, branches)
        if reason:
            self.missed(branches, reason)
            return
        has_bias = all(item.bias is not None for item in branches) and self.are_alike(branches)
        activations = {item.activation if has_bias or item.bias is None else "" for item in branches}
        shared = activations.pop() if len(activations) == 1 else ""
        by_rank: dict[int, list[_Branch]] = {}
        for item in branches:
            cut = item.only(has_bias=has_bias, activation=shared)
            by_rank.setdefault(len(self.dims(item.weight)), []).append(cut)
        for group in by_rank.values():
            chosen = self.joined(matrix, group)
            if chosen:
                yield chosen

    def obstacle(self, matrix: Expr, branches: Sequence[_Branch]) -> str:
        """Say why the products of a matrix are not combined, in the empty text if they are."""
        weights = [item.weight for item in branches]
        if len(set(weights)) < len(weights):
            return "a weight occurs twice"
        if any(len(self.dims(item)) < 2 for item in (matrix, *weights)):
            return "they are not known to be products of matrices"
        types = [self.type_of.get(item.product.var) for item in branches]
        if len({item.dtype for item in types if isinstance(item, TensorType)}) > 1:
            return "they have several dtypes"
        ends = {part.var for item in branches for part in (item.product, item.biased, item.activated) if part}
        inputs = (part for item in branches for part in (item.weight, item.bias) if part is not None)
        if any(ends & self.sources(item) for item in inputs):
            return "one of them is made from another"
        return ""

    def sources(self, expr: Expr) -> set[Node]:
        """Return the variables that a value is made from, in this block."""
        value_of = {item.var: item.value for item in self.block.bindings}
        found: set[Node] = set()
        stack: list[Var] = list(free_vars(expr))
        while stack:
            var = stack.pop()
            if var not in found:
                found.add(var)
                stack += free_vars(value_of[var]) if var in value_of else ()
        return found

    def are_alike(self, branches: Sequence[_Branch]) -> bool:
        """Tell whether biases have one shape, columns aside."""
        shapes = [self.dims(item.bias)[:-1] for item in branches if item.bias is not None]
        return all(_are_equal(shapes[0], item) for item in shapes)

    def joined(self, matrix: Expr, group: list[_Branch]) -> list[_Branch]:
        """Return the branches that one product gives: of those with an unknown number of columns the first."""
        if len(group) < 2:
            return []
        batches = [self.dims(item.weight)[:-2] for item in group]
        if not all(_are_equal(batches[0], item) for item in batches):
            self.missed(group, "their weights are stacks of different sizes")
            return []
        known = [item for item in group if constant_value(self.dims(item.weight)[-1]) is not None]
        unknown = [item for item in group if item not in known]
        if unknown[1:]:
            self.missed(unknown[1:], "the number of columns is not known, which only one part may have")
        chosen = [*known, *unknown[:1]]
        if len(chosen) < 2:
            return []
        biases = [item.bias for item in chosen if item.bias is not None]
        value_of = {item.var: item.value for item in self.bindings()}
        if self.check is not None and not self.check(matrix, [item.weight for item in chosen], biases, value_of):
            self.missed(chosen, "the check refuses them")
            return []
        return chosen

    def missed(self, branches: Sequence[_Branch], words: str) -> None:
        names = ", ".join(item.product.var.name for item in branches)
        because = tuple(item.product for item in branches[1:])
        self.ctx.remark(branches[0].product, "missed", f"{names} stay{'s' * (not because)}: {words}", because)

    def with_group(self, bindings: list[Binding], matrix: Expr, group: list[_Branch]) -> list[Binding]:
        """Put one product and its parts in the place of the branches; what they need comes before."""
        ends = {item.end: item for item in group}
        first = next(index for index, item in enumerate(bindings) if item in ends)
        needed: set[Node] = {matrix}
        for item in group:
            needed |= {item.weight, *(() if item.bias is None else (item.bias,))}
        sources = {var for item in needed if isinstance(item, Var) for var in self.sources(item)}
        early = [item for item in bindings[first:] if item.var in sources]
        self.emitter.bindings = []
        parts = self.parts(matrix, group)
        made = dict(zip(ends, parts, strict=True))
        rest = [self.part(item, made) for item in bindings[first:] if item not in early]
        names = ", ".join(item.product.var.name for item in group)
        self.ctx.remark(rest[0], "applied", f"{names} are parts of one product", tuple(item.product for item in group))
        return [*bindings[:first], *early, *self.emitter.bindings, *rest]

    def part(self, binding: Binding, made: Mapping[VarBinding, Expr]) -> Binding:
        if not isinstance(binding, VarBinding) or binding not in made:
            return binding
        new = replace(binding, value=self.ctx.derive(made[binding], binding.value, rule="product -> part of a product"))
        self.ctx.log.rebuilt(binding, new)
        return new

    def parts(self, matrix: Expr, group: list[_Branch]) -> list[TupleGetItem]:
        """Emit the product of a matrix with all weights, and return its parts."""
        emit = self.emitter.emit
        axis = len(self.dims(group[0].weight)) - 1
        weights = emit(op_call("concat", Tuple(tuple(item.weight for item in group)), integer(axis)))
        out = self.type_of.get(group[0].product.var)
        out_dtype = dtype(out.dtype) if isinstance(out, TensorType) and out.dtype else Null()
        value = emit(op_call("matmul", matrix, weights, out_dtype))
        biases = tuple(item.bias for item in group if item.bias is not None)
        if biases:
            bias = emit(op_call("concat", Tuple(biases), integer(len(self.dims(biases[0])) - 1)))
            value = emit(op_call("add", value, bias))
        if group[0].activation:
            value = emit(op_call(f"nn.{group[0].activation}", value))
        columns = [constant_value(self.dims(item.weight)[-1]) for item in group[:-1]]
        cuts = tuple(accumulate(item for item in columns if isinstance(item, int)))
        last = len(self.dims(group[0].product.var)) - 1
        split = emit(op_call("split", value, ints(cuts), integer(last)))
        for item in self.emitter.bindings:
            self.ctx.derive(item, *(branch.product for branch in group))
        return [TupleGetItem(split, index) for index in range(len(group))]


def _are_equal(a: Dims, b: Dims) -> bool:
    return len(a) == len(b) and all(map(prove_equal, a, b))


PASS = Pass(
    "CombineParallelMatmul",
    "Multiplies a matrix with several weights at once, and takes the products apart.",
    run,
    options=CombineParallelMatmulOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/combine_parallel_matmul.cc",
)
