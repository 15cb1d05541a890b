"""Traversal of nodes: order, sharing, splicing, depth."""

import copy
import dataclasses
import pickle
import weakref
from pathlib import Path

import pytest

import relax_core as rc
from relax_core.ir.expr import BindingBlock, Call, Op, Tuple, Var, VarBinding
from relax_core.ir.node import Node, children, map_children, postorder, preorder
from tests.narrow import is_tuple


def test_nodes_are_frozen_and_compare_by_identity() -> None:
    var = Var("x")
    assert var != Var("x")
    assert weakref.ref(var)() is var
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        var.name = "y"  # pyright: ignore[reportAttributeAccessIssue]  # that it is an error is what is tested
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
        del var.name  # pyright: ignore[reportAttributeAccessIssue]  # as above


def test_a_node_is_copied_and_printed_as_a_dataclass_is() -> None:
    call = Call(Op("relax.add"), (Var("x"),))
    same = copy.copy(call)
    assert same is not call
    assert children(same) == children(call)
    assert pickle.loads(pickle.dumps(Op("relax.add"))).name == "relax.add"  # our own bytes
    assert repr(Op("relax.add")) == "Op(name='relax.add')"


def test_children_are_in_the_order_of_their_fields() -> None:
    x, y, op = Var("x"), Var("y"), Op("relax.add")
    assert children(Call(op, (x, y))) == (op, x, y)
    assert children(x) == ()


def test_map_children_returns_the_same_node_if_nothing_changed() -> None:
    call = Call(Op("relax.add"), (Var("x"), Var("y")))
    assert map_children(call, lambda child: child) is call


def test_map_children_splices_a_tuple_into_a_tuple_field() -> None:
    first, second = VarBinding(Var("a"), Tuple()), VarBinding(Var("b"), Tuple())
    block = BindingBlock((first, second))
    doubled = map_children(block, lambda child: (child, second) if child is first else child)
    assert doubled.bindings == (first, second, second)


def test_postorder_visits_a_shared_node_once_and_children_first() -> None:
    x = Var("x")
    inner = Tuple((x, x))
    outer = Tuple((inner, x))
    assert list(postorder(outer)) == [x, inner, outer]
    assert list(preorder(outer)) == [outer, inner, x]


def test_traversal_of_deep_programs_does_not_recurse() -> None:
    root: Tuple = Tuple()
    for _ in range(50_000):
        root = Tuple((root,))
    assert sum(1 for _ in postorder(root)) == 50_001


def test_every_field_that_holds_nodes_is_a_child_field() -> None:
    missing: list[str] = []
    for cls in _all_subclasses(Node):
        declared: set[str] = set(getattr(cls, "CHILDREN", ()))
        names = {field.name for field in dataclasses.fields(cls)}
        assert declared <= names, cls.__name__
        node_words = {item.__name__ for item in _all_subclasses(Node)}
        for field in dataclasses.fields(cls):
            words = set(str(field.type).replace(".", " ").replace("[", " ").replace(",", " ").replace("|", " ").split())
            words |= {getattr(field.type, "__name__", "")}
            if words & node_words and field.name not in declared:
                missing.append(f"{cls.__name__}.{field.name}")
    assert missing == []


def _all_subclasses(cls: type) -> set[type]:
    direct = set(cls.__subclasses__())
    return direct.union(*(_all_subclasses(item) for item in direct)) if direct else direct


SAMPLES = Path(__file__).parents[2] / "samples"
FIELDS = [path for folder in ("relax", "relay", "tir") for path in sorted((SAMPLES / folder).iterdir())]


def fields_of(node: Node) -> list[Node]:
    """Return the nodes that the fields of a node hold, one by one."""
    found: list[Node] = []
    for value in (getattr(node, name) for name in node.CHILDREN):
        found += [item for item in (value if is_tuple(value) else (value,)) if item is not None]
    return found


@pytest.mark.parametrize("path", FIELDS, ids=lambda path: path.name)
def test_the_tables_of_a_class_say_what_its_fields_hold(path: Path) -> None:
    for module in rc.parse_all(path.read_text(), path.name).values():
        for node in postorder(module):
            assert list(children(node)) == fields_of(node)
            copies = {child: dataclasses.replace(child) for child in children(node)}
            made = map_children(node, copies.__getitem__)
            assert (made is node) == (not copies)
            assert fields_of(made) == [copies[child] for child in fields_of(node)]
            others = {item.name for item in dataclasses.fields(node)} - set(node.CHILDREN)
            assert all(getattr(made, name) is getattr(node, name) for name in others)
