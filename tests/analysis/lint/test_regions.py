"""The lint of compiler regions: what it finds is what PartitionGraph trips over, and passes leave nothing to find."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.engine.protocol import Check, Program
from relax_core.engine.replies import Found
from relax_core.engine.session import Session
from tests.passes.relay.byoc import T, annotated_anywhere, begins, program, tables
from tests.passes.relay.test_byoc_by_hand import CLOSED

CYCLE = """
%0 = nn.relu(b:a⟦%x⟧);
%1 = e:b⟦nn.relu(b:b⟦e:a⟦%0⟧⟧)⟧;
e:a⟦add(%0, b:a⟦%1⟧)⟧
"""
OUTSIDE = "%0 = nn.relu(b:a⟦%x⟧); %1 = tanh(e:a⟦%0⟧); e:a⟦add(%0, b:a⟦%1⟧)⟧"
COMPOSITE = f'(fn (%p: {T}, Composite="a.relu") {{ nn.relu(%p) }})'
FOUND = (
    ("a cycle of two regions", CYCLE, {"BY003": "nn.relu(annotation.compiler_begin(%x"}),
    ("a way back outside", OUTSIDE, {"BY003": "nn.relu("}),
    ("a begin without an end", "nn.relu(b:a⟦%x⟧)", {"BY004": "annotation.compiler_begin(%x"}),
    ("an end without a begin", "nn.relu(e:a⟦%x⟧)", {"BY006": "annotation.compiler_end(%x"}),
    ("an input without a begin", "e:a⟦add(b:a⟦%x⟧, %y)⟧", {"BY006": "add("}),
    ("two targets", "e:b⟦nn.relu(b:a⟦%x⟧)⟧", {"BY007": "annotation.compiler_end("}),
    (
        "two branches",
        "%0 = nn.relu(b:a⟦%y⟧); let %k = if (%c) { e:a⟦add(%0, b:a⟦%x⟧)⟧ } else { %x }; add(%k, e:a⟦%0⟧)",
        {"BY005": "nn.relu("},
    ),
    ("a composite of no target", f"tanh({COMPOSITE}(%x))", {"BY008": "fn ("}),
)


@pytest.mark.parametrize(("text", "found"), [case[1:] for case in FOUND], ids=[case[0] for case in FOUND])
def test_each_mistake_is_found_at_its_place(text: str, found: dict[str, str]) -> None:
    said = rc.region_problems(program(begins(text)))
    assert {item.code: "" for item in said} == dict.fromkeys(found, "")
    assert all(item.severity == "warning" for item in said)
    for item in said:
        assert item.span is not None
        assert item.span.text.startswith(found[item.code]), item.render()


def test_a_cycle_names_both_regions_and_shows_the_way() -> None:
    (said,) = rc.region_problems(program(begins(CYCLE)))
    assert "regions a 0 and b 1 need results of each other" in said.message
    assert [span.text.startswith("nn.relu(annotation.compiler_begin(annotation") for _, span in said.related] == [True]
    (said,) = rc.region_problems(program(begins(OUTSIDE)))
    assert "not convex" in said.message
    assert [span.text.startswith("tanh(") for _, span in said.related] == [True]


SOUND = (
    "e:a⟦nn.relu(b:a⟦%x⟧)⟧",
    "%0 = e:a⟦nn.relu(b:a⟦%x⟧)⟧; e:a⟦add(b:a⟦%0⟧, b:a⟦tanh(%0)⟧)⟧",
    "if (%c) { e:a⟦nn.relu(b:a⟦%x⟧)⟧ } else { e:a⟦nn.relu(b:a⟦%y⟧)⟧ }",
    f"e:a⟦{COMPOSITE}(b:a⟦%x⟧)⟧",
    f"let %f = {COMPOSITE}; e:a⟦%f(b:a⟦%x⟧)⟧",
    "e:default⟦nn.relu(b:default⟦%x⟧)⟧",
    "e:a⟦add(b:a⟦%x⟧, b:a⟦1f⟧)⟧",
    "e:a⟦zeros(shape=[4, 4], dtype=float32)⟧",
)


@pytest.mark.parametrize("text", SOUND)
def test_regions_that_can_be_cut_out_are_left_alone(text: str) -> None:
    module = program(begins(text))
    assert rc.region_problems(module) == ()
    assert not rc.run_pipeline(module, "PartitionGraph", tables=tables(a="add"))[-1].diagnostics


@pytest.mark.parametrize("text", [case[1] for case in CLOSED], ids=[case[0] for case in CLOSED])
def test_what_partition_graph_can_cut_out_is_at_most_oddly_annotated(text: str) -> None:
    assert {item.code for item in rc.region_problems(program(begins(text)))} <= {"BY006", "BY007"}


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_partition_graph_trips_over_was_told_before(rng: random.Random) -> None:
    module = annotated_anywhere(rng)
    if any(item.severity == "error" for item in rc.check(module)):
        return
    tripped = {item.code for item in rc.run_pipeline(module, "PartitionGraph", tables=tables(a="add"))[-1].diagnostics}
    told = {item.code for item in rc.region_problems(module)}
    # Where a begin is missing that is what is told, whatever comes of it.
    assert "BY006" in told or (tripped <= told and (tripped or "BY003" not in told)), rc.script(module)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(("values", "graph_form")))
def test_what_passes_annotate_is_sound(rng: random.Random, lets: str) -> None:
    values, lines = ["%x", "%y"], list[str]()
    for number in range(rng.randint(1, 6)):
        part, other = rng.choice(values), rng.choice(values)
        let = rng.choice(("let %w", "%"))
        lines.append(f"{let}{number} = {rng.choice((f'nn.relu({part})', f'add({part}, {other})', f'tanh({part})'))};")
        values.append(f"{let.removeprefix('let ')}{number}")
    module = program("\n".join((*lines, f"add({values[-1]}, {rng.choice(values)})")))
    passes = f"AnnotateTarget(lets={lets!r}), MergeCompilerRegions"
    for stage in rc.run_pipeline(module, passes, tables=tables(a="add nn.relu", b="tanh")):
        assert rc.region_problems(stage.after) == (), rc.script(stage.after)


RELAX = """
from tvm.script import ir as I, relax as R

