"""Generated Relay programs: by the interpreter, in A-normal form, and in the machine they give the same."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.ir.expr import Call, Expr, Function, GlobalVar, If, Op, TensorType, Tuple, TupleGetItem, Var, constant
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import postorder
from relax_core.ir.prim import IntImm
from relax_core.ir.relay import Let, RefCreate, RefRead, RefWrite
from tests.passes.relay.running import agree, parsed

VECTOR = TensorType((IntImm(3),), "int32")
SCALAR = TensorType((), "int32")
BINARY = ("add", "subtract", "multiply", "maximum")
UNARY = ("negative", "abs", "copy", "nn.relu")


@dataclass
class Maker:
    """Draws nodes of a graph whose values are vectors; earlier nodes are used again."""

    draw: st.DrawFn
    counter: int = 0

    def graph(self, known: list[Expr], size: int, depth: int) -> Expr:
        pool = list(known)
        for _ in range(size):
            pool.append(self.node(pool, depth))
        return self.draw(st.sampled_from(pool[-3:]))

    def pick(self, pool: list[Expr]) -> Expr:
        return self.draw(st.sampled_from(pool))

    def var(self) -> Var:
        self.counter += 1
        return Var(f"v{self.counter}", VECTOR)

    def node(self, pool: list[Expr], depth: int) -> Expr:
        kinds = ("binary", "unary", "tuple") if depth == 0 else ("binary", "unary", "tuple", "if", "let", "call", "ref")
        match self.draw(st.sampled_from(kinds)):
            case "binary":
                name = self.draw(st.sampled_from(BINARY))
                return Call(Op(name), (self.pick(pool), self.pick(pool)))
            case "unary":
                return Call(Op(self.draw(st.sampled_from(UNARY))), (self.pick(pool),))
            case "tuple":
                fields = (self.pick(pool), self.pick(pool))
                return TupleGetItem(Tuple(fields), self.draw(st.integers(0, 1)))
            case "if":
                least = Call(Op("min"), (self.pick(pool),))
                condition = Call(Op("less"), (least, constant(self.draw(st.integers(-3, 3)))))
                return If(condition, self.graph(pool, 2, depth - 1), self.graph(pool, 2, depth - 1))
            case "let":
                var = self.var()
                return Let(var, self.graph(pool, 2, depth - 1), self.graph([*pool, var], 2, depth - 1))
            case "call":
                param, var = self.var(), Var("f")
                function = Function((param,), self.graph([*pool, param], 2, depth - 1), VECTOR)
                return Let(
                    var, function, Call(Op("add"), (Call(var, (self.pick(pool),)), Call(var, (self.pick(pool),))))
                )
            case _:
                ref, done, before = Var("r"), Var("_"), self.var()
                read = RefRead(ref)
                write = RefWrite(ref, self.pick(pool))
                body = Let(before, read, Let(done, write, Call(Op("subtract"), (RefRead(ref), before))))
                return Let(ref, RefCreate(self.pick(pool)), body)


@st.composite
def modules(draw: st.DrawFn) -> IRModule:
    """Draw a module whose `main` takes two vectors."""
    params = (Var("x", VECTOR), Var("y", VECTOR))
    body = Maker(draw).graph(list(params), draw(st.integers(1, 8)), 2)
    return IRModule((Definition(GlobalVar("main"), Function(params, body, VECTOR)),), attrs=(("dialect", "relay"),))


@settings(max_examples=60, deadline=None)
@given(modules(), st.lists(st.integers(-4, 4), min_size=6, max_size=6))
def test_a_program_means_the_same_in_every_form(module: IRModule, numbers: list[int]) -> None:
    assert [str(item) for item in rc.check(module) if item.severity == "error"] == []
    args = (np.array(numbers[:3], "int32"), np.array(numbers[3:], "int32"))
    wanted = rc.evaluate(module, "main", *args)
    named = rc.run_pipeline(module, "ToANormalForm")[-1]
    assert not named.is_failed
    assert [str(item) for item in rc.check(named.after) if item.severity == "error"] == []
    agree(rc.evaluate(named.after, "main", *args), wanted)
    relax = rc.run_pipeline(module, "RelayToRelax")[-1].after
    assert [str(item) for item in rc.check(relax) if item.severity == "error"] == []
    agree(rc.VirtualMachine(rc.build(relax, passes="LambdaLift"))["main"](*args), wanted)


@settings(max_examples=10, deadline=None)
@given(modules(), st.lists(st.integers(-4, 4), min_size=6, max_size=6))
def test_kernels_compute_what_the_interpreter_does(module: IRModule, numbers: list[int]) -> None:
    args = (np.array(numbers[:3], "int32"), np.array(numbers[3:], "int32"))
    agree(rc.VirtualMachine(rc.build(module))["main"](*args), rc.evaluate(module, "main", *args))


@pytest.mark.parametrize(("depth", "code"), [(100, ""), (400, "PS011")])
def test_branches_nested_deeply_run_or_are_refused(depth: int, code: str) -> None:
    text = "%x"
    for k in range(depth):
        text = f"if (%x == {k}) {{ %x + {k} }} else {{ {text} }}"
    module = parsed(f"def @main(%x: int32) -> int32 {{ {text} }}")
    assert int(rc.evaluate(module, "main", 7)) == 14
    stage = rc.run_pipeline(module, "RelayToRelax")[-1]
    assert [(item.code, item.span is not None) for item in stage.diagnostics] == [(code, True)] * bool(code)
    assert code or int(rc.VirtualMachine(rc.build(module))["main"](7)) == 14


@settings(max_examples=40, deadline=None)
@given(modules())
def test_every_node_of_a_normal_form_leads_back(module: IRModule) -> None:
    stage = rc.run_pipeline(module, "ToANormalForm")[0]
    function = stage.after["main"]
    assert isinstance(function, Function)
    expr: Expr = function.body
    kept = frozenset(postorder(module["main"]))
    while isinstance(expr, Let):
        assert expr in kept or stage.log.origins_of(expr)
        expr = expr.body
