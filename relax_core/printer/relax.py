"""Print Relax functions: signatures, blocks of bindings, results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relax_core.frontend.tvmscript.relax_calls import match_shape_type
from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    LEAVES,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.substitute import type_nodes
from relax_core.ir.types import Dims, ShapeType, TensorType, TupleType, Type
from relax_core.printer.literals import attributes
from relax_core.printer.naming import FunctionNames
from relax_core.printer.printed import Layout, Part, Piece, joined
from relax_core.printer.relax_expr import ExprPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.types import TypePrinter

_VOID_OPS = (
    "relax.print",
    "relax.assert_op",
    "relax.memory.kill_tensor",
    "relax.memory.kill_storage",
    "relax.vm.kill_object",
    "relax.vm.call_tir_dyn",
)


@dataclass(frozen=True, slots=True)
class FunctionPrinter:
    """Prints a function of a module, with the local functions in it. `types` are inferred types to show as well."""

    spelling: Wording
    names: FunctionNames
    module_name: str
    types: Mapping[Node, Type]
    exprs: ExprPrinter

    def show(self, function: Function, name: str, *, is_local: bool = False) -> Iterator[Part]:
        """Show a function under a name."""
        yield self._decorator(function)
        yield Layout.NEWLINE
        # Strings in a signature define dimensions; those of a local function the outer one has declared already.
        is_defining = not is_local or self.spelling.name != "2023"
        signature = TypePrinter(self.spelling, self.names.__getitem__, is_signature=is_defining)
        yield from (f"def {name}(", joined(self._param(item, signature) for item in function.params), ")")
        if function.ret_type is not None:
            yield from (" -> ", signature.show(function.ret_type))
        yield from (":", Layout.DEEPER)
        if function.attrs:
            yield from (Layout.NEWLINE, f"R.func_attr({attributes(function.attrs)})")
        if not is_local:
            yield from self._declarations(function)
        yield from self._sequence(function.body, None)
        yield Layout.BACK

    def _decorator(self, function: Function) -> str:
        flags = [*(["private=True"] if function.is_private else []), *([] if function.is_pure else ["pure=False"])]
        return f"@R.function({', '.join(flags)})" if flags else "@R.function"

    def _param(self, param: Var, signature: TypePrinter) -> Piece:
        type_ = param.annotation if param.annotation is not None else self.types.get(param)
        parts: list[Part] = [self.names[param]]
        if type_ is not None:
            parts += [": ", signature.show(type_)]
        return Piece(param, parts)

    def _declarations(self, function: Function) -> Iterator[Part]:
        """Show `cls = Module`, and the symbolic dimensions that the signature does not make known."""
        if self.names.uses_globals and self.spelling.name != "2022":
            yield from (Layout.NEWLINE, f"cls = {self.module_name}")
        implicit = implicit_symbols(function, self.spelling)
        for symbol in self.names.symbols:
            if symbol not in implicit:
                yield from (Layout.NEWLINE, Piece(symbol, (self.names[symbol],)), f" = T.{symbol.dtype}()")

    def _sequence(self, expr: Expr, target: "_Target | None") -> Iterator[Part]:
        """Show bindings and then a result: returned, or assigned to `target` at the end of a branch."""
        blocks, body = (expr.blocks, expr.body) if isinstance(expr, SeqExpr) else ((), expr)
        for block in blocks:
            yield Piece(block, self._block(block))
        match body:
            case SeqExpr():
                yield self._sequence(body, target)
            case If():
                yield from self._hoist(body.condition)
                yield from (Layout.NEWLINE, Piece(body, self._if(body, target)))
            case Function() if target is not None:
                yield from (Layout.NEWLINE, Piece(body, self.show(body, target.name, is_local=True)))
            case _:
                yield from self._hoist(body)
                yield Layout.NEWLINE
                yield self._target(target) if target is not None else "return "
                yield self.exprs.show(body)

    def _target(self, target: "_Target") -> Iterator[Part]:
        yield target.name
        if target.annotation is not None:
            yield from (": ", self.exprs.type(target.annotation))
        yield " = "

    def _if(self, expr: If, target: "_Target | None") -> Iterator[Part]:
        yield from ("if ", self.exprs.show(expr.condition), ":", Layout.DEEPER)
        yield from (Piece(expr.true_branch, self._sequence(expr.true_branch, target)), Layout.BACK)
        yield from (Layout.NEWLINE, "else:", Layout.DEEPER)
        yield from (Piece(expr.false_branch, self._sequence(expr.false_branch, target)), Layout.BACK)

    def _block(self, block: BindingBlock) -> Iterator[Part]:
        if not isinstance(block, DataflowBlock):
            for binding in block.bindings:
                yield self._binding(binding)
            return
        yield from (Layout.NEWLINE, "with R.dataflow():", Layout.DEEPER)
        for binding in block.bindings:
            yield self._binding(binding)
        outputs = [item.var for item in _bound(block) if not isinstance(item.var, DataflowVar)]
        shown = joined(Piece(item, (self.names[item],)) for item in outputs)
        yield from (
            Layout.NEWLINE,
            "R.output(" if self.spelling.name != "2022" else "R.outputs(",
            shown,
            ")",
            Layout.BACK,
        )

    def _binding(self, binding: Binding) -> Iterator[Part]:
        match binding:
            case VarBinding(var=var, value=Function() as function):
                name = self.names[var]
                parts = Piece(function, self.show(function, name, is_local=True))
                yield from (Layout.NEWLINE, Piece(binding, (Piece(var, (parts,)),)))
            case VarBinding(var=var, value=(If() | SeqExpr()) as value):
                target = _Target(self.names[var], self._annotation(var))
                yield from self._hoist_in_front(value)
                yield Piece(binding, self._compound(value, target))
            case VarBinding(var=var, value=value):
                if not _is_plain(value):
                    yield from self._hoist(value)
                shown = self._assignment(var, self.exprs.show(value), is_void=_is_void(value))
                yield Layout.NEWLINE
                yield Piece(binding, shown)
            case MatchCast(var=var, value=value):
                yield from self._hoist(value)
                yield from (Layout.NEWLINE, Piece(binding, self._assignment(var, self._match(binding), is_void=True)))
            case _:
                raise AssertionError(type(binding).__name__)

    def _compound(self, value: Expr, target: "_Target") -> Iterator[Part]:
        if isinstance(value, If):
            yield from (Layout.NEWLINE, Piece(value, self._if(value, target)))
        else:
            yield Piece(value, self._sequence(value, target))

    def _assignment(self, var: Var, value: Part, *, is_void: bool) -> list[Part]:
        """Show `x: T = value`, or the value alone; 2026 takes only void values as statements."""
        is_bare = self.names.is_discarded(var) and var.annotation is None
        if not is_bare or (self.spelling.name == "2026" and not is_void):
            parts: list[Part] = [self.names[var] if not self.names.is_discarded(var) else "_"]
            if (type_ := self._annotation(var)) is not None:
                parts += [": ", self.exprs.type(type_)]
            return [Piece(var, tuple(parts)), " = ", value]
        return [value]

    def _annotation(self, var: Var) -> Type | None:
        return var.annotation if var.annotation is not None else self.types.get(var)

    def _match(self, binding: MatchCast) -> Iterator[Part]:
        """2022 matches a shape where that says all that the type does."""
        value = self.exprs.show(binding.value)
        dims = _dims(binding.type)
        is_shape = dims is not None and same_type(match_shape_type(binding.value, dims), binding.type)
        if self.spelling.name == "2022" and is_shape and dims is not None:
            yield from ("R.match_shape(", value, ", ", self.exprs.types.tuple_of_dims(dims), ")")
        else:
            yield from ("R.match_cast(", value, ", ", self.exprs.type(binding.type), ")")

    def _hoist_in_front(self, value: Expr) -> Iterator[Part]:
        if isinstance(value, If):
            yield from self._hoist(value.condition)

    def _hoist(self, value: Expr) -> Iterator[Part]:
        """Give a name to every part of `value` that TVMScript can only write as a statement."""
        stack = [value]
        found: list[Expr] = []
        while stack:
            current = stack.pop()
            for child in children(current):
                if isinstance(child, Function | If | SeqExpr) and not _is_inline(child):
                    found.append(child)
                elif isinstance(child, Expr):
                    stack.append(child)
        if isinstance(value, Function):
            found = [value]
        for item in reversed(found):
            name = self.names.fresh("f" if isinstance(item, Function) else "v")
            if isinstance(item, Function):
                yield from (Layout.NEWLINE, Piece(item, self.show(item, name, is_local=True)))
            else:
                yield from self._hoist_in_front(item)
                yield self._compound(item, _Target(name, None))
            self.exprs.hoisted[item] = name


@dataclass(frozen=True, slots=True)
class _Target:
    """The name that the value of a branch is assigned to, and the type declared for it."""

    name: str
    annotation: Type | None


def _bound(block: BindingBlock) -> list[VarBinding | MatchCast]:
    return [item for item in block.bindings if isinstance(item, VarBinding | MatchCast)]


def _is_plain(value: Expr) -> bool:
    """Tell quickly that no part of a value needs a name of its own."""
    return isinstance(value, LEAVES) or (
        isinstance(value, Call)
        and isinstance(value.op, LEAVES)
        and all(isinstance(item, LEAVES) for item in value.args)
    )


def _is_void(value: Expr) -> bool:
    """Tell whether a call returns nothing."""
    match value:
        case Call(op=Op(name=name)):
            return name in _VOID_OPS
        case Call(type_args=(TupleType(fields=()),)):
            return True
        case _:
            return False


def _is_inline(expr: Expr) -> bool:
    """Tell whether a conditional inside an expression, or its branch, can be written as in `a if c else b`."""
    return isinstance(expr, If | SeqExpr) and not any(
        isinstance(node, Function) or (isinstance(node, SeqExpr) and node.blocks) for node in preorder(expr)
    )


def _dims(type_: Type) -> Dims | None:
    match type_:
        case TensorType(shape=tuple() as dims) | ShapeType(values=tuple() as dims):
            return dims
        case _:
            return None


def implicit_symbols(function: Function, spelling: Wording) -> set[PrimVar]:
    """Return the int64 dimensions that need no declaration in the body.

    They are those of the signature in 2026, where the head of the file declares them, and in 2022, which also
    defines those of matched types by writing them. 2023 declares all.
    """
    if spelling.name == "2023":
        return set()
    types: list[Type] = [item.annotation for item in function.params if item.annotation is not None]
    if spelling.name == "2022":
        types += [node.type for node in preorder(function) if isinstance(node, MatchCast)]
    roots = [root for type_ in types for root in type_nodes(type_)]
    found = {node for root in roots for node in preorder(root) if isinstance(node, PrimVar)}
    return {item for item in found if item.dtype == "int64"}
