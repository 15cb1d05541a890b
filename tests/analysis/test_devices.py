"""Device analysis: the proof behind a device, the names of devices, and the visits that hide functions."""

from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relax_core as rc
from relax_core.analysis.device.devices import Device, attribute_of, device_named, device_of
from relax_core.analysis.device.proof import Proof
from relax_core.analysis.device.visits import VISITS, Visits, visit_functions
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import Var
from relax_core.ir.module import IRModule

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "relay"
CPU, GPU = Device("cpu"), Device("cuda")
TWO, THREE, TWELVE = "tensor_array", "map_three_times", "map_twelve_times"
DEEPER, DEEPEST = "map_through_two", "map_through_three"
ALL = frozenset((TWO, THREE, TWELVE, DEEPER, DEEPEST))
# Which programs an algorithm annotates in full: a count of bodies is met by uses, a count of arguments by depth.
ANNOTATED: MappingProxyType[tuple[Visits, int], frozenset[str]] = MappingProxyType({
    ("memo_body", 1): frozenset((DEEPER, DEEPEST)),
    ("memo_body", 2): frozenset((DEEPER, DEEPEST, TWO)),
    ("memo_body", 10): ALL - {TWELVE},
    ("memo_body", 99): ALL,
    ("args_first", 1): frozenset(),
    ("args_first", 2): ALL - {DEEPER, DEEPEST},
    ("args_first", 3): ALL - {DEEPEST},
    ("args_first", 10): ALL,
    ("args_first", 99): ALL,
})  # fmt: skip


def sample(name: str) -> IRModule:
    return rc.parse((SAMPLES / f"{name}.relay").read_text(encoding="utf-8"), f"{name}.relay")


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize(("visits", "limit"), ANNOTATED)
def test_the_algorithms_as_reported_annotate_what_the_table_says(visits: Visits, limit: int, name: str) -> None:
    report = rc.device_report(sample(name), as_in="reported", visits=visits, visit_limit=limit)
    hidden = [item for item in report.functions if not item.is_visited]
    assert (not hidden) == (name in ANNOTATED[visits, limit])
    for item in hidden:
        assert item.hidden_by.startswith("never visited: memo hit at")
        assert {row.device for row in item.rows} == {""}
        assert report.visits[item.hidden_at].kind == "memo hit"


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_analysis_reaches_every_function(name: str) -> None:
    report = rc.device_report(sample(name), "cuda")
    assert {row.device for item in report.functions for row in item.rows} == {"cuda(0)"}
    assert all(item.is_visited for item in report.functions)


def test_only_the_memo_of_bodies_agrees_with_the_log_of_the_thread() -> None:
    # "All other functions are correctly annotated": @tensor_concatenate, an argument of @foldl, is among them.
    hidden = {visits: set(visit_functions(sample(TWO), visits, 1).hidden_by) for visits in VISITS}
    assert hidden["memo_body"] == {"tensor_expand_dims_float32_2_4"}
    assert hidden["args_first"] == {"tensor_expand_dims_float32_2_4", "tensor_concatenate_float32_?_2_4"}


def test_the_diagnostic_names_the_memo_hit_and_the_path() -> None:
    stage = rc.run_pipeline(sample(TWO), "PlanDevices(as_in='reported')")[-1]
    (warning,) = stage.diagnostics
    assert warning.code == "DV002"
    assert (
        "never visited: memo hit at the call of @map in @main → @tensor_array_stack_float32_2_4 (line 27)"
        in warning.message
    )
    assert "@map was visited at step 1" in warning.message


@pytest.mark.parametrize("visits", VISITS)
def test_steps_replay_as_a_walk(visits: Visits) -> None:
    for limit in (1, 2, 10):
        depth: list[str] = []
        for number, step in enumerate(visit_functions(sample(TWELVE), visits, limit).steps):
            assert step.number == number
            assert step.path == tuple(depth if step.kind != "leave" else depth[:-1])
            if step.kind == "enter":
                depth.append(step.function)
            elif step.kind == "leave":
                assert depth.pop() == step.function
            elif step.kind == "memo hit":
                assert step.first < number
        assert depth == []


def test_visits_end_in_mutual_recursion() -> None:
    for visits in VISITS:
        assert {"is_even", "is_odd"} <= visit_functions(sample("even_odd"), visits, 99).entered


Step = tuple[int, int]


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    st.dictionaries(st.integers(0, 11), st.booleans()),
)
def test_a_chain_leads_from_a_value_to_what_decides_it(pairs: list[Step], fixed: dict[int, bool]) -> None:
    proof = Proof()
    nodes = [Var(f"x{k}") for k in range(12)]
    slots = [proof.slot(node) for node in nodes]
    edges: dict[int, Step] = {}
    for slot, is_gpu in fixed.items():
        proof.fix(slots[slot], GPU if is_gpu else CPU, nodes[slot], f"fix {slot}")
    for a, b in pairs:
        before = len(proof.steps)
        if proof.unite(slots[a], slots[b], nodes[a], f"{a}={b}") and len(proof.steps) > before:
            edges[before] = (a, b)
    for slot in slots:
        decided = proof.fixed(slot)
        if decided is None:
            assert proof.chain(slot) == ()
            continue
        *links, last = proof.chain(slot)
        at = slot
        for link in links:
            a, b = edges[link.number]
            assert at in (a, b)
            at = b if at == a else a
        assert last.words == f"fix {at}"
        assert decided.device == (GPU if fixed[at] else CPU)
    for conflict in proof.conflicts:
        assert conflict.left != conflict.right


@pytest.mark.parametrize(
    ("text", "device"),
    [("cpu", CPU), ("cpu(0)", CPU), ("cuda:1", Device("cuda", 1)), ("gpu", GPU), ("vulkan(3)", Device("vulkan", 3))],
)
def test_a_device_is_read_by_its_name(text: str, device: Device) -> None:
    assert device_named(text) == device
    assert device_of(attribute_of(device)) == device
    assert device_named(str(device)) == device


@pytest.mark.parametrize("text", ["", "moon", "cpu(x)", "cpu(-1)"])
def test_what_is_no_device_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no device"):
        device_named(text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2, "cuda(0)"),
        (0, ""),
        ((("__class__", "VirtualDevice"), ("device_type", 1), ("virtual_device_id", 3)), "cpu(3)"),
        ((("__class__", "VirtualDevice"), ("device_type_int", 2), ("memory_scope", "global")), "cuda(0)"),
        ((("__class__", "VirtualDevice"), ("device_type", 4), ("memory_scope", "texture")), "opencl(0) in texture"),
        ((("__class__", "meta"), ("name", "VirtualDevice"), ("index", 1)), "meta[VirtualDevice][1]"),
        ((("__class__", "SEScope"), ("device_type", 99)), "device_type=99(0)"),
        (None, ""),
    ],
)
def test_attributes_of_all_years_name_devices(value: AttrValue, shown: str) -> None:
    found = device_of(value)
    assert ("" if found is None else str(found)) == shown
    if found is not None:
        assert device_of(attribute_of(found)) == found
