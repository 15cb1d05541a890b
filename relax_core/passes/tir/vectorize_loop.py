"""Write a vectorized loop as statements on vectors."""

from dataclasses import dataclass, replace

from relax_core.analysis.tir_memory import Memory, memory_of
from relax_core.ir.integer.prove import canonical_key
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.prim import (
    Binary,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    Select,
    Unary,
    binary,
    broadcast,
    dtype_of,
    lanes_of,
    vector_of,
)
from relax_core.ir.tir import BufferLoad, BufferStore, For, IfThenElse, PrimFunc, SeqStmt, Stmt, seq
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_prim_funcs
from relax_core.passes.tir.arithmetic import tidy
from relax_core.passes.tir.sequences import flat

MOST_LANES = 64
ELEMENTWISE = frozenset(("exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "erf", "fabs", "floor", "ceil", "pow"))


class NotVectorError(Exception):
    """A statement has no form on vectors that computes the same; the message says why."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Replace the variable of `for j in T.vectorized(4)` by `T.Ramp(0, 1, 4)`.

    All lanes are computed before the first one is stored, so that a loop stays a serial loop where an iteration may
    see what another one stored, or where lanes may take different ways. TVM vectorizes the first nevertheless, and
    of the second those statements that it can.
    """
    return change_prim_funcs(module, ctx, lambda _, function: _vectorize(function, ctx))


def _vectorize(function: PrimFunc, ctx: PassContext) -> PrimFunc:
    memory = memory_of(function)

    def vectorize(node: Node) -> Node | None:
        """Rule: for j in T.vectorized(4): S -> S with T.Ramp(0, 1, 4)."""
        if not isinstance(node, For) or node.kind != "vectorized":
            return None
        try:
            made = _of_loop(node, memory)
        except NotVectorError as error:
            ctx.remark(node, "missed", f"{node.var.name} is a serial loop: {error}")
            ctx.remark(node, "applied", f"{node.var.name} becomes a serial loop")
            return replace(node, kind="serial")
        ctx.remark(node, "applied", f"the iterations of {node.var.name} are lanes of vectors")
        return made

    return ctx.rewrite(function, vectorize, flat)


def _of_loop(loop: For, memory: Memory) -> Stmt:
    if not isinstance(loop.extent, IntImm) or loop.step is not None or not 1 < loop.extent.value <= MOST_LANES:
        raise NotVectorError(f"it does not run 2 to {MOST_LANES} times by 1")
    lanes = loop.extent.value
    ramp = _ramp(loop.start, IntImm(1, loop.var.dtype), lanes)
    vectors = _Vectors(loop.var, ramp, lanes)
    _check_accesses(loop.body, vectors, memory)
    return vectors.stmt(loop.body)


def _check_accesses(body: Stmt, vectors: "_Vectors", memory: Memory) -> None:
    """Refuse a loop in which one iteration may see or overwrite what another one stored."""
    accesses = [item for item in postorder(body) if isinstance(item, BufferLoad | BufferStore)]
    for store in (item for item in accesses if isinstance(item, BufferStore)):
        index = [vectors.expr(item) for item in store.indices]
        if not index or not _is_spread(index[-1]) or any(lanes_of(dtype_of(item)) > 1 for item in index[:-1]):
            raise NotVectorError(f"its iterations do not store to different elements of {store.buffer.name} in a row")
        place = [canonical_key(item) for item in store.indices]
        owner = memory.owner(store.buffer)
        for other in accesses:
            is_apart = owner is not None and memory.owner(other.buffer) not in (owner, None)
            if other.buffer is not store.buffer and not is_apart:
                raise NotVectorError(f"{other.buffer.name} may be the memory of {store.buffer.name}")
            is_alike = other.buffer is store.buffer and [canonical_key(item) for item in other.indices] == place
            if not is_apart and not is_alike and not _never_meet(index[-1], vectors.expr(other.indices[-1])):
                raise NotVectorError(f"an iteration may see what another one stores in {store.buffer.name}")


def _never_meet(a: PrimExpr, b: PrimExpr) -> bool:
    """Tell whether two rows of indices with one stride have no index in common."""
    match a, b:
        case (
            Intrinsic(name="Ramp", args=(first, IntImm(value=stride), IntImm(value=lanes))),
            Intrinsic(name="Ramp", args=(second, IntImm(value=other), _)),
        ) if stride == other and dtype_of(first) == dtype_of(second):
            distance = tidy(binary("-", first, second))
            return isinstance(distance, IntImm) and abs(distance.value) >= abs(stride) * lanes
        case _:
            return False


def _is_spread(index: PrimExpr) -> bool:
    match index:
        case Intrinsic(name="Ramp", args=(_, IntImm(value=stride), _)):
            return stride != 0
        case _:
            return False


def _ramp(base: PrimExpr, stride: PrimExpr, lanes: int) -> PrimExpr:
    return Intrinsic("Ramp", (tidy(base), tidy(stride), IntImm(lanes, "int32")), vector_of(dtype_of(base), lanes))


@dataclass(slots=True)
class _Vectors:
    """Rewrites statements in which `var` is the vector `ramp`."""

    var: PrimVar
    ramp: PrimExpr
    lanes: int

    def stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case SeqStmt(stmts=stmts):
                return seq([self.stmt(item) for item in stmts])
            case BufferStore(indices=indices, value=value):
                made = tuple(self.expr(item) for item in indices)
                return replace(stmt, indices=made, value=self.wide(self.expr(value)))
            case IfThenElse(condition=condition, then_body=then, else_body=other):
                made_condition = self.expr(condition)
                if lanes_of(dtype_of(made_condition)) > 1:
                    raise NotVectorError("lanes may take different branches")
                changed = None if other is None else self.stmt(other)
                return replace(stmt, condition=made_condition, then_body=self.stmt(then), else_body=changed)
            case _:
                raise NotVectorError(f"it holds a statement that has no form on vectors ({type(stmt).__name__})")

    def expr(self, expr: PrimExpr) -> PrimExpr:
        """Return `expr`, a vector if it depends on the variable; recursion follows the nesting of the expression."""
        match expr:
            case PrimVar():
                return self.ramp if expr is self.var else expr
            case IntImm() | FloatImm():
                return expr
            case Binary(a=a, b=b):
                return self.binary(expr, self.expr(a), self.expr(b))
            case BufferLoad(indices=indices):
                made = tuple(self.expr(item) for item in indices)
                if any(lanes_of(dtype_of(item)) > 1 for item in made[:-1]):
                    raise NotVectorError(f"{expr.buffer.name} is not read along its last dimension")
                is_same = all(a is b for a, b in zip(indices, made, strict=True))
                return expr if is_same else replace(expr, indices=made)
            case Cast(value=value, dtype=dtype):
                made_value = self.expr(value)
                wide = vector_of(dtype, lanes_of(dtype_of(made_value)))
                return expr if made_value is value else replace(expr, value=made_value, dtype=wide)
            case Unary(a=a, dtype=dtype):
                made_value = self.expr(a)
                wide = vector_of(dtype, lanes_of(dtype_of(made_value)))
                return expr if made_value is a else replace(expr, a=made_value, dtype=wide)
            case Select(is_lazy=False):
                parts = (expr.condition, expr.true_value, expr.false_value)
                made = tuple(self.expr(item) for item in parts)
                if all(a is b for a, b in zip(parts, made, strict=True)):
                    return expr
                yes, no = self.wide(made[1]), self.wide(made[2])
                return replace(expr, condition=self.wide(made[0]), true_value=yes, false_value=no, dtype=dtype_of(yes))
            case Intrinsic(name=name, args=args, dtype=dtype) if name in ELEMENTWISE:
                made = tuple(self.expr(item) for item in args)
                if all(a is b for a, b in zip(args, made, strict=True)):
                    return expr
                return replace(expr, args=tuple(map(self.wide, made)), dtype=vector_of(dtype, self.lanes))
            case _:
                return self.unknown(expr)

    def unknown(self, expr: PrimExpr) -> PrimExpr:
        if any(part is self.var for part in postorder(expr)):
            raise NotVectorError(f"it holds an expression that has no form on vectors ({type(expr).__name__})")
        return expr

    def wide(self, expr: PrimExpr) -> PrimExpr:
        """Return `expr` in every lane if it is a scalar."""
        return expr if lanes_of(dtype_of(expr)) > 1 else broadcast(expr, self.lanes)

    def binary(self, expr: Binary, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        if a is expr.a and b is expr.b:
            return expr
        match expr.op, a, b:
            case "+" | "-", Intrinsic(name="Ramp", args=(base, stride, _)), _ if lanes_of(dtype_of(b)) == 1:
                return _ramp(binary(expr.op, base, b), stride, self.lanes)
            case "+", _, Intrinsic(name="Ramp", args=(base, stride, _)) if lanes_of(dtype_of(a)) == 1:
                return _ramp(binary("+", a, base), stride, self.lanes)
            case "*", Intrinsic(name="Ramp", args=(base, stride, _)), _ if lanes_of(dtype_of(b)) == 1:
                return _ramp(binary("*", base, b), binary("*", stride, b), self.lanes)
            case _:
                return replace(expr, a=self.wide(a), b=self.wide(b), dtype=vector_of(expr.dtype, self.lanes))


PASS = Pass(
    "VectorizeLoop",
    "Writes `for j in T.vectorized(n)` as statements on vectors, where lanes do not meet.",
    run,
    needs=("no blocks",),
    see="tvm/src/tirx/transform/vectorize_loop.cc",
    dialect="tir",
)
