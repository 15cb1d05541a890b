"""Type inference for Relay: how its time grows with a chain of lets, and with a graph of shared nodes."""

from collections.abc import Callable

from benchmarks.table import Table
from benchmarks.timing import measure
from relax_core.check.relay.infer import infer_relay
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, Op, TensorType, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.prim import IntImm
from relax_core.ir.relay import Let

SIZES = (5_000, 50_000)
SHAPE = TensorType((IntImm(2), IntImm(3)), "float32")


def module_of(param: Var, body: Expr) -> IRModule:
    """Make a module of one function."""
    return IRModule((Definition(GlobalVar("main"), Function((param,), body)),))


def lets(count: int) -> IRModule:
    """Make `let x1 = add(x0, x0); ...; xn`."""
    add = Op("add")
    names = [Var("x", SHAPE), *(Var(f"x{k}") for k in range(count))]
    body: Expr = names[-1]
    for before, var in zip(reversed(names[:-1]), reversed(names[1:]), strict=True):
        body = Let(var, Call(add, (before, before)), body)
    return module_of(names[0], body)


def graph(count: int) -> IRModule:
    """Make a graph in which every node has two uses; written out as a tree it would have 2 to the power of `count`."""
    add, param = Op("add"), Var("x", SHAPE)
    value: Expr = param
    for _ in range(count):
        value = Call(add, (value, value))
    return module_of(param, value)


def run() -> Table:
    """Type both forms in two sizes; the ratios show whether the time is linear."""
    cases: dict[str, Callable[[], object]] = {}
    for name, make in (("lets", lets), ("shared nodes", graph)):
        for count in SIZES:
            module = make(count)
            cases[f"{name}, {count}"] = lambda module=module: infer_relay(module)
    return Table("Relay type inference", measure(cases, sample_count=5), "ten times the nodes: ten times the time")
