"""Hypothesis strategies: well-typed Relax modules over tensors with static and symbolic shapes."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    Op,
    SeqExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import PrimExpr, PrimVar, const

_UNARY = ("relax.exp", "relax.negative", "relax.nn.relu", "relax.tanh", "relax.abs")
_BINARY = ("relax.add", "relax.subtract", "relax.multiply", "relax.maximum")
_TUPLE = "tuple"
_BRANCH = "if"
_CLOSURE = "closure"


@dataclass(frozen=True, slots=True)
class Program:
    """A module whose `main(x, y)` takes two float32 tensors of `shape` and returns one."""

    module: IRModule
    shape: tuple[int, ...]


@st.composite
def programs(draw: st.DrawFn, max_steps: int = 6, *, is_symbolic: bool | None = None) -> Program:
    """Draw a program: unary and binary operators, tuples, branches, captured closures, dataflow blocks."""
    symbolic = draw(st.booleans()) if is_symbolic is None else is_symbolic
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
    dims: tuple[PrimExpr, ...] = tuple(PrimVar(f"n{i}") if symbolic else const(size) for i, size in enumerate(shape))
    params = (Var("x", TensorType(dims, "float32")), Var("y", TensorType(dims, "float32")))
    condition = Constant(np.array(draw(st.booleans())))
    kinds = draw(st.lists(st.sampled_from((*_UNARY, *_BINARY, _TUPLE, _BRANCH, _CLOSURE)), max_size=max_steps))
    is_dataflow = draw(st.booleans()) and not {_BRANCH, _CLOSURE} & set(kinds)
    values: list[Expr] = [*params]
    bindings: list[Binding] = []
    for index, kind in enumerate(kinds):
        a, b = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        is_last = index == len(kinds) - 1
        var = DataflowVar(f"lv{index}") if is_dataflow and not is_last else Var(f"v{index}")
        bindings.extend(_step(kind, index, var, a, b, condition, is_dataflow=is_dataflow))
        values.append(var)
    blocks = ((DataflowBlock if is_dataflow else BindingBlock)(tuple(bindings)),) if bindings else ()
    function = Function(params, SeqExpr(blocks, values[-1]))
    return Program(IRModule((Definition(GlobalVar("main"), function),)), shape)


def _step(kind: str, index: int, var: Var, a: Expr, b: Expr, condition: Expr, *, is_dataflow: bool) -> list[Binding]:
    if kind in _UNARY:
        return [VarBinding(var, Call(Op(kind), (a,)))]
    if kind in _BINARY:
        return [VarBinding(var, Call(Op(kind), (a, b)))]
    if kind == _TUPLE:
        pair = (DataflowVar if is_dataflow else Var)(f"t{index}")
        return [VarBinding(pair, Tuple((a, b))), VarBinding(var, TupleGetItem(pair, index % 2))]
    if kind == _BRANCH:
        branches = (Call(Op("relax.exp"), (a,)), Call(Op("relax.negative"), (b,)))
        return [VarBinding(var, If(condition, *(_bound(f"b{index}_{i}", item) for i, item in enumerate(branches))))]
    closure = Var(f"f{index}")
    body = _bound(f"r{index}", Call(Op("relax.add"), (a, b)))
    return [VarBinding(closure, Function((), body)), VarBinding(var, Call(closure, ()))]


def _bound(name: str, value: Expr) -> SeqExpr:
    var = Var(name)
    return SeqExpr((BindingBlock((VarBinding(var, value),)),), var)


def inputs(shape: tuple[int, ...], seed: int = 0) -> tuple["np.ndarray[tuple[int, ...], np.dtype[np.float32]]", ...]:
    """Two float32 arrays of `shape`, small enough that `exp` of `exp` stays finite."""
    generator = np.random.default_rng(seed)
    return tuple(generator.uniform(-1, 1, shape).astype(np.float32) for _ in range(2))
