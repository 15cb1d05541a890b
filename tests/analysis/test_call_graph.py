"""The call graph of a module."""

from relax_core.analysis.call_graph import call_graph, reachable
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
    def main(x: R.Tensor((3,), "float32")):
        cls = Module
        r = cls.loop(x)
        return r
"""


def test_the_call_graph_and_what_can_be_reached() -> None:
    module = module_of(PROGRAM)
    graph = {var.name: [used.name for used in callees] for var, callees in call_graph(module).items()}
    assert graph == {"unused": [], "loop": ["loop"], "main": ["loop"]}
    roots = [item.var for item in module if item.var.name == "main"]
    assert [var.name for var in reachable(module, roots)] == ["loop", "main"]
