"""Regions of annotated functions, and the graph that says which may be merged."""

import pytest

from relax_core.analysis.region_graph import let_places, region_graph
from relax_core.analysis.regions import (
    find_regions,
    find_sets,
    is_begin,
    is_closed,
    is_end,
    open_postorder,
    open_values,
)
from relax_core.ir.expr import Function, Op
from relax_core.ir.relay import Let
from relax_core.ir.values import value_parts
from tests.passes.relay.byoc import begins, program


def function(text: str) -> Function:
    found = program(begins(text))["main"]
    assert isinstance(found, Function)
    return found


# text; target, number, begins, ends and operators of each region
REGIONS: tuple[tuple[str, str, list[tuple[str, int, int, int, int]]], ...] = (
    ("one operator", "e:a⟦nn.relu(b:a⟦%x⟧)⟧", [("a", 0, 1, 1, 1)]),
    ("two that follow", "e:a⟦tanh(b:a⟦e:a⟦nn.relu(b:a⟦%x⟧)⟧⟧)⟧", [("a", 0, 1, 1, 1), ("a", 1, 1, 1, 1)]),
    ("two operators in one", "e:a⟦tanh(nn.relu(b:a⟦%x⟧))⟧", [("a", 0, 1, 1, 2)]),
    ("begins that an operator joins", "e:a⟦add(b:a⟦%x⟧, b:a⟦%y⟧)⟧", [("a", 0, 2, 1, 1)]),
    ("two ends", "%0 = nn.relu(b:a⟦%x⟧); (e:a⟦%0⟧, e:a⟦%0⟧)", [("a", 0, 1, 2, 1)]),
    ("a region without inputs", 'e:a⟦zeros(shape=[2], dtype="float32")⟧', [("a", 0, 0, 1, 1)]),
    ("a begin without an end", "let %a = b:a⟦%x⟧; %a", [("a", 0, 1, 0, 0)]),
    ("an end around a variable", "let %a = nn.relu(b:a⟦%x⟧); e:a⟦%a⟧", [("a", 0, 1, 1, 1)]),
    ("none", "nn.relu(%x)", []),
)


@pytest.mark.parametrize(("text", "found"), [case[1:] for case in REGIONS], ids=[case[0] for case in REGIONS])
def test_regions(text: str, found: list[tuple[str, int, int, int, int]]) -> None:
    regions = find_regions(function(text)).all
    shown = [(r.target, r.number, len(r.begins), len(r.ends), len(r.operators)) for r in regions]
    assert shown == found
    assert [r.is_open for r in regions] == [item[3] == 0 for item in found]


@pytest.mark.parametrize("text", [case[1] for case in REGIONS], ids=[case[0] for case in REGIONS])
def test_values_are_all_nodes_but_the_operators_that_calls_name(text: str) -> None:
    main = function(text)
    nodes = (node for node in open_postorder(main) if not isinstance(node, Op))
    assert [*open_values(main).items()] == [(node, value_parts(node)) for node in nodes]


def test_a_composite_function_has_no_parts() -> None:
    main = function('%0 = fn (%p, Composite="a.one") { nn.relu(%p) }; %0(%x)')
    (composite,) = (node for node in open_values(main) if isinstance(node, Function) and is_closed(node))
    assert open_values(main)[composite] == ()
    assert open_values(composite)[composite] == (*composite.params, composite.body)


def test_an_annotation_is_told_by_its_operator() -> None:
    nodes = list(open_postorder(function("e:a⟦nn.relu(b:a⟦%x⟧)⟧")))
    assert sum(map(is_begin, nodes)) == sum(map(is_end, nodes)) == 1


def test_a_way_around_blocks_and_its_path_is_given() -> None:
    body = "%0 = nn.relu(b:a⟦%x⟧); e:a⟦add(b:a⟦e:a⟦%0⟧⟧, b:a⟦e:b⟦tanh(b:b⟦e:a⟦%0⟧⟧)⟧⟧)⟧"
    main = function(body)
    order = open_values(main)
    regions, graph = find_regions(main, order), region_graph(order, find_sets(order))
    middle = next(item for item in regions.all if item.target == "b")
    ends = [item for item in regions.all if item.target == "a"]
    first, other, last = (graph.vertex_of[item.operators[0]] for item in (ends[0], middle, ends[-1]))
    assert graph.blocking_path(first, last) == (first, other, last)
    assert graph.blocking_path(first, other) == ()


def test_a_let_is_a_place_that_regions_do_not_cross() -> None:
    main = function("let %a = nn.relu(%x); let %b = tanh(%y); add(%a, %b)")
    nodes = open_values(main)
    places = let_places(nodes)
    first, second = sorted((node for node in nodes if isinstance(node, Let)), key=lambda let: places.bound_at[let.var])
    assert (first.var.name, second.var.name) == ("a", "b")
    assert places.needs_of[second.body] == places.bound_at[second.var] < places.start_of[second.body]
    assert places.start_of[first.value] < places.start_of[second.value]
