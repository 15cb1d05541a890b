"""Read Relax expressions."""

import ast
from collections.abc import Mapping
from functools import reduce
from types import MappingProxyType

from relax_core.frontend.tvmscript.context import every, source_of
from relax_core.frontend.tvmscript.literal.numbers import number_of
from relax_core.frontend.tvmscript.literal.values import Items, Literal, TypeValue, Value
from relax_core.frontend.tvmscript.names import PREFIXES, dotted
from relax_core.frontend.tvmscript.relax import calls
from relax_core.frontend.tvmscript.relax.coerce import to_expr, to_scalar
from relax_core.frontend.tvmscript.relax.inspected import inspected
from relax_core.frontend.tvmscript.relax.reader import RelaxReader
from relax_core.frontend.tvmscript.relax.variable_parts import (
    TYPE_PARTS,
    declared_tensor,
    declared_type,
    dtype_of_variable,
    plain_part,
    shape_of,
)
from relax_core.frontend.tvmscript.scalar.scalars import BINARY, Operand
from relax_core.ir.expr import Call, Expr, If, Op, PrimValue, SeqExpr, ShapeExpr, TensorType, TupleGetItem, Var
from relax_core.ir.prim import PrimExpr
from relax_core.ops import find
from relax_core.ops.spec import default_expr
from relax_core.source import Span

OPERATORS: Mapping[type[ast.AST], str] = MappingProxyType(
    {
        ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
        ast.Mod: "mod", ast.Pow: "power", ast.MatMult: "matmul", ast.USub: "negative", ast.Not: "logical_not",
        ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
        ast.NotEq: "not_equal", ast.And: "logical_and", ast.Or: "logical_or", ast.BitAnd: "bitwise_and",
        ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor", ast.Invert: "bitwise_not",
    }
)  # fmt: skip
_VALUES = (Expr, PrimExpr)
_LITERALS = (bool, int, float, str, type(None))