@I.ir_module
class M:
    @R.function(private=True)
    def loose(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Composite": "a.relu", "Primitive": 1})
        with R.dataflow():
            y = R.nn.relu(x)
            R.output(y)
        return y

    @R.function
    def region(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Codegen": "a", "global_symbol": "region"})

        @R.function
        def held(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            R.func_attr({"Composite": "a.exp"})
            with R.dataflow():
                w = R.exp(z)
                R.output(w)
            return w

        y: R.Tensor((4,), "float32") = held(x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = M
        a: R.Tensor((4,), "float32") = cls.loose(x)
        b: R.Tensor((4,), "float32") = cls.region(a)
        return b
"""


def test_a_composite_of_relax_belongs_to_a_function_of_a_target() -> None:
    (said,) = rc.region_problems(rc.parse(RELAX))
    assert (said.code, said.severity) == ("BY008", "warning")
    assert "composite a.relu belongs to no target" in said.message
    assert said.span is not None
    assert said.span.text == 'def loose(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):'
    told = Session().request(Check(Program(RELAX)))
    assert isinstance(told, Found)
    assert [(item.code, item.severity) for item in told.problems] == [("BY008", "warning")]
    assert not told.has_errors


def test_a_function_of_a_target_that_leads_back_to_itself_is_told() -> None:
    text = RELAX.replace('y: R.Tensor((4,), "float32") = held(x)', 'y: R.Tensor((4,), "float32") = M.main(x)')
    said = [item for item in rc.region_problems(rc.parse(text)) if item.code == "BY003"]
    assert ["@region of a calls @main, which leads back" in item.message for item in said] == [True]
