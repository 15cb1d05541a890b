"""Print Relax functions: signatures, blocks of bindings, results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relax_core.frontend.tvmscript.relax.calls import match_shape_type
from relax_core.ir import absent
from relax_core.ir.equality import same_type
from relax_core.ir.expr import (
    LEAVES,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Dims,
    Expr,
    Function,
    If,
    MatchCast,
    Op,
    PrimType,
    SeqExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import IntImm, PrimVar
from relax_core.ir.rewriting.substitute import type_nodes
from relax_core.printer.emitter import Emitter
from relax_core.printer.literals import attributes
from relax_core.printer.naming import FunctionNames
from relax_core.printer.printed import INDENT
from relax_core.printer.relax_expr import ExprPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.types import TypePrinter

_LEAVES = frozenset((*LEAVES, DataflowVar))
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
    """Prints a function of a module, with the local functions in it. `types` are inferred types to show as well.

    An `indent` is the line break in front of a line and the spaces behind it.
    """

    spelling: Wording
    names: FunctionNames
    module_name: str
    types: Mapping[Node, Type]
    exprs: ExprPrinter
    emitter: Emitter

    def show(self, function: Function, name: str, indent: str, *, is_local: bool = False) -> str:
        """Show a function under a name; its first line stands at `indent` already."""
        # Strings in a signature define dimensions; those of a local function the outer one has declared already.
        is_defining = not is_local or self.spelling.name != "2023"
        types = TypePrinter(self.spelling, self.exprs.scalars, is_defining)
        signature = ExprPrinter(self.spelling, self.names, types, self.emitter)
        params = ", ".join([self._param(item, signature) for item in function.params])
        result = f" -> {signature.type(function.ret_type)}" if function.ret_type is not None else ""
        inner = indent + INDENT
        lines = [f"{_decorator(function)}{indent}def {name}({params}){result}:"]
        if function.attrs:
            lines.append(f"R.func_attr({attributes(function.attrs)})")
        if not is_local:
            lines += self._declarations(function)
        return inner.join(lines) + self.emitter.nested(self._sequence, function.body, None, inner)

    def _param(self, param: Var, signature: ExprPrinter) -> str:
        type_ = self._annotation(param)
        if param in self.names.scalars and isinstance(type_, PrimType):
            type_ = PrimType(type_.dtype)
        name = self.names[param]
        return self.emitter.mark(param, name if type_ is None else f"{name}: {signature.type(type_)}")

    def _declarations(self, function: Function) -> Iterator[str]:
        """Show `cls = Module`, and the symbolic dimensions that the signature does not make known."""
        if self.names.uses_globals and self.spelling.name != "2022":
            yield f"cls = {self.module_name}"
        implicit = implicit_symbols(function, self.spelling)
        for symbol in self.names.symbols:
            if symbol not in implicit:
                yield f"{self.exprs.scalars.variable(symbol)} = T.{symbol.dtype}()"

    def _sequence(self, expr: Expr, target: "_Target | None", indent: str) -> str:
        """Show bindings and then a result: returned, or assigned to `target` at the end of a branch."""
        blocks, body = (expr.blocks, expr.body) if isinstance(expr, SeqExpr) else ((), expr)
        lines = [self._block(block, indent) for block in blocks]
        match body:
            case SeqExpr():
                lines.append(self.emitter.nested(self._sequence, body, target, indent))
            case If():
                lines += (self._hoist(body.condition, indent), indent)
                lines.append(self.emitter.mark(body, self._if(body, target, indent)))
            case Function() if target is not None:
                lines += (indent, self.emitter.mark(body, self.show(body, target.name, indent, is_local=True)))
            case _:
                lines += (self._hoist(body, indent), indent)
                lines.append(self._start(target) if target is not None else "return ")
                lines.append(self.exprs.show(body))
        return "".join(lines)

    def _start(self, target: "_Target") -> str:
        if target.annotation is None:
            return f"{target.name} = "
        return f"{target.name}: {self.exprs.type(target.annotation)} = "

    def _if(self, expr: If, target: "_Target | None", indent: str) -> str:
        condition = self.exprs.show(expr.condition)
        branches = (self._branch(item, target, indent + INDENT) for item in (expr.true_branch, expr.false_branch))
        return f"if {condition}:{next(branches)}{indent}else:{next(branches)}"

    def _branch(self, branch: Expr, target: "_Target | None", indent: str) -> str:
        return self.emitter.mark(branch, self.emitter.nested(self._sequence, branch, target, indent))

    def _block(self, block: BindingBlock, indent: str) -> str:
        if not isinstance(block, DataflowBlock):
            return self.emitter.mark(block, "".join([self._binding(item, indent) for item in block.bindings]))
        inner = indent + INDENT
        shown = "".join([self._binding(item, inner) for item in block.bindings])
        outputs = [item.var for item in block.bindings if not isinstance(item.var, DataflowVar)]
        names = ", ".join([self.exprs.show(item) for item in outputs])
        word = "R.output" if self.spelling.name != "2022" else "R.outputs"
        return self.emitter.mark(block, f"{indent}with R.dataflow():{shown}{inner}{word}({names})")

    def _binding(self, binding: Binding, indent: str) -> str:
        mark = self.emitter.mark
        match binding:
            case VarBinding(var=var, value=Call(op=Op(name=absent.NO_VALUE), type_args=(type_,))):
                return indent + mark(binding, mark(var, f"{self.names[var]}: {self.exprs.type(type_)}"))
            case VarBinding(var=var, value=Call() as value) if self.names.is_straight or _is_plain(value):
                return indent + mark(binding, self._assigned(var, value) + self.exprs.call(value))
            case VarBinding(var=var, value=Function() as function):
                shown = self.show(function, self.names[var], indent, is_local=True)
                return indent + mark(binding, mark(var, mark(function, shown)))
            case VarBinding(var=var, value=(If() | SeqExpr()) as value):
                target = _Target(self.names[var], self._annotation(var))
                before = self._hoist_in_front(value, indent)
                return before + mark(binding, self._compound(value, target, indent))
            case VarBinding(var=var, value=value):
                before = self._hoist(value, indent)
                return f"{before}{indent}{mark(binding, self._assigned(var, value) + self.exprs.show(value))}"
            case MatchCast(var=var, value=value, type=PrimType(dtype=dtype)) if var in self.names.scalars:
                before = self._hoist(value, indent)
                declared = mark(var, f"{self.names[var]}: {self.exprs.type(PrimType(dtype))}")
                return f"{before}{indent}{mark(binding, f'{declared} = {self.exprs.show(value)}')}"
            case MatchCast(var=var, value=value):
                before = self._hoist(value, indent)
                return f"{before}{indent}{mark(binding, self._assigned(var, None) + self._match(binding))}"
            case _:
                raise AssertionError(type(binding).__name__)

    def _compound(self, value: Expr, target: "_Target", indent: str) -> str:
        if isinstance(value, If):
            return indent + self.emitter.mark(value, self._if(value, target, indent))
        return self._branch(value, target, indent)

    def _assigned(self, var: Var, value: Expr | None) -> str:
        """Show `x: T = ` in front of a value or a match, or nothing.

        Since 2025 only void values are statements; matches were in 2022 alone, and TVM reads no such statement.
        """
        type_ = var.annotation if var.annotation is not None else self.types.get(var)
        if var.name != "_" or not self.names.is_discarded(var):
            name = self.names[var]
        elif value is None and self.spelling.name != "2022":
            name = "_"
        elif var.annotation is None and (not self.spelling.binds_values or value is None or _is_void(value)):
            return ""
        else:
            name = "_"
        return f"{self.emitter.mark(var, name if type_ is None else f'{name}: {self.exprs.type(type_)}')} = "

    def _annotation(self, var: Var) -> Type | None:
        return var.annotation if var.annotation is not None else self.types.get(var)

    def _match(self, binding: MatchCast) -> str:
        """2022 matches a shape where that says all that the type does."""
        value = self.exprs.show(binding.value)
        dims = _dims(binding.type)
        is_shape = dims is not None and same_type(match_shape_type(binding.value, dims), binding.type)
        if self.spelling.name == "2022" and is_shape and dims is not None:
            return f"R.match_shape({value}, {self.exprs.types.tuple_of_dims(dims)})"
        return f"R.match_cast({value}, {self.exprs.type(binding.type)})"

    def _hoist_in_front(self, value: Expr, indent: str) -> str:
        return self._hoist(value.condition, indent) if isinstance(value, If) else ""

    def _hoist(self, value: Expr, indent: str) -> str:
        """Give a name to every part of `value` that TVMScript can only write as a statement."""
        if self.names.is_straight:
            return ""
        lines: list[str] = []
        for item in _statements_in(value):
            name = self.names.fresh("f" if isinstance(item, Function) else "v")
            if isinstance(item, Function):
                lines += (indent, self.emitter.mark(item, self.show(item, name, indent, is_local=True)))
            else:
                lines.append(self._hoist_in_front(item, indent))
                lines.append(self._compound(item, _Target(name, None), indent))
            self.exprs.hoisted[item] = name
        return "".join(lines)


@dataclass(frozen=True, slots=True)
class _Target:
    """The name that the value of a branch is assigned to, and the type declared for it."""

    name: str
    annotation: Type | None


def _decorator(function: Function) -> str:
    flags = [*(["private=True"] if function.is_private else []), *([] if function.is_pure else ["pure=False"])]
    return f"@R.function({', '.join(flags)})" if flags else "@R.function"


def _statements_in(value: Expr) -> list[Expr]:
    """Return the parts of a value that need statements of their own, in the order in which they are written."""
    if isinstance(value, Function):
        return [value]
    found: list[Expr] = []
    stack = [value]
    while stack:
        for child in children(stack.pop()):
            if isinstance(child, Function | If | SeqExpr) and not _is_inline(child):
                found.append(child)
            elif isinstance(child, Expr):
                stack.append(child)
    return found[::-1]


def _is_plain(value: Call) -> bool:
    """Tell quickly that no part of a call needs a name of its own; most are such."""
    return type(value.op) in _LEAVES and all(
        type(item) in _LEAVES or (isinstance(item, Tuple) and _LEAVES.issuperset(map(type, item.fields)))
        for item in value.args
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
    types: list[Type] = [*{item.annotation: None for item in function.params if item.annotation is not None}]
    if spelling.name == "2022":
        types += [node.type for node in preorder(function) if isinstance(node, MatchCast)]
    # Literals are most of the roots, and say nothing.
    roots = [root for type_ in types for root in type_nodes(type_) if type(root) is not IntImm]
    found: set[PrimVar] = set()
    for root in roots:
        if type(root) is PrimVar:
            found.add(root)
        else:
            found.update(node for node in preorder(root) if isinstance(node, PrimVar))
    return {item for item in found if item.dtype == "int64"}
