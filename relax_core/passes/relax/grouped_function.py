"""Make a function of some bindings of a dataflow block, and the call that takes their place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    ShapeType,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.builder import Names
from relax_core.ir.rewriting.substitute import free_symbols, free_vars
from relax_core.passes.core import PassContext
from relax_core.passes.relax.captures import binding_symbols
from relax_core.passes.relax.result_types import map_symbols


@dataclass(frozen=True, slots=True)
class Grouped:
    """A private function, and the bindings that stand for the group: fields that it takes, then the call."""

    function: Function
    bindings: tuple[Binding, ...]


def grouped_function(
    name: GlobalVar, group: Sequence[Binding], attrs: Attrs, type_of: Mapping[Node, Type], ctx: PassContext
) -> Grouped:
    """Make the function `name` of a group of bindings, of which only the last one's variable is used elsewhere.

    What the bindings use becomes parameters in the order of its first use, constants too. A field of a tuple that comes
    from outside is taken before the call. Dimensions that no parameter gives come as one shape.
    """
    inside = {item.var for item in group}
    fields = tuple(item for item in group if _is_outer_field(item, inside))
    made = _Making(type_of, ctx, Names(item.var.name for item in group))
    for item in group:
        if item in fields:
            made.take(item.var, item.var, _field_name(item.value))
        else:
            made.take_all(item.value, inside)
    function = made.function([item for item in group if item not in fields], attrs)
    last = group[-1]
    binding = VarBinding(last.var, Call(name, tuple(made.args), span=last.value.span), span=last.span)
    ctx.derive(binding, *group, rule="bindings -> call of their function")
    return Grouped(function, (*fields, binding))


@dataclass(slots=True)
class _Making:
    """`param_of` is what stands for a value from outside, `args` what is given for it, in the same order."""

    type_of: Mapping[Node, Type]
    ctx: PassContext
    names: Names
    param_of: dict[Node, Var] = field(default_factory=dict[Node, Var])
    args: list[Expr] = field(default_factory=list[Expr])
    symbols: dict[PrimVar, PrimExpr] = field(default_factory=dict[PrimVar, PrimExpr])

    def take(self, outside: Node, given: Expr, hint: str) -> None:
        """Make a parameter for a value from outside, unless there is one."""
        if outside not in self.param_of:
            param = Var(self.names.fresh(hint), self.type_of.get(outside, OBJECT), span=given.span)
            self.param_of[outside] = self.ctx.derive(param, outside)
            self.args.append(given)

    def take_all(self, value: Expr, inside: set[Var]) -> None:
        """Make parameters for what a value uses."""
        for part in (*preorder(value), *free_vars(value)):
            match part:
                case Constant():
                    count = sum(isinstance(item, Constant) for item in self.args)
                    self.take(part, part, f"param_{count}")
                case Var() if part not in inside:
                    self.take(part, part, part.name)
                case _:
                    pass

    def function(self, body: Sequence[Binding], attrs: Attrs) -> Function:
        """Return the function of the bindings `body`, with symbols of its own."""
        ret = self.type_of.get(body[-1].var, OBJECT)
        outer = [param.annotation for param in self.param_of.values()]
        found = (*map(free_symbols, outer), *(free_symbols(item.value) for item in body), free_symbols(ret))
        self.symbols.update((item, PrimVar(item.name, item.dtype)) for part in found for item in part)
        given = {symbol for type_ in outer for symbol in binding_symbols(type_)}
        params = [*self.renamed(), *self.symbol_params([item for item in self.symbols if item not in given])]
        values: dict[Var, Expr] = {item: param for item, param in self.param_of.items() if isinstance(item, Var)}
        bindings: list[Binding] = []
        for item in body:
            is_last = item is body[-1]
            var = Var(self.names.fresh("gv")) if is_last else DataflowVar(item.var.name)
            value = self.ctx.rewrite(item.value, self.constants)
            bindings.append(VarBinding(var, self.ctx.substitute(value, values, self.symbols), span=item.span))
            values[item.var] = self.ctx.derive(var, item.var)
            self.ctx.derive(bindings[-1], item)
        block = DataflowBlock(tuple(bindings))
        result = map_symbols(ret, self.symbols)
        return Function(tuple(params), SeqExpr((block,), bindings[-1].var), result, attrs, is_private=True)

    def constants(self, node: Node) -> Node | None:
        """Rule: constant -> parameter."""
        return self.param_of.get(node) if isinstance(node, Constant) else None

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
