"""Print a module as its syntax tree, in the notation of RFC 0089: `Call(op=Op("relax.call_tir"), ...)`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import cast

from relax_core.ir.absent import reference_of
from relax_core.ir.attrs import Attrs
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Null,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import PrimExpr
from relax_core.ir.relay import Constructor, Let, Match, PatternVar, RefCreate, RefRead, RefWrite
from relax_core.ir.tir import Buffer
from relax_core.ops import find
from relax_core.printer.emitter import Emitter, MarkingEmitter
from relax_core.printer.literals import attribute, attributes, constant, quoted
from relax_core.printer.naming import FunctionNames, legal, taken_names
from relax_core.printer.printed import Layout, Part, Piece, Printed, Ready, joined, write
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import SPELLINGS
from relax_core.printer.types import TypePrinter

_DPS = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_dps_packed")


def print_ast(module: IRModule) -> Printed:
    """Print the nodes of a module; every node has its range. Linear in the size of the module.

    What several Relay expressions share is shown once, after `#0 =`, and then as `#0`.
    """
    return write((_module(module), Layout.NEWLINE))


def _module(module: IRModule) -> Piece:
    taken = taken_names(module.names)
    items: list[Part] = []
    for definition in module.definitions:
        printer = _AstPrinter(FunctionNames(definition.function, taken), _shared(definition.function))
        shown = (Piece(definition.var, (quoted(definition.var.name),)), ": ", printer.show(definition.function))
        items.append(Piece(definition, shown))
    if module.attrs:
        items.append(f"attrs={attributes(module.attrs)}")
    if module.global_infos:
        items.append(f"global_infos={attributes(module.global_infos)}")
    return Piece(module, _listed(f"IRModule {legal(module.name)}(", items, ")"))


def _listed(opening: str, items: list[Part], closing: str) -> Iterator[Part]:
    """Show items one per line, indented."""
    yield opening
    if items:
        yield Layout.DEEPER
        for item in items:
            yield from (Layout.NEWLINE, item, ",")
        yield from (Layout.BACK, Layout.NEWLINE)
    yield closing


def _named(name: str, value: Part) -> Iterator[Part]:
    yield from (f"{name}=", value)


def _in_brackets(items: list[Part]) -> Iterator[Part]:
    yield from ("(", joined(items), ",)" if len(items) == 1 else ")")


def _shared(function: Node) -> frozenset[Node]:
    """Return the expressions with parts that are a part of several others: graph variables of Relay."""
    uses = Counter(item for node in preorder(function) for item in children(node) if isinstance(item, Expr))
    return frozenset(item for item, count in uses.items() if count > 1 and children(item))


@dataclass(frozen=True, slots=True)
class _AstPrinter:
    """Prints the nodes of one function. A variable is shown with its class where it is defined, then by name."""

    names: FunctionNames
    shared: frozenset[Node] = frozenset()
    shown: set[Buffer] = field(default_factory=set[Buffer])
    numbers: dict[Node, int] = field(default_factory=dict[Node, int])

    def show(self, node: Node) -> Piece:
        """Show a node."""
        return Piece(node, self._shown_once(node) if node in self.shared else self._parts(node))

    def _shown_once(self, node: Node) -> Iterator[Part]:
        number = self.numbers.get(node)
        if number is not None:
            yield f"#{number}"
            return
        self.numbers[node] = number = len(self.numbers)
        yield f"#{number} = "
        yield from self._parts(node)

    def _scalar(self, expr: PrimExpr) -> Part:
        """Show a scalar as TVMScript does."""
        emitter = MarkingEmitter()
        return Ready(*emitter.unmarked(emitter.whole(self._scalars(emitter).show(expr))))

    def _scalars(self, emitter: Emitter) -> ScalarPrinter:
        return ScalarPrinter(self.names.__getitem__, "int64", emitter=emitter)

    def _type(self, type_: Type) -> Part:
        emitter = MarkingEmitter()
        printer = TypePrinter(SPELLINGS["2026"], self._scalars(emitter))
        return Ready(*emitter.unmarked(emitter.whole(printer.show(type_))))

    def _parts(self, node: Node) -> Iterator[Part]:
        match node:
            case Function():
                yield self._function(node)
            case BindingBlock(bindings=bindings):
                yield from _listed(f"{type(node).__name__}(", [self.show(item) for item in bindings], ")")
            case Binding():
                yield self._binding(node)
            case Call():
                yield self._call(node)
            case SeqExpr(blocks=blocks, body=body):
                items: list[Part] = [self.show(item) for item in blocks]
                yield from _listed("SeqExpr(", [*items, _named("body", self.show(body))], ")")
            case If(condition=condition, true_branch=a, false_branch=b):
                branches = [("condition", condition), ("true_branch", a), ("false_branch", b)]
                yield from _listed("If(", [_named(name, self.show(item)) for name, item in branches], ")")
            case Constructor(name=name):
                yield f"Constructor({quoted(name)})"
            case Let(var=var, value=value, body=body):
                yield from ("Let(", self._definition(var), ", ", self.show(value), ",", Layout.NEWLINE)
                yield from (self.show(body), ")")
            case PatternVar(var=var):
                yield from ("PatternVar(", self._definition(var), ")")
            case Match() | RefCreate() | RefRead() | RefWrite():
                yield self._generic(node)
            case Expr():
                yield self._leaf(node)
            case PrimExpr():
                yield self._scalar(node)
            case _:
                yield self._generic(node)

    def _leaf(self, expr: Expr) -> Iterator[Part]:
        match expr:
            case Var():
                yield self.names[expr]
            case GlobalVar(name=name) | ExternFunc(name=name) | Op(name=name):
                yield f"{type(expr).__name__}({quoted(name)})"
            case Constant() if (reference := reference_of(expr)) is not None:
                yield f"Constant({quoted(reference)})"
            case Constant(data=data):
                yield f"Constant({constant(data)})"
            case PrimValue(value=value):
                yield from ("PrimValue(", self.show(value), ")")
            case DataTypeImm(value=dtype):
                yield f"DataTypeImm({quoted(dtype)})"
            case Null():
                yield "Null()"
            case ShapeExpr(values=values):
                yield from ("ShapeExpr(", joined(self.show(item) for item in values), ")")
            case Tuple(fields=items):
                yield _in_brackets([self.show(item) for item in items])
            case TupleGetItem(tuple_value=value, index=index):
                yield from ("TupleGetItem(", self.show(value), f", {index})")
            case _:
                raise AssertionError(type(expr).__name__)

    def _call(self, call: Call) -> Iterator[Part]:
        """`call_tir` and its kin show their results as `output_shape` and `output_dtype`, as the RFC writes them."""
        items: list[Part] = [_named("op", self.show(call.op))]
        spec = find(call.op.name) if isinstance(call.op, Op) else None
        is_dps = spec is not None and spec.name in _DPS
        items += [self.show(item) for item in call.args]
        match call.type_args:
            case (TensorType(shape=tuple() as dims, dtype=str(dtype), vdevice=None),) if is_dps:
                items.append(_named("output_shape", _in_brackets([self.show(item) for item in dims])))
                items.append(f"output_dtype={quoted(dtype)}")
            case (TensorType(shape=Var() as var, dtype=str(dtype), vdevice=None),) if is_dps:
                items.append(_named("output_shape", self.show(var)))
                items.append(f"output_dtype={quoted(dtype)}")
            case ():
                pass
            case types:
                items.append(_named("type_args", _in_brackets([self._type(item) for item in types])))
        items += [f"{key}={attribute(value)}" for key, value in call.attrs]
        yield from ("Call(", joined(items), ")")

    def _definition(self, var: Var) -> Piece:
        name = "_" if self.names.is_discarded(var) else self.names[var]
        parts: list[Part] = [f"{type(var).__name__}({quoted(name)}"]
        if var.annotation is not None:
            parts += [", ", self._type(var.annotation)]
        return Piece(var, [*parts, ")"])

    def _binding(self, binding: Binding) -> Iterator[Part]:
        match binding:
            case VarBinding(var=var, value=value):
                yield from ("VarBinding(", self._definition(var), ", ", self.show(value), ")")
            case MatchCast(var=var, value=value, type=type_):
                yield from ("MatchCast(", self._definition(var), ", ", self.show(value), ", ", self._type(type_), ")")
            case _:
                raise AssertionError(type(binding).__name__)

    def _function(self, function: Function) -> Iterator[Part]:
        items: list[Part] = [_named("params", _in_brackets([self._definition(item) for item in function.params]))]
        if function.ret_type is not None:
            items.append(_named("ret_type", self._type(function.ret_type)))
        items += self._flags(function.attrs, {"is_pure": function.is_pure, "is_private": function.is_private})
        yield from _listed("Function(", [*items, _named("body", self.show(function.body))], ")")

    def _flags(self, attrs: Attrs, flags: dict[str, bool]) -> list[Part]:
        defaults = {"is_pure": True, "is_private": False}
        shown: list[Part] = [f"{key}={value}" for key, value in flags.items() if value != defaults[key]]
        return [f"attrs={attributes(attrs)}", *shown] if attrs else shown

    def _generic(self, node: Node) -> Iterator[Part]:
        """Show a node of TIR by its fields; those that hold nothing are left out."""
        if isinstance(node, Buffer):
            if node in self.shown:
                yield self.names[node]
                return
            self.shown.add(node)
        items = [
            _named(item.name, self._value(value))
            for item in fields(node)
            if item.name != "span" and (value := getattr(node, item.name)) not in (None, ())
        ]
        yield from _listed(f"{type(node).__name__}(", cast("list[Part]", items), ")")

    def _value(self, value: object) -> Part:
        match value:
            case Node():
                return self.show(value)
            case tuple() if any(isinstance(item, Node) for item in cast("tuple[object, ...]", value)):
                nodes = cast("tuple[Node, ...]", value)
                are_leaves = all(isinstance(item, PrimExpr) for item in nodes)
                shown: list[Part] = [self.show(item) for item in nodes]
                return _in_brackets(shown) if are_leaves else _listed("(", shown, ")")
            case str():
                return quoted(value)
            case _:
                return repr(value)
