"""What passes keep for the next one is what would be found: the types of values, and their order."""

from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.analysis.regions import find_regions, is_annotation, is_closed, open_postorder, open_values
from relax_core.check.infer import infer
from relax_core.ir.equality import same_type
from relax_core.ir.expr import Function, Type
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import Stage
from tests.passes.relay.byoc import begins, program, stages, tables
from tests.passes.relay.test_byoc_properties import LETS, Drawn, programs

TABLE = tables(
    ("a.one", "is_op('nn.relu')(is_op('add')(wildcard(), wildcard()))"),
    ("b.two", "is_op('tanh')(wildcard())"),
    a="add nn.relu",
    b="multiply negative",
)
PASSES = "MergeComposite, AnnotateTarget(lets='{lets}'), MergeCompilerRegions(through_lets={through}), PartitionGraph"


def values_of(module: IRModule) -> tuple[Node, ...]:
    """Return the nodes of the functions of `module` that have types, without annotations and composite functions."""
    types = infer(module).types
    functions = (item.function for item in module.definitions if isinstance(item.function, Function))
    nodes = (node for function in functions if not is_closed(function) for node in open_postorder(function))
    apart = (node for node in nodes if not (isinstance(node, Function) and is_closed(node)))
    return tuple(node for node in apart if node in types and not is_annotation(node))


def differences(stage: Stage) -> list[tuple[Node, Type | None]]:
    """Return the values whose kept type is another than the inferred one, and those that have none."""
    inferred = infer(stage.after).types
    kept = stage.kept_types
    return [(node, kept.get(node)) for node in values_of(stage.after) if not same_type(kept.get(node), inferred[node])]


@given(programs(lets=True), st.sampled_from(("reported", *LETS)), st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_partitioning_keeps_is_what_inference_finds(drawn: Drawn, lets: str, through: bool) -> None:
    ran = stages(drawn.module, PASSES.format(lets=lets, through=through), TABLE)
    assert [differences(stage) for stage in ran[:-1]] == [[], [], []]
    assert ran[-1].kept_types == {}


def test_a_pass_that_keeps_none_makes_the_next_one_infer() -> None:
    module = program("let %a = nn.relu(%x); add(%a, %y)")
    ran = stages(module, "AnnotateTarget, DeadCodeElimination, PartitionGraph", TABLE)
    assert ran[1].kept_types == {}
    assert rc.check(ran[-1].after) == ()
    made = [item.function for item in ran[-1].after.definitions if item.var.name != "main"]
    assert made
    assert all(param.annotation is not None for item in made if isinstance(item, Function) for param in item.params)


@given(programs(lets=True), st.sampled_from(("reported", *LETS)), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_orders_that_passes_keep_are_those_that_are_found(drawn: Drawn, lets: str, through: bool) -> None:
    ran = stages(drawn.module, PASSES.format(lets=lets, through=through), TABLE)
    for stage in ran:
        for function, order in stage.kept_orders.items():
            assert [*order.items()] == [*open_values(function).items()]
    open_ = [item.function for item in ran[2].after.definitions if isinstance(item.function, Function)]
    assert set(ran[2].kept_orders) == {function for function in open_ if not is_closed(function)}


def test_an_end_that_another_value_uses_stays_when_its_begin_goes() -> None:
    module = program(begins("%0 = e:a⟦nn.relu(b:a⟦%x⟧)⟧; (e:a⟦add(b:a⟦%0⟧, b:a⟦%y⟧)⟧, %0)"))
    (merged, cut) = stages(module, "MergeCompilerRegions, PartitionGraph", TABLE)
    ((main, order),) = merged.kept_orders.items()
    assert [*order.items()] == [*open_values(main).items()]
    assert [(len(item.begins), len(item.ends)) for item in find_regions(main, order).all] == [(2, 2)]
    assert rc.script(cut.after).count("nn.relu") == 1


def test_an_end_that_two_other_values_use_stays_one() -> None:
    inner = "%0 = e:a⟦nn.relu(b:a⟦e:a⟦tanh(b:a⟦%x⟧)⟧⟧)⟧"
    body = f"{inner}; (e:a⟦add(b:a⟦%0⟧, b:a⟦%y⟧)⟧, if (%c) {{ tanh(%0) }} else {{ negative(%0) }})"
    (merged,) = stages(program(begins(body)), "MergeCompilerRegions", TABLE)
    assert rc.script(merged.after).count("compiler_end") == 2
