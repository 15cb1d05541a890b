"""Uses, the call graph, and liveness."""

from relax_core.analysis.call_graph import call_graph, entry_points, is_recursive, reachable
from relax_core.analysis.liveness import last_uses, live_after, used_vars
from relax_core.analysis.uses import uses
from relax_core.ir.expr import Function, SeqExpr, Var
from relax_core.ir.module import IRModule
from tests.check.programs import module_of

PROGRAM = """
    @R.function(private=True)
    def unused(a: R.Tensor((3,), "float32")):
        return a

    @R.function(private=True)
    def loop(a: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Module
        b = cls.loop(a)
        return b

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")):
        cls = Module
        p = R.exp(x)
        q = R.add(p, p)
        dead = R.exp(p)
        if c:
            r = cls.loop(q)
        else:
            r = q
        s = R.add(r, x)
        return s
"""


def main_body(module: IRModule) -> SeqExpr:
    function = module["main"]
    assert isinstance(function, Function)
    assert isinstance(function.body, SeqExpr)
    return function.body


def names(variables: tuple[Var, ...]) -> list[str]:
    return [var.name for var in variables]


def test_uses_count_occurrences_and_not_the_definition() -> None:
    module = module_of(PROGRAM)
    found = uses(module["main"])
    counts = {var.name: found.count(var) for var in found.definition_of}
    assert counts["x"] == 2
    assert counts["p"] == 3
    assert counts["q"] == 2
    assert counts["dead"] == 0
    assert {type(found.definition_of[var]).__name__ for var in found.definition_of} == {"VarBinding", "Function"}


def test_the_call_graph_and_what_can_be_reached() -> None:
    module = module_of(PROGRAM)
    graph = {var.name: [used.name for used in callees] for var, callees in call_graph(module).items()}
    assert graph == {"unused": [], "loop": ["loop"], "main": ["loop"]}
    assert [var.name for var in entry_points(module)] == ["main"]
    assert [var.name for var in reachable(module, entry_points(module))] == ["loop", "main"]
    assert {item.var.name: is_recursive(module, item.var) for item in module} == {
        "unused": False,
        "loop": True,
        "main": False,
    }


def test_a_variable_dies_at_its_last_use_also_before_and_behind_a_branch() -> None:
    body = main_body(module_of(PROGRAM))
    deaths = [names(dying) for dying in last_uses(body).values()]
    assert deaths == [[], [], ["p", "dead"], ["q"], ["r"]]
    assert [names(alive) for alive in live_after(body).values()] == [["p"], ["p", "q"], ["q"], ["r"], ["s"]]


def test_used_variables_leave_out_what_is_defined_inside() -> None:
    body = main_body(module_of(PROGRAM))
    assert sorted(names(used_vars(body))) == ["c", "x"]
