"""Units of a dataflow block: what leaves them, ways out and back, and their order; words of patterns on Relax."""

import pytest

import relax_core as rc
from relax_core.ir.expr import Binding, DataflowBlock, Function
from relax_core.ir.node import preorder
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.search import find
from relax_core.pattern.partition.dataflow import DataflowGroups

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
        m = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.sin(a)
            c = R.match_cast(y, R.Tensor((m,), "float32"))
            d = R.add(a, b)
            e = R.zeros(R.shape([m]), "float32")
            f = R.split(d, 2, axis=1)
            g = f[1]
            R.output(d, e, g)
        return (d, e, g)
"""


def groups() -> tuple[DataflowGroups, dict[str, Binding]]:
    function = rc.parse(TEXT)["main"]
    assert isinstance(function, Function)
    block = next(node for node in preorder(function) if isinstance(node, DataflowBlock))
    return DataflowGroups(block), {item.var.name: item for item in block.bindings}


def names(bindings: tuple[Binding, ...]) -> str:
    return "".join(item.var.name for item in bindings)


def test_a_way_out_and_back_is_found_over_other_units() -> None:
    made, of = groups()
    assert names(made.detour((of["a"], of["d"]))) == "abd"
    assert names(made.detour((of["a"], of["b"], of["d"]))) == ""
    assert names(made.detour((of["a"], of["e"]))) == ""
    made.join((of["c"], of["b"]))
    assert names(made.detour((of["a"], of["d"]))) == "abd"
    # Into the unit of b and c by b, out of it by c.
    assert names(made.detour((of["a"], of["e"]))) == "abce"


def test_a_unit_gives_what_is_used_outside_of_it() -> None:
    made, of = groups()
    unit = made.join((of["a"], of["d"], of["b"]))
    assert [item.name for item in made.outputs()[unit]] == ["d"]
    fields = made.join((of["f"], of["g"]))
    assert [item.name for item in made.outputs()[fields]] == ["g"]


def test_units_stand_behind_what_they_use_dimensions_too() -> None:
    made, of = groups()
    made.join((of["a"], of["e"]))
    assert [names(unit.bindings) for unit in made.order()] == ["c", "ae", "b", "d", "f", "g"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("is_op('relax.add')(is_op('relax.exp')(wildcard()), wildcard())", 1),
        ("is_op('relax.split')(wildcard())[1]", 1),
        ("p = is_op('split')(wildcard())\np[0]", 0),
        ("is_const()", 0),
        ("is_gv('f')", 0),
        ("is_op('relax.zeros')(wildcard())", 1),
        ("is_op('relax.exp')(wildcard().has_shape((4, 4)).has_dtype('float32'))", 1),
        ("is_op('relax.exp')(wildcard().has_shape((4, 5)))", 0),
    ],
)
def test_words_of_relax_find_and_show_what_they_mean(text: str, count: int) -> None:
    pattern = rc.pattern(text)
    assert len(find(pattern, rc.parse(TEXT))) == count
    assert show_pattern(rc.pattern(show_pattern(pattern))) == show_pattern(pattern)


def test_a_call_of_a_prim_func_is_a_pattern() -> None:
    shown = "is_op('call_tir')(is_gv('twice'), is_tuple([wildcard()]))"
    assert show_pattern(rc.pattern("is_call_tir('twice', (wildcard(),))")) == shown
    assert show_pattern(rc.pattern("is_call_tir('twice')")) == "is_op('call_tir')(is_gv('twice'), wildcard())"