class RelaxExprReader(RelaxReader):
    """Reads expressions of every form."""

    __slots__ = ()

    def _scalars_of(self, operands: list[tuple[Value, ast.expr]]) -> list[PrimExpr] | None:
        """Return the scalar expressions that stand for all of `operands`; `None` if one is no scalar."""
        if not all(
            to_scalar(value) is not None or (isinstance(value, Expr) and self.prims.is_scalar(value))
            for value, _ in operands
        ):
            return None
        found = (
            self._scalar_of(value, node) if isinstance(value, Expr) else to_scalar(value) for value, node in operands
        )
        return [item for item in found if item is not None]

    def read(self, node: ast.expr) -> Value:
        """Read an expression as what it is by itself."""
        match node:
            case ast.Name():
                found = self.lookup(node)
                if isinstance(found, _VALUES):
                    return found
                raise self.context.fail("RS004", node, f"`{node.id}` is no value")
            case ast.Call():
                return calls.read_call(self, node)
            case _:
                return self._other(node, self.context.span(node))

    def _other(self, node: ast.expr, span: Span) -> Value:
        match node:
            case ast.Constant(value=value) if isinstance(value, _LITERALS):
                return self.literal(value, node)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return Items(tuple(every(self.read, elements)), span)
            case ast.BinOp():
                number = number_of(self.context, node)
                return self._chain(node) if number is None else self.literal(number, node)
            case ast.UnaryOp() | ast.Compare() | ast.BoolOp():
                return self._operator(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Lambda():
                return calls.index_map(self, node)
            case ast.IfExp(test=ast.Constant(value=bool(chosen)), body=body, orelse=orelse):
                # A condition that the text knows is Python's, as in TVM.
                return self.read(body if chosen else orelse)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                branches = [SeqExpr((), self.expr(item), span=self.context.span(item)) for item in (body, orelse)]
                return If(self.expr(test), branches[0], branches[1], span=span)
            case _:
                raise self.context.unsupported(node, f"`{source_of(node)}` ({type(node).__name__})")

    def _attribute(self, node: ast.Attribute) -> Value:
        if (found := self.global_function(node)) is not None:
            return found
        if self.types().is_type(node):
            return TypeValue(self.types().read(node), self.context.span(node))
        if (number := number_of(self.context, node)) is not None:
            return self.literal(number, node)
        if (asked := inspected(self, node)) is not None:
            return asked
        part = plain_part(node)
        if isinstance(part.value, ast.Name) and self.scope.find(part.value.id) is not None:
            return self._of_variable(part, part.value)
        parts = dotted(node)
        if parts is not None and parts[0] not in PREFIXES and self.scope.find(parts[0]) is None:
            raise self.undefined(ast.copy_location(ast.Name(parts[0], ast.Load()), node))
        raise self.context.unsupported(node, f"`{source_of(node)}` as a value")

    def _of_variable(self, node: ast.Attribute, of: ast.Name) -> Value:
        """Read what is known of a variable by its declared type."""
        variable, span = self.lookup(of), self.context.span(node)
        match node.attr:
            case "shape":
                found = shape_of(self.context, node, variable, self.prims)
                return found if isinstance(found, Var) else ShapeExpr(found, span=span)
            case "dtype":
                return Literal(dtype_of_variable(self.context, node, variable, self.prims), span)
            case "ndim" if (rank := declared_tensor(self.context, node, variable, self.prims).ndim) is not None:
                return Literal(rank, span)
            case name if name in TYPE_PARTS:
                return TypeValue(declared_type(self.context, node, variable, self.prims), span)
            case _:
                raise self.context.unsupported(node, f"`{source_of(node)}` as a value")

    def _subscript(self, node: ast.Subscript) -> Value:
        if self.types().is_type(node):
            return TypeValue(self.types().read(node), self.context.span(node))
        if (found := calls.from_table(self, node)) is not None:
            return found
        if (asked := inspected(self, node)) is not None:
            return asked
        if isinstance(node.value, ast.Attribute) and plain_part(node.value).attr == "shape":
            return PrimValue(self.types().dim(node), span=self.context.span(node))
        match node.slice:
            case ast.Constant(value=int(index)) if not isinstance(index, bool):
                return TupleGetItem(self.expr(node.value), index, span=self.context.span(node))
            case _:
                hint = "a tuple takes a number, t[0]; for a part of a tensor call an operator such as R.strided_slice"
                raise self.context.unsupported(node, f"the subscript `{source_of(node)}`", hint)

    def _chain(self, node: ast.BinOp) -> Value:
        """Read `a + b + c ...` from the left without recursion."""
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        result = self.read(chain[-1].left)
        for item in reversed(chain):
            result = self._binary(item, result, self.read(item.right))
        return result

    def _binary(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        scalars = self._scalars_of([(left, node.left), (right, node.right)])
        if scalars is not None:
            return self.scalars().operation(node, *map(_operand, scalars, (left, right)))
        return self._call(node, type(node.op), [(left, node.left), (right, node.right)])

    def _operator(self, node: ast.UnaryOp | ast.Compare | ast.BoolOp) -> Value:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
                return Literal(-value, self.context.span(node))
            case ast.UnaryOp(op=op, operand=operand):
                value = self.read(operand)
                scalars = self._scalars_of([(value, operand)])
                if scalars is not None:
                    is_bare = isinstance(value, Literal)
                    return self.scalars().read(node) if is_bare else self.scalars().unary(node, scalars[0])
                return value if isinstance(op, ast.UAdd) else self._call(node, type(op), [(value, operand)])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                x, y = self.read(left), self.read(right)
                scalars = self._scalars_of([(x, left), (y, right)])
                if scalars is not None:
                    return self.scalars().comparison(node, *map(_operand, scalars, (x, y)))
                return self._call(node, type(op), [(x, left), (y, right)])
            case ast.BoolOp(op=op, values=values):
                operands = [(self.read(item), item) for item in values]
                scalars = self._scalars_of(operands)
                if scalars is not None:
                    reader = self.scalars()
                    return reduce(lambda a, b: reader.combine(node, BINARY[type(op)], a, b), scalars)
                result = operands[0][0]
                for operand in operands[1:]:
                    result = self._call(node, type(op), [(result, node), operand])
                return result
            case _:
                raise self.context.unsupported(node, f"the chained comparison `{source_of(node)}`")

    def _call(self, node: ast.expr, operator: type[ast.AST], operands: list[tuple[Value, ast.expr]]) -> Call:
        name = OPERATORS.get(operator)
        if name is None:
            raise self.context.unsupported(node, f"the operator in `{source_of(node)}`")
        args = tuple(to_expr(self.context, value, place, TensorType()) for value, place in operands)
        spec = find(f"relax.{name}")
        defaults = () if spec is None else map(default_expr, spec.params[len(args) :])
        more = tuple(default for default in defaults if default is not None)
        return Call(Op(f"relax.{name}"), (*args, *more), span=self.context.span(node))


def _operand(scalar: PrimExpr, value: Value) -> Operand:
    return Operand(scalar, isinstance(value, Literal))
