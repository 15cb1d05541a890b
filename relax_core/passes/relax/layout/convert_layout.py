"""Store tensors in the orders of axes that convolutions are wished to have."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from relax_core.ir.expr import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    MatchCast,
    Op,
    PrimValue,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import StringImm
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.substitute import free_vars
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.layout.layout_rules import CHOOSING, PACKING, RULES, CallSite, Stored
from relax_core.passes.relax.layout.orders import (
    Layout,
    Layouts,
    Order,
    fits,
    has_unknown_rank,
    initial_layout,
    is_packed,
    stored_type,
    text_type,
)
from relax_core.passes.relax.operators.calls import ints, op_call
from relax_core.passes.relax.retyped_block import RetypedBlock

_LAYOUT = re.compile(r"[A-Z]+(\d+[a-z])*")
LayoutCallback: TypeAlias = Callable[[Call], Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class ConvertLayoutOptions:
    """`desired_layouts` are those of data, weight and result by operator; the data's is that of a result without one.

    `layout_cb(call)` gives such a table for each call, in place of the one for all.
    """

    desired_layouts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    layout_cb: LayoutCallback | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "desired_layouts", tuple(_table(dict(self.desired_layouts)).items()))


def _table(given: Mapping[Any, Any]) -> dict[str, tuple[str, ...]]:
    """Return a table of layouts as such.

    Raises:
        ValueError: it is none.
    """
    table: dict[str, tuple[str, ...]] = {}
    for name, words in given.items():
        layouts = (words,) if isinstance(words, str) else tuple(words)
        full = name if str(name).startswith("relax.") else f"relax.{name}"
        if full not in CHOOSING:
            known = ", ".join(sorted(item.removeprefix("relax.") for item in CHOOSING))
            raise ValueError(f"{name} takes no layout; these do: {known}")
        if not layouts or not all(isinstance(item, str) for item in layouts):
            raise ValueError("desired_layouts are like {'relax.nn.conv2d': ['NHWC', 'OHWI']}")
        if full in CHOOSING and "conv" in full and len(layouts) not in (2, 3):
            raise ValueError(f"{name} takes the layouts of its data and its weight, and of its result")
        unknown = next((item for item in layouts if not _LAYOUT.fullmatch(item)), None)
        if unknown is not None:
            raise ValueError(f"{unknown} is no layout; one is like NHWC, or NCHW4c with blocks of an axis")
        table[full] = layouts
    return table


def run(module: IRModule, options: ConvertLayoutOptions, ctx: PassContext) -> IRModule:
    """Give convolutions and resizings the layouts that are wished for, in dataflow blocks.

    Operators behind them go on in that order of axes, with the arguments that count axes changed; operators that
    cannot, results and outputs of blocks get the order of the text, by `permute_dims`. Of two operands the one of fewer
    axes decides, the first of two with equally many.

    apache-tvm stops at the fields of a `dropout` and at a `stack` behind a convolution, permutes a scalar, repeats all
    elements in the order in which they are stored, and reads what `scatter_nd` indexes in the wrong order; here these
    are right.

    In a layout such as NCHW4c an axis is cut into blocks, by `layout_transform`, where a size that is known fills all
    of them. apache-tvm 0.27 breaks down on that, so that 0.25 is the model; but a sum that keeps an axis in blocks is
    taken in the order of the text.
    """
    type_of = ctx.types(module)

    def change(_: GlobalVar, function: Function) -> Function:
        names = names_in(function)

        def block(node: Node) -> Node | None:
            """Rule: operators in the order of the text -> operators in orders that are wished for."""
            return (
                _LayoutBlock(node, options, ctx, type_of, names).rewritten()
                if isinstance(node, DataflowBlock)
                else None
            )

        return ctx.rewrite(function, block)

    return change_functions(module, ctx, change)


class _LayoutBlock(RetypedBlock):
    """A dataflow block while its values come to be stored in other orders."""

    def __init__(
        self,
        block: DataflowBlock,
        options: ConvertLayoutOptions,
        ctx: PassContext,
        type_of: Mapping[Node, Type],
        names: Names,
    ) -> None:
        super().__init__(block, ctx, type_of, names)
        self.options = options
        self.layout_of: dict[Node, Layout] = {}

    def rewritten(self) -> DataflowBlock | None:
        for binding in self.each():
            self.emitter.bindings.append(self.binding(binding))
        return self.made_of()

    def layout(self, expr: Expr) -> Layout:
        """Return how a value of the text is stored."""
        match expr:
            case Tuple(fields=fields):
                return Layouts(tuple(map(self.layout, fields)))
            case _:
                return self.layout_of.get(expr, self.initial(expr))

    def initial(self, expr: Expr) -> Layout:
        return initial_layout(self.type_of.get(expr))

    def converted(self, expr: Expr, have: Layout, want: Layout) -> Expr:
        """Return a value that is made here in another order, itself if it is in that."""
        match have, want:
            case Order(), Order() if have != want:
                source = expr if isinstance(expr, Var | Constant) else self.emit(expr)
                call, type_ = self.reordered(source, have, want)
                self.types[call] = type_
                return call
            case Layouts(fields=haves), Layouts(fields=wants) if have != want:
                whole = expr if isinstance(expr, Var | Tuple) else self.emit(expr)
                pairs = zip(haves, wants, strict=True)
                return Tuple(tuple(self.argument(self.field(whole, k), *pair) for k, pair in enumerate(pairs)))
            case _:
                return expr

    def reordered(self, source: Expr, have: Order, want: Order) -> tuple[Call, Type]:
        """Return what brings a tensor from one order into another, and its type."""
        type_ = self.type(source)
        if not have.packed and not want.packed:
            axes = have.permutation_to(want)
            return op_call("permute_dims", source, ints(axes)), stored_type(type_, Order(axes))
        text = text_type(type_, have)
        call = op_call("layout_transform", source, PrimValue(StringImm(have.index_map_to(want))))
        return call, stored_type(text, want)

    def argument(self, expr: Expr, have: Layout, want: Layout) -> Expr:
        new = self.converted(expr, have, want)
        return new if new is expr or isinstance(new, Tuple) else self.emit(new)

    def stored(self, expr: Expr, want: Layout) -> Expr:
        """Return an argument of the text in an order; the permutation is emitted."""
        return self.argument(self.now(expr), self.layout(expr), want)

    def in_text(self, value: Expr) -> Expr:
        """Return a value in which variables are in the order of the text."""
        olds = {var: self.stored(var, self.initial(var)) for var in free_vars(value) if var in self.layout_of}
        changed = {var: new for var, new in olds.items() if new is not var}
        return self.ctx.substitute(value, changed)

    def binding(self, binding: Binding) -> Binding:
        is_inside = isinstance(binding.var, DataflowVar)
        match binding:
            case MatchCast(value=value, type=type_) if is_inside:
                return self.cast(binding, self.now(value), stored_type(type_, self.layout(value)))
            case VarBinding(value=Call() as call):
                return self.call(binding, call)
            case VarBinding(value=TupleGetItem(tuple_value=whole) as value) if not is_inside:
                # As in apache-tvm, what leaves the block is a field of the whole tuple in the order of the text.
                fields = self.stored(whole, self.initial(whole))
                return self.ended(binding, replace(value, tuple_value=fields), *(self.initial(value),) * 2)
            case VarBinding(value=(Tuple() | TupleGetItem()) as value):
                have = self.part(value)
                return self.ended(binding, self.now(value), have, have if is_inside else self.initial(value))
            case VarBinding(value=Var() as value):
                return self.ended(binding, self.now(value), self.layout(value), self.initial(value))
            case _:
                value = self.in_text(binding.value)
                return binding if value is binding.value else replace(binding, value=value)

    def part(self, value: Tuple | TupleGetItem) -> Layout:
        if isinstance(value, Tuple):
            return self.layout(value)
        whole = self.layout(value.tuple_value)
        return whole.fields[value.index] if isinstance(whole, Layouts) else self.initial(value)

    def cast(self, binding: MatchCast, value: Expr, type_: Type) -> MatchCast:
        layout = self.layout(binding.value)
        if layout == self.initial(binding.value):
            return binding
        var = self.ctx.derive(replace(binding.var, annotation=type_), binding.var)
        self.types[var], self.current[binding.var], self.layout_of[binding.var] = type_, var, layout
        return replace(binding, var=var, value=value, type=type_)

    def ended(self, binding: VarBinding, value: Expr, have: Layout, want: Layout) -> VarBinding:
        """Bind a value in the order `want`, which that of the variable then is."""
        self.layout_of[binding.var] = want
        return self.bound(binding, self.converted(value, have, want))

    def call(self, binding: VarBinding, call: Call) -> VarBinding:
        found = self.inferred(call)
        if found is None:
            args = tuple(self.stored(item, self.initial(item)) for item in call.args)
            if any(new is not self.now(old) for new, old in zip(args, call.args, strict=True)):
                self.ctx.remark(binding, "missed", f"{binding.var.name} takes its arguments in the order of the text")
            return self.bound(binding, self.call_with(call, args))
        wanted = (*found.inputs, *(self.initial(item) for item in call.args[len(found.inputs) :]))
        args = tuple(
            found.args.get(k) or self.stored(item, want)
            for k, (item, want) in enumerate(zip(call.args, wanted, strict=True))
        )
        self.tell(binding, found)
        want = found.output if isinstance(binding.var, DataflowVar) else self.initial(binding.var)
        return self.ended(binding, self.call_with(call, args), found.output, want)

    def inferred(self, call: Call) -> Stored | None:
        """Return how a call takes and gives its tensors, `None` if in the order of the text."""
        name = call.op.name if isinstance(call.op, Op) else ""
        types = tuple(self.type_of[item] for item in call.args)
        if name not in RULES or any(map(has_unknown_rank, (*types, self.type_of[call]))):
            return None
        layouts = tuple(map(self.layout, call.args))
        desired = self.desired(call).get(name, ())
        if not desired and layouts == tuple(map(self.initial, call.args)):
            return None
        site = CallSite(call, name, types, layouts, self.type_of[call], desired)
        found = RULES[name](site) if name in PACKING or not any(map(is_packed, layouts)) else None
        is_full = found is not None and all(map(fits, types, found.inputs)) and fits(site.type, found.output)
        return found if is_full else None

    def desired(self, call: Call) -> Mapping[str, tuple[str, ...]]:
        if self.options.layout_cb is not None:
            return _table(self.options.layout_cb(call))
        return dict(self.options.desired_layouts)

    def tell(self, binding: VarBinding, found: Stored) -> None:
        if found.output != self.initial(binding.var):
            values = (item.value for item in found.args.values() if isinstance(item, PrimValue))
            words = [item.value for item in values if isinstance(item, StringImm)]
            self.ctx.remark(
                binding, "applied", f"{binding.var.name} is in {', '.join(words) or 'the order of its data'}"
            )


PASS = Pass(
    "ConvertLayout",
    "Stores tensors in the orders of axes that convolutions are wished to have.",
    run,
    options=ConvertLayoutOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/convert_layout.cc",
)
