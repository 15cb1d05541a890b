"""PlanDevices: where values are, which copies there are, and that the program stays what it was."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.inputs import generate
from relax_core.ir.expr import Call, Function, Op, TensorType, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import postorder
from relax_core.ir.prim import IntImm
from relax_core.present.device_models import CopyRow
from tests.passes.relay.device_cases import CASES, FOUR, TWO, Case, cpu, cuda, main

PLAN = "PlanDevices(default='cuda')"


def planned(module: IRModule, passes: str = PLAN) -> IRModule:
    stage = rc.run_pipeline(module, passes)[-1]
    assert not stage.is_failed, [item.render() for item in stage.diagnostics]
    return stage.after


def shown(copy: CopyRow) -> str:
    value = copy.value.removesuffix("(…)").replace("tuplegetitem", "projection")
    return f"{value}: {copy.source}>{copy.target}"


def whole(device: str) -> str:
    return device if "(" in device else f"{device}(0)"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_value_is_where_it_should_be(case: Case) -> None:
    report = rc.device_report(rc.parse(case.text, "case.relay"), "cuda")
    assert report.conflicts == ()
    found = {item.split("=")[0]: report.device("main", item.split("=")[0]) for item in case.devices.split()}
    assert found == {name: whole(device) for name, device in (item.split("=") for item in case.devices.split())}
    assert sorted(map(shown, report.copies)) == sorted(case.copies)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_plan_reads_back_and_stays_as_it_is(case: Case) -> None:
    module = planned(rc.parse(case.text, "case.relay"))
    assert [item for item in rc.check(module) if item.severity == "error"] == []
    text = rc.script(module)
    assert rc.structural_equal(rc.parse(text, "again.relay"), module)
    assert planned(module) is module


@pytest.mark.parametrize("case", [item for item in CASES if item.runs], ids=lambda case: case.name)
def test_the_plan_keeps_the_value(case: Case) -> None:
    module = rc.parse(case.text, "case.relay")
    function = module["main"]
    assert isinstance(function, Function)
    args = generate(function, 1, {})
    np.testing.assert_array_equal(rc.evaluate(planned(module), "main", *args), rc.evaluate(module, "main", *args))


def count(module: IRModule, name: str) -> int:
    calls = (item for item in postorder(module) if isinstance(item, Call))
    return sum(1 for item in calls if isinstance(item.op, Op) and item.op.name == name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_copy_that_is_reported_is_written_out(case: Case) -> None:
    assert count(planned(rc.parse(case.text, "case.relay")), "device_copy") == len(case.copies)


NEGATE = "def @f(%p: T) -> T { negative(%p) }\n"
CONFLICTS = {
    "two calls of a function": (
        main(TWO, f"add(@f({cpu('%x', fixed=True)}), @f({cuda('%y', fixed=True)}))", NEGATE),
        "argument 1 of @f is its parameter",
    ),
    "a tuple of two devices": (
        main(TWO, f"({cpu('%x', fixed=True)}, {cuda('%y', fixed=True)})"), "a tuple is on the device of its fields",
    ),
    "two annotations of one value": (
        main(TWO, f"%0 = add(%x, %y); subtract({cpu('%0')}, {cuda('%0')})"), "annotated with cuda(0)",
    ),
    "branches on two devices": (
        main(f"%t: bool, {TWO}", f"if (%t) {{ {cpu('%x', fixed=True)} }} else {{ {cuda('%y', fixed=True)} }}"),
        "an if gives what its branches give",
    ),
    "a parameter that is declared elsewhere": (
        main("%x {virtual_device=VirtualDevice(device_type=1)}: T", "@f(%x)",
             "def @f(%p {virtual_device=VirtualDevice(device_type=2)}: T) -> T { negative(%p) }\n"),
        "%x is declared on cpu(0)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_shows_the_chains_of_both_sides(name: str) -> None:
    text, words = CONFLICTS[name]
    module = rc.parse(text, "case.relay")
    stage = rc.run_pipeline(module, PLAN)[-1]
    errors = [item for item in stage.diagnostics if item.code == "DV001"]
    assert errors
    assert words in errors[0].message
    sides = {words.split(":")[0] for words, _ in errors[0].related}
    assert sides == {"cpu(0)", "cuda(0)"}
    conflict = rc.device_report(module, "cuda").conflicts[0]
    assert {conflict.left, conflict.right} == {"cpu(0)", "cuda(0)"}
    for device, chain in ((conflict.left, conflict.left_chain), (conflict.right, conflict.right_chain)):
        assert device in chain[-1].words


CALLS = "add(add(@g(cpu(%a)), @g(cpu(%b))), add(@g(cuda(%c)), @g(cuda(%d))))"
NESTED = "def @f(%p: T) -> T { negative(%p) }\ndef @g(%p: T) -> T { @f(@f(%p)) }\n"
MUTUAL = (
    "def @f(%p: T, %n: int32) -> T { if (%n < 1) { %p } else { @h(%p, %n - 1) } }\n"
    "def @h(%p: T, %n: int32) -> T { if (%n < 1) { negative(%p) } else { @f(%p, %n - 1) } }\n"
    "def @g(%p: T) -> T { @f(%p, 3) }\n"
)


def spelled(text: str) -> str:
    for letter in "abcd":
        text = text.replace(f"cpu(%{letter})", cpu(f"%{letter}", fixed=True))
        text = text.replace(f"cuda(%{letter})", cuda(f"%{letter}", fixed=True))
    return text


@pytest.mark.parametrize(
    ("before", "count_of_functions"), [(NESTED, 5), (MUTUAL, 7)], ids=["nested", "mutual recursion"]
)
def test_clone_makes_one_function_for_each_device(before: str, count_of_functions: int) -> None:
    module = rc.parse(spelled(main(FOUR, CALLS, before)), "case.relay")
    assert rc.run_pipeline(module, PLAN)[-1].is_failed
    after = planned(module, "PlanDevices(default='cuda', clone=True)")
    assert len(after.definitions) == count_of_functions
    report = rc.device_report(after, "cuda")
    assert {report.device(item.var.name, "p") for item in after if item.var.name.startswith("g")} == {
        "cpu(0)",
        "cuda(0)",
    }
    args = [np.random.default_rng(k).standard_normal((5, 7)).astype("float32") for k in range(4)]
    if before is NESTED:
        np.testing.assert_array_equal(rc.evaluate(after, "main", *args), rc.evaluate(module, "main", *args))


def test_a_clone_that_would_not_help_is_not_made() -> None:
    text = main(
        TWO, f"@f({cpu('%x', fixed=True)}, {cuda('%y', fixed=True)})", "def @f(%p: T, %q: T) -> (T, T) { (%p, %q) }\n"
    )
    stage = rc.run_pipeline(rc.parse(text, "case.relay"), "PlanDevices(default='cuda', clone=True)")[-1]
    assert [item.code for item in stage.diagnostics] == ["DV001"]


def test_bytes_of_copies_are_counted() -> None:
    report = rc.device_report(rc.parse(CASES[1].text, "case.relay"), "cuda")
    assert [item.size_bytes for item in report.copies] == [5 * 7 * 4]
    assert report.known_bytes == 140


@pytest.mark.parametrize("option", ["default='moon'", "as_in='later'", "visits='all'", "visit_limit=0"])
def test_an_option_that_means_nothing_is_refused(option: str) -> None:
    with pytest.raises(rc.CompileError, match="PS002"):
        rc.run_pipeline(rc.parse(CASES[0].text, "case.relay"), f"PlanDevices({option})")


def deep(size: int) -> IRModule:
    value: Call | Var = Var("x", TensorType((IntImm(5),), "float32"))
    param = value
    for _ in range(size):
        value = Call(Op("on_device"), (Call(Op("negative"), (value,)),), (("device_type", 1),))
    assert isinstance(param, Var)
    return IRModule((Definition(rc.parse(CASES[0].text, "case.relay").definitions[0].var, Function((param,), value)),))


def test_depth_costs_no_stack() -> None:
    module = deep(5_000)
    report = rc.device_report(module, "cuda")
    assert report.device("main", "x") == "cpu(0)"
    assert count(planned(module), "on_device") == 0
