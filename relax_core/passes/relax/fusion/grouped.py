"""A group of bindings of a dataflow block as a function, and what calls it in their place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.substitute import free_symbols, free_vars
from relax_core.passes.core import PassContext
from relax_core.passes.relax.closures.captures import binding_symbols
from relax_core.passes.relax.closures.result_types import map_symbols


@dataclass(frozen=True, slots=True)
class Group:
    """Bindings of one block, in order, and the variables of theirs that are used elsewhere."""

    bindings: tuple[Binding, ...]
    outputs: tuple[Var, ...]


@dataclass(frozen=True, slots=True)
class Grouped:
    """A private function, and what is left in its place: fields that it takes, then the arguments of its call."""

    function: Function
    fields: tuple[Binding, ...]
    args: tuple[Expr, ...]


def grouped_function(
    group: Group, attrs: Attrs, type_of: Mapping[Node, Type], ctx: PassContext, *, lifts_constants: bool = True
) -> Grouped:
    """Make the function of a group of bindings, whose result is its output, or a tuple of several.

    What the bindings use becomes parameters in the order of its first use: constants too, unless they are to stay, and
    symbolic shapes and scalars that operators are given. A field of a tuple that comes from outside is taken before the
    call. Dimensions that no parameter gives come as one shape.
    """
    inside = {item.var for item in group.bindings}
    fields = tuple(item for item in group.bindings if _is_outer_field(item, inside) and item.var not in group.outputs)
    made = _Making(type_of, ctx, Names(item.var.name for item in group.bindings), lifts_constants)
    for item in group.bindings:
        if item in fields:
            made.take(item.var, item.var, _field_name(item.value))
        else:
            made.take_all(item.value, inside)
    function = made.function([item for item in group.bindings if item not in fields], group.outputs, attrs)
    return Grouped(function, fields, tuple(made.args))


def call_bindings(name: GlobalVar, group: Group, made: Grouped, names: Names, ctx: PassContext) -> tuple[Binding, ...]:
    """Return the bindings that take the place of a group: the fields that it takes, the call, and what it gives."""
    last = group.bindings[-1]
    call = Call(name, made.args, span=last.value.span)
    rule = "bindings -> call of their function"
    if len(group.outputs) == 1:
        binding = VarBinding(group.outputs[0], call, span=last.span)
        return (*made.fields, ctx.derive(binding, *group.bindings, rule=rule))
    result = DataflowVar(names.fresh("lv"), span=last.var.span)
    binding = ctx.derive(VarBinding(result, call, span=last.span), *group.bindings, rule=rule)
    given = (
        ctx.derive(VarBinding(item.var, TupleGetItem(result, group.outputs.index(item.var)), span=item.span), item)
        for item in group.bindings
        if item.var in group.outputs
    )
    return (*made.fields, binding, *given)


@dataclass(slots=True)
class _Making:
    """`param_of` is what stands for a value from outside, `args` what is given for it, in the same order."""

    type_of: Mapping[Node, Type]
    ctx: PassContext
    names: Names
    lifts_constants: bool = True
    param_of: dict[Node, Var] = field(default_factory=dict[Node, Var])
    args: list[Expr] = field(default_factory=list[Expr])
    symbols: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])

    def take(self, outside: Node, given: Expr, hint: str) -> None:
        """Make a parameter for a value from outside, unless there is one."""
        if outside not in self.param_of:
            param = Var(self.names.fresh(hint), self.type_of.get(outside, OBJECT), span=given.span)
            self.param_of[outside] = self.ctx.derive(param, outside)
            self.args.append(given)

    @property
    def literal_count(self) -> int:
        """How many constants, shapes and scalars there are parameters for."""
        return sum(isinstance(item, Constant | ShapeExpr | PrimValue) for item in self.args)

    def take_all(self, value: Expr, inside: set[Var]) -> None:
        """Make parameters for what a value uses."""
        sizes = _sizes_given(value)
        for part in (*preorder(value), *free_vars(value)):
            match part:
                case Constant() if self.lifts_constants:
                    self.take(part, part, f"param_{self.literal_count}")
                case ShapeExpr() | PrimValue() if part in sizes:
                    self.take(part, part, f"param_{self.literal_count}")
                case Var() if part not in inside:
                    self.take(part, part, part.name)
                case _:
                    pass

    def function(self, body: Sequence[Binding], outputs: tuple[Var, ...], attrs: Attrs) -> Function:
        """Return the function of the bindings `body`, with symbols of its own."""
        types = tuple(self.type_of.get(item, OBJECT) for item in outputs)
        self.find_symbols(body, types)
        given = {symbol for item in self.param_of.values() for symbol in binding_symbols(item.annotation or OBJECT)}
        params = [*self.renamed(), *self.symbol_params([item for item in self.symbols if item not in given])]
        values: dict[Var, Expr] = {item: param for item, param in self.param_of.items() if isinstance(item, Var)}
        block = DataflowBlock(tuple(self.copied(item, values, is_output=item.var in outputs) for item in body))
        results = tuple(values[item] for item in outputs)
        own = tuple(map_symbols(item, self.symbols) for item in types)
        result, ret = (results[0], own[0]) if len(results) == 1 else (Tuple(results), TupleType(own))
        return Function(tuple(params), SeqExpr((block,), result), ret, attrs, is_private=True)

    def find_symbols(self, body: Sequence[Binding], types: tuple[Type, ...]) -> None:
        """Make symbols of the function's own for those in it, in the order in which they are met."""
        outer = (param.annotation or OBJECT for param in self.param_of.values())
        found = chain(map(free_symbols, outer), (free_symbols(item.value) for item in body), map(free_symbols, types))
        self.symbols.update((item, PrimVar(item.name, item.dtype)) for part in found for item in part)

    def copied(self, binding: Binding, values: dict[Var, Expr], *, is_output: bool) -> Binding:
        """Return a binding with the function's own variables; `values` are those so far, and are added to."""
        var = Var(self.names.fresh("gv")) if is_output else DataflowVar(binding.var.name)
        value = self.ctx.rewrite(binding.value, self.constants)
        made = VarBinding(var, self.ctx.substitute(value, values, self.symbols), span=binding.span)
        values[binding.var] = self.ctx.derive(var, binding.var)
        return self.ctx.derive(made, binding)

    def constants(self, node: Node) -> Node | None:
        """Rule: constant, shape or scalar -> parameter."""
        return self.param_of.get(node) if isinstance(node, Constant | ShapeExpr | PrimValue) else None

    def renamed(self) -> Iterator[Var]:
        """Yield the parameters with the function's own symbols in their types."""
        for outside, param in tuple(self.param_of.items()):
            annotation = param.annotation or OBJECT
            own = map_symbols(annotation, self.symbols)
            self.param_of[outside] = param if own is annotation else self.ctx.derive(Var(param.name, own), outside)
            yield self.param_of[outside]

    def symbol_params(self, missing: list[PrimVar]) -> Iterator[Var]:
        """Yield the parameters for the symbols that no other parameter gives."""
        dims = tuple(item for item in reversed(missing) if item.dtype == "int64")
        if dims:
            self.args.append(ShapeExpr(dims))
            yield Var(self.names.fresh("tir_vars"), ShapeType(tuple(self.symbols[item] for item in dims)))
        for item in missing:
            if item not in dims:
                self.args.append(PrimValue(item))
                yield Var(self.names.fresh(item.name), PrimType(item.dtype, self.symbols[item]))


def _sizes_given(value: Expr) -> tuple[Expr, ...]:
    """Return the symbolic shapes and scalars among the arguments of a call: `call_tir` keeps those that it has."""
    match value:
        case Call(op=Op(name="relax.call_tir" | "relax.call_tir_inplace")):
            return ()
        case Call(op=GlobalVar(), args=args):
            return tuple(item for item in args if isinstance(item, ShapeExpr) or _is_symbolic(item))
        case Call(args=args):
            return tuple(filter(_is_symbolic, args))
        case _:
            return ()


def _is_symbolic(value: Expr) -> bool:
    return isinstance(value, ShapeExpr | PrimValue) and bool(free_symbols(value))


def _is_outer_field(binding: Binding, inside: set[Var]) -> bool:
    match binding.value:
        case TupleGetItem(tuple_value=source):
            return source not in inside
        case _:
            return False


def _field_name(value: Expr) -> str:
    match value:
        case TupleGetItem(tuple_value=Var(name=name), index=index):
            return f"{name}_{index}"
        case _:
            return "param"
