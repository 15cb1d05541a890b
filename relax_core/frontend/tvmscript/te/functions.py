"""Read the Python function of `R.emit_te(f, x)`: its `te.compute` as prim funcs, calls of TOPI as operators.

The function is data: its statements are looked at, one after the other, and never run. What is read is the part of
Python that tensor expressions are written in: assignments, `return`, and functions of one expression for elements.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Never

from relax_core.frontend.tvmscript.context import source_of
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.relax.variable_parts import known_type
from relax_core.frontend.tvmscript.scalar.scalar_calls import KNOWN_CALLS
from relax_core.frontend.tvmscript.scalar.scalars import ScalarReader
from relax_core.frontend.tvmscript.te.compute import (
    INDEX,
    MAX_PARTS,
    Compute,
    ReduceAxis,
    Tensor,
    TeValue,
    element_of,
    has_too_many_parts,
)
from relax_core.frontend.tvmscript.te.words import Rewritten, te_call, topi_call
from relax_core.ir.expr import (
    Call,
    DataflowVar,
    Expr,
    GlobalVar,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Var,
    VarBinding,
)
from relax_core.ir.prim import PrimExpr, const, dtype_of
from relax_core.ops.kernels.te import known
from relax_core.ops.spec import Legalized
from relax_core.source import Span

_INFIX: Final[Mapping[type[ast.operator], str]] = MappingProxyType(
    {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}
)
_HINT: Final = (
    "te.compute, te.sum, te.max and te.min of reduce_axis, and TOPI's functions are read; print the module with TVM "
    "and open what it prints"
)
ReadTopi = Callable[[RelaxReader, ast.Call], Expr]


@dataclass(slots=True)
class TeFunction:
    """Reads one function; `name` is the wish for the names of its prim funcs, and `topi` reads a call of TOPI.

    `values` are what names stand for, and `literals` those that stand for numbers, words and lists of them.
    """

    reader: RelaxReader
    name: str
    topi: ReadTopi
    values: dict[str, TeValue] = field(default_factory=dict[str, "TeValue"])
    literals: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])

    def called(self, function: ast.Lambda | ast.FunctionDef, call: ast.Call, args: list[ast.expr]) -> Expr:
        """Return what a call of the function gives.

        Raises:
            Failed: PA004, the function has something that is not read; PA006, its parameters do not fit.
        """
        self._bind(function, call, args)
        if isinstance(function, ast.Lambda):
            return self._result(function.body)
        for statement in function.body:
            match statement:
                case ast.Expr(value=ast.Constant()):
                    pass
                case ast.Return(value=ast.expr() as value):
                    return self._result(value)
                case ast.FunctionDef(name=name, decorator_list=[]):
                    self.values[name] = statement
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value)
                case _:
                    self._refuse(statement)
        raise self.reader.context.unsupported(function, f"`{function.name}`, which returns nothing,")

    def _refuse(self, node: ast.stmt | ast.expr) -> Never:
        raise self.reader.context.unsupported(node, f"`{source_of(node)}` in a function of `R.emit_te`", _HINT)

    def _bind(self, function: ast.Lambda | ast.FunctionDef, call: ast.Call, args: list[ast.expr]) -> None:
        """Let the parameters stand for the arguments, which are read where the call stands."""
        arguments, context = function.args, self.reader.context
        names = [item.arg for item in [*arguments.posonlyargs, *arguments.args]]
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            raise context.unsupported(function, "a function of `R.emit_te` with `*` among its parameters")
        given = dict(zip(names, args, strict=False))
        given |= {item.arg: item.value for item in call.keywords if item.arg in names}
        defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
        strange = [item.value for item in call.keywords if item.arg not in names and item.arg != "primfunc_name_hint"]
        if len(args) > len(names) or any(name not in given and name not in defaults for name in names):
            raise context.fail(
                "PA006", call, f"`{source_of(call)}`: the function takes {', '.join(names) or 'nothing'}"
            )
        if strange:
            raise context.unsupported(strange[0], f"the argument `{source_of(strange[0])}` of `R.emit_te`")
        for name, value in {**defaults, **given}.items():
            self._define(name, value)

    def _define(self, name: str, node: ast.expr) -> None:
        """Let a parameter stand for an argument of the call."""
        if _is_literal(node):
            self.literals[name] = node
            return
        items = node.elts if isinstance(node, ast.List | ast.Tuple) else None
        if items is not None:
            self.values[name] = tuple(self._tensor(self.reader.expr(item), item, name) for item in items)
            return
        found = self.reader.expr(node)
        match found:
            case PrimValue(value=value):
                self.values[name] = value
            case ShapeExpr(values=values):
                self.values[name] = values
            case _ if (scalar := self.reader.prims.scalar(found, self.reader.bindings, self._span(node))) is not None:
                self.values[name] = scalar
            case _:
                self._name(name, self._tensor(found, node, name))

    def _span(self, node: ast.expr) -> Span:
        return self.reader.context.span(node)

    def _name(self, name: str, value: TeValue) -> None:
        """Let a name stand for a value, for TOPI's functions too if it is a tensor."""
        self.values[name] = value
        self.literals.pop(name, None)
        if isinstance(value, Tensor):
            self.reader.scope.define(name, value.var)

    def _tensor(self, value: Expr, node: ast.expr, name: str) -> Tensor:
        """Return a tensor whose shape and dtype are known, bound to a variable."""
        type_ = known_type(self.reader.prims, value)
        found = None if type_ is None else known(type_)
        if found is None:
            hint = 'declare it, x: R.Tensor((n, 4), "float32")'
            words = f"`{source_of(node)}`, a tensor of unknown shape or dtype,"
            raise self.reader.context.unsupported(node, words, hint)
        return Tensor(value if isinstance(value, Var) else self._bound(value, name, node), found)

    def _bound(self, value: Expr, name: str, node: ast.expr) -> Var:
        span = self._span(node)
        var = (DataflowVar if self.reader.prims.is_dataflow else Var)(name, span=span)
        self.reader.bindings.append(VarBinding(var, value, span=span))
        self.reader.prims.note(var, value)
        return var

    def _assign(self, target: ast.expr, node: ast.expr) -> None:
        if isinstance(target, ast.Name) and _is_literal(node):
            self.literals[target.id] = node
            self.values.pop(target.id, None)
            return
        value = self._value(node, target.id if isinstance(target, ast.Name) else "te")
        if has_too_many_parts(value):
            raise self.reader.context.unsupported(node, f"`{source_of(node)}`, which has more than {MAX_PARTS} parts,")
        match target, value:
            case ast.Name(id=name), _:
                self._name(name, value)
            case ast.Tuple(elts=names) | ast.List(elts=names), tuple() if len(names) == len(value) and all(
                isinstance(item, ast.Name) for item in names
            ):
                for item, part in zip(names, value, strict=True):
                    assert isinstance(item, ast.Name)
                    self._name(item.id, part)
            case _:
                self._refuse(target)

    def _result(self, node: ast.expr) -> Expr:
        if isinstance(node, ast.Tuple | ast.List):
            return Tuple(tuple(self._result(item) for item in node.elts), span=self._span(node))
        match self._value(node, self.name):
            case Tensor(var=var):
                # The last binding is the value of the call itself.
                last = self.reader.bindings[-1] if self.reader.bindings else None
                if isinstance(last, VarBinding) and last.var is var:
                    self.reader.bindings.pop()
                    return last.value
                return var
            case tuple() as items if items and all(isinstance(item, Tensor) for item in items):
                return Tuple(tuple(item.var for item in items if isinstance(item, Tensor)), span=self._span(node))
            case _:
                self._refuse(node)

    def _value(self, node: ast.expr, name: str) -> TeValue:
        match node:
            case ast.Name(id=given) if given in self.values:
                return self.values[given]
            case ast.Lambda():
                return node
            case ast.Call() if te_call(node) == "compute":
                return self._computed(node, name)
            case ast.Call() if te_call(node) == "reduce_axis":
                return self._reduce_axis(node, name)
            case ast.Call() if topi_call(node):
                return self._of_topi(node, name)
            case ast.Subscript(value=several, slice=ast.Constant(value=int(place))) if self._is_list(several) and (
                isinstance(items := self._value(several, name), tuple) and 0 <= place < len(items)
            ):
                return items[place]
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _INFIX and self._is_tensor(left, right):
                func = ast.Attribute(ast.Name("topi", ast.Load()), _INFIX[type(op)], ast.Load())
                made = ast.Call(func, [left, right], [])
                _locate(made, node)
                return self._of_topi(made, name)
            case ast.Attribute(value=ast.Name(id=given), attr="shape") if isinstance(
                tensor := self.values.get(given), Tensor
            ):
                return tensor.type.dims
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self._value(item, name) for item in items)
            case ast.BinOp(op=ast.Add(), left=left, right=right) if self._is_list(left) or self._is_list(right):
                return (*self._dims(left), *self._dims(right))
            case ast.Call() if (te_call(node) and te_call(node) not in KNOWN_CALLS) or not _is_scalar_call(node):
                self._refuse(node)
            case _:
                return self._scalars().read(self._rewritten(node))

    def _is_tensor(self, *nodes: ast.expr) -> bool:
        return any(
            te_call(item) == "compute" or topi_call(item)
            or (isinstance(item, ast.Name) and isinstance(self.values.get(item.id), Tensor))
            for item in nodes
        )  # fmt: skip

    def _is_list(self, node: ast.expr) -> bool:
        match node:
            case ast.Tuple() | ast.List():
                return True
            case ast.Attribute(attr="shape"):
                return True
            case ast.Call():
                return topi_call(node) == "split"
            case ast.Name(id=name):
                return isinstance(self.values.get(name), tuple)
            case _:
                return False

    def _rewritten(self, node: ast.expr) -> ast.expr:
        dtypes = {name: item.type.dtype for name, item in self.values.items() if isinstance(item, Tensor)}
        return Rewritten(self.literals, dtypes).expr(node)

    def _scalars(self) -> ScalarReader:
        return ScalarReader(self.reader.context, self._scalar, self._dim, INDEX)

    def _scalar(self, node: ast.Name) -> PrimExpr:
        found = self.values.get(node.id)
        if isinstance(found, PrimExpr):
            return found
        if found is None:
            raise self.reader.context.fail_undefined(node, "")
        raise self.reader.context.fail("PA009", node, f"`{node.id}` is no scalar")

    def _dim(self, node: ast.Subscript) -> PrimExpr:
        items = self._value(node.value, "te")
        match node.slice:
            case ast.Constant(value=int(place)) if isinstance(items, tuple) and place < len(items):
                found = items[place]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(place))) if isinstance(
                items, tuple
            ) and 0 < place <= len(items):
                found = items[-place]
            case _:
                self._refuse(node)
        return found if isinstance(found, PrimExpr) else self._refuse(node)

    def _dims(self, node: ast.expr) -> tuple[PrimExpr, ...]:
        value = self._value(node, "te")
        items = value if isinstance(value, tuple) else (value,)
        dims = tuple(item for item in items if isinstance(item, PrimExpr))
        if strange := [item for item in dims if not dtype_of(item).startswith(("int", "uint"))]:
            words = f"`{source_of(node)}` is no shape: a size is an integer, and not a {dtype_of(strange[0])}"
            raise self.reader.context.fail("PA009", node, words)
        return dims if len(dims) == len(items) else self._refuse(node)

    def _computed(self, node: ast.Call, name: str) -> Tensor:
        """Read a `te.compute`: its prim func joins the module, and its call is bound to a variable."""
        context = self.reader.context
        given = dict(zip(("shape", "fcompute", "name", "tag", "attrs"), node.args, strict=False))
        given |= {item.arg or "**": item.value for item in node.keywords}
        match given:
            case {"shape": shape, "fcompute": function}:
                pass
            case _:
                raise context.fail("PA006", node, f"`{source_of(node)}` lacks a shape or a function of an element")
        if strange := [value for key, value in given.items() if key not in ("shape", "fcompute", "name", "tag")]:
            raise context.unsupported(strange[0], f"the argument `{source_of(strange[0])}` of `te.compute`")
        found = self._value(function, name)
        if not isinstance(found, ast.Lambda | ast.FunctionDef):
            self._refuse(function)
        body = self._rewritten(element_of(context, found))
        made = Compute(context, self.name, self.values).made(node, self._dims(shape), found.args, body)
        return self._tensor(self._call(made, node), node, name)

    def _call(self, made: Legalized, node: ast.expr) -> Call:
        context, span = self.reader.context, self._span(node)
        taken = {*self.reader.module.functions, *(item.name for item in (*context.inner_functions, *context.made))}
        name, count = made.name, 1
        while name in taken:
            name, count = f"{made.name}_{count}", count + 1
        var = GlobalVar(name, span=span)
        context.made[var] = replace(made.prim_func, span=span)
        scalars = (ShapeExpr(made.tir_vars, span=span),) if made.tir_vars else ()
        args = (var, Tuple(made.args, span=span), *scalars)
        return Call(Op("relax.call_tir", span=span), args, (), made.out, span=span)

    def _reduce_axis(self, node: ast.Call, name: str) -> ReduceAxis:
        context = self.reader.context
        match node.args:
            case [ast.Tuple(elts=[start, stop]) | ast.List(elts=[start, stop]), *rest] if len(rest) < 2:
                pass
            case _:
                raise context.unsupported(node, f"`{source_of(node)}`", 'write te.reduce_axis((0, n), name="k")')
        low, high = (self._scalars().read(self._rewritten(item)) for item in (start, stop))
        said = [item.value for item in node.keywords if item.arg == "name"] + node.args[1:]
        word = said[0].value if said and isinstance(said[0], ast.Constant) else name
        is_zero = isinstance(start, ast.Constant) and start.value == 0
        length = ast.copy_location(ast.BinOp(stop, ast.Sub(), start), node)
        extent = high if is_zero else self._scalars().read(self._rewritten(length))
        return ReduceAxis(str(word), const(0) if is_zero else low, extent)

    def _of_topi(self, node: ast.Call, name: str) -> TeValue:
        """Read a call of TOPI, whose arguments are tensors by name, or lists of such."""
        args = [self._argument(item) for item in node.args]
        named = [ast.copy_location(ast.keyword(item.arg, self._argument(item.value)), item) for item in node.keywords]
        made = self.topi(self.reader, ast.copy_location(ast.Call(node.func, [node.func, *args], named), node))
        type_ = known_type(self.reader.prims, made)
        if isinstance(type_, TupleType):
            var = self._bound(made, name, node)
            return tuple(
                self._tensor(TupleGetItem(var, place, span=self._span(node)), node, name)
                for place in range(len(type_.fields))
            )
        return self._tensor(made, node, name)

    def _argument(self, node: ast.expr) -> ast.expr:
        """Return an argument of TOPI: a tensor that is computed in it gets a name first."""
        match node:
            case ast.List(elts=items):
                return ast.copy_location(ast.List([self._argument(item) for item in items], ast.Load()), node)
            case ast.Tuple(elts=items):
                return ast.copy_location(ast.Tuple([self._argument(item) for item in items], ast.Load()), node)
            case ast.Subscript(value=several) if self._is_list(several) and isinstance(
                part := self._value(node, "te"), Tensor
            ):
                name = f"te_{len(self.values)}"
                self._name(name, part)
                return ast.copy_location(ast.Name(name, ast.Load()), node)
            case ast.Call() | ast.BinOp() if self._is_tensor(node, *_operands(node)):
                name = f"te_{len(self.values)}"
                self._name(name, self._value(node, name))
                return ast.copy_location(ast.Name(name, ast.Load()), node)
            case ast.Name(id=name) if isinstance(items := self.values.get(name), tuple):
                names = [f"te_{len(self.values)}_{place}" for place in range(len(items))]
                for word, item in zip(names, items, strict=True):
                    self._name(word, item)
                made = ast.List([ast.Name(word, ast.Load()) for word in names], ast.Load())
                _locate(made, node)
                return made
            case _:
                return self._rewritten(node)


def _operands(node: ast.expr) -> tuple[ast.expr, ...]:
    return (node.left, node.right) if isinstance(node, ast.BinOp) else ()


def _locate(made: ast.expr, node: ast.expr) -> None:
    """Give what was made in the place of `node` its place in the text."""
    for item in ast.walk(made):
        if isinstance(item, ast.expr) and not hasattr(item, "lineno"):
            ast.copy_location(item, node)


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return bool(items) and all(map(_is_literal, items))
        case _:
            return False


def _is_scalar_call(node: ast.Call) -> bool:
    rewritten = Rewritten({}, {}).expr(node)
    match rewritten:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="T"))) | ast.BoolOp():
            return True
        case _:
            return False
