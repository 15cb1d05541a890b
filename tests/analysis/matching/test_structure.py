"""What became of the parts of a module: every difference is told, and none where only names differ."""

import pytest

import relax_core as rc
from relax_core.analysis.matching.structure import longest_rising
from relax_core.ir.equality import structural_equal
from relax_core.passes.pipeline import run_pipeline
from relax_core.present.models import Structure
from tests.engine.programs import SAMPLES

MLP = (SAMPLES / "relax/mlp.py").read_text(encoding="utf-8")
MATMUL = (SAMPLES / "tir/matmul.py").read_text(encoding="utf-8")
CHAIN = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(y)
            c = R.add(a, b)
            R.output(c)
        return c
"""


def compared(before: str, after: str) -> Structure:
    """Compare two texts."""
    return rc.structure_of(rc.parse(before), rc.parse(after))


def lines(found: Structure) -> list[str]:
    """Return the rows without their lines in the texts."""
    return [line.strip().partition(" (line ")[0] for line in found.to_text().split("\n") if line[:1] == " "]


@pytest.mark.parametrize(
    ("text", "old", "new", "rows", "conclusion"),
    [
        (CHAIN, "a", "a", [], "no structural change"),
        (CHAIN, "R.exp", "R.sqrt", ["changed binding a: operator: relax.exp → relax.sqrt"], "1 changed"),
        (
            CHAIN,
            "            b = R.tanh(y)\n            c = R.add(a, b)",
            "            b = R.tanh(y)\n            d = R.negative(b)\n            c = R.add(a, d)",
            ["added binding d: relax.negative(b)", "changed binding c: x2: b → d"],
            "1 changed, 1 added",
        ),
        (
            CHAIN,
            "            a = R.exp(x)\n            b = R.tanh(y)\n",
            "            b = R.tanh(y)\n            a = R.exp(x)\n",
            ["moved binding b: in another order"],
            "1 moved",
        ),
        (
            CHAIN,
            "def main(x",
            "def other(x",
            ["renamed function @main → @other"],
            "1 renamed",
        ),
        (MLP, "w1", "weight", ["renamed parameter w1 → weight"], "no structural change: only names differ"),
        (MLP, "axis=-1", "axis=0", ["changed binding gv: axis: -1 → 0"], "1 changed"),
        (MATMUL, "T.float32(0)", "T.float32(1)", ["changed store C: value: 0.0 → 1.0 [likely]"], "1 changed"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_a_difference_is_told_as_what_it_is(text: str, old: str, new: str, rows: list[str], conclusion: str) -> None:
    found = compared(text, text.replace(old, new))
    assert lines(found) == rows
    assert found.conclusion == conclusion
    assert found.is_same == conclusion.startswith("no structural change")


def test_a_block_of_another_kind_and_what_is_outside_of_functions_are_told() -> None:
    module = rc.parse(CHAIN)
    plain = rc.run_pipeline(module, "ToNonDataflow")[-1].after
    found = rc.structure_of(module, plain)
    assert lines(found) == ["changed function @main: dataflow block → binding block, 3 bindings"]
    attributed = CHAIN.replace("class Module:\n", 'class Module:\n    I.module_attrs({"a": 1})\n')
    found = compared(CHAIN, attributed)
    assert (found.is_same, [row.part for row in found.rows]) == (False, ["module"])


@pytest.mark.parametrize(
    "path",
    [
        "relax/mlp.py",
        "relax/even_odd.py",
        "prim/prim_factorial.py",
        "relax/closure_captures.py",
        "relay/conditional.relay",
        "tir/row_softmax.py",
    ],
)
@pytest.mark.parametrize("is_recorded", [True, False], ids=("recorded", "matched"))
def test_a_stage_has_no_change_exactly_if_its_modules_are_equal(path: str, *, is_recorded: bool) -> None:
    before = rc.parse((SAMPLES / path).read_text(encoding="utf-8"), path)
    for stage in run_pipeline(before):
        found = rc.structure_of(stage.before, stage.after, stage if is_recorded else None)
        assert found.is_same == structural_equal(stage.before, stage.after), stage.pass_name
        assert sum(count for _, count in found.counts) == len(found.rows)


def test_what_a_pass_recorded_tells_where_a_function_went() -> None:
    module = rc.parse((SAMPLES / "seeds/print_closure2.py").read_text(encoding="utf-8"))
    stages = run_pipeline(module, "LambdaLift")
    rows = lines(rc.structure_of(module, stages[-1].after, stages[-1]))
    assert rows == [
        "changed binding closure: function → binding",
        "added function @main_closure: made of function closure in @main",
    ]


def test_the_order_of_most_parts_is_kept() -> None:
    assert longest_rising([3, 1, 2, 5, 4]) == {1, 2, 4}
    assert longest_rising([]) == frozenset()
