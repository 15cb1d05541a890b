"""A dataflow block whose bindings are rewritten in order, where values may come to have other types."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import is_

from relax_core.check.carried_devices import on_device_of
from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    OBJECT,
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    Null,
    Op,
    PrimType,
    PrimValue,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node
from relax_core.ir.prim import dtype_of
from relax_core.ir.rewriting.builder import Emitter, Names
from relax_core.ops import OPS
from relax_core.passes.core import PassContext


class RetypedBlock:
    """A dataflow block while its bindings are rewritten.

    `current` leads from a variable of the text to what holds its value, which may be of another type; `types` has the
    types of what was made here.
    """

    def __init__(self, block: DataflowBlock, ctx: PassContext, type_of: Mapping[Node, Type], names: Names) -> None:
        self.block = block
        self.ctx = ctx
        self.type_of = type_of
        self.current: dict[Var, Expr] = {}
        self.types: dict[Node, Type] = {}
        self.emitter = Emitter(names, is_dataflow=True)

    def each(self) -> Iterator[Binding]:
        """Yield the bindings of the text; what is emitted until the next one stems from it."""
        for binding in self.block.bindings:
            start = len(self.emitter.bindings)
            yield binding
            for item in self.emitter.bindings[start:]:
                if item is not binding:
                    self.ctx.derive(item, binding)

    def made_of(self) -> DataflowBlock | None:
        """Return the block of what was emitted, `None` if it is as it was."""
        made = tuple(self.emitter.bindings)
        is_same = len(made) == len(self.block.bindings) and all(map(is_, made, self.block.bindings))
        return None if is_same else replace(self.block, bindings=made)

    def type(self, expr: Node) -> Type:
        """Return the type of an expression, of the text or made here."""
        match expr:
            case Tuple(fields=fields) if expr not in self.type_of:
                return TupleType(tuple(map(self.type, fields)))
            case TupleGetItem(tuple_value=value, index=index) if expr not in self.type_of:
                whole = self.type(value)
                assert isinstance(whole, TupleType), "what a field is taken from is a tuple"
                return whole.fields[index]
            case PrimValue(value=value):
                return PrimType(dtype_of(value), value)
            case DataTypeImm() | Null():
                return OBJECT
            case _:
                found = self.types.get(expr) or self.type_of.get(expr)
                if found is None and isinstance(expr, Var):
                    found = expr.annotation
                assert found is not None, "an expression of the text, or one that was made here, has a type"
                return found

    def emit(self, value: Expr) -> Var:
        """Bind a value to a fresh variable of its type."""
        type_ = self.type(value)
        var = self.emitter.emit(value, annotation=type_)
        self.types[var] = type_
        return var

    def field(self, whole: Var | Tuple, index: int) -> Expr:
        """Return a field of a tuple, bound if it has to be taken out of one."""
        return whole.fields[index] if isinstance(whole, Tuple) else self.emit(TupleGetItem(whole, index))

    def now(self, expr: Expr) -> Expr:
        """Return an argument with the variables that hold its value."""
        match expr:
            case Var():
                return self.current.get(expr, expr)
            case Tuple(fields=fields):
                news = tuple(map(self.now, fields))
                return expr if all(map(is_, news, fields)) else Tuple(news, span=expr.span)
            case TupleGetItem(tuple_value=value):
                new = self.now(value)
                return expr if new is value else replace(expr, tuple_value=new)
            case _:
                return expr

    def bound(self, binding: VarBinding, value: Expr) -> VarBinding:
        """Bind a value to the variable, or to one of its name if the value has another type.

        Variables that other blocks see stay: what is bound to them has their type.
        """
        if value is binding.value:
            return binding
        type_ = self.type(value)
        if not isinstance(binding.var, DataflowVar) or same_type(type_, self.type_of[binding.value]):
            return replace(binding, value=value)
        var = self.ctx.derive(replace(binding.var, annotation=type_), binding.var)
        self.types[var] = type_
        self.current[binding.var] = var
        return replace(binding, var=var, value=value)

    def call_with(self, call: Call, args: tuple[Expr, ...]) -> Call:
        """Return a call of an operator with other arguments, of the type that follows."""
        if all(map(is_, args, call.args)):
            return call
        new = replace(call, args=args)
        spec = OPS.get(call.op.name) if isinstance(call.op, Op) else None
        if spec is not None:
            types = tuple(map(self.type, args))
            self.types[new] = on_device_of(spec.infer(new, types), types)
        elif call in self.type_of:
            self.types[new] = self.type_of[call]
        return new
