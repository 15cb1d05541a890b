"""What lines take of a quantity: what is counted, what is measured, and what stays blank."""

import msgspec
import pytest

import relax_core as rc
from relax_core.engine.debug.requests import LineHeatOf, Quantity
from relax_core.engine.protocol import Failure, GraphOf, Program, RunOf
from relax_core.engine.session import Session
from relax_core.present.heat.levels import Figure, Scale, heat_of
from relax_core.present.models import LineHeat
from relax_core.present.running.run_models import Run
from tests.engine.asking import ask
from tests.engine.programs import sample

CALLED_TWICE = """
@I.ir_module
class Module:
    @R.function
    def half(x: R.Tensor((4, 8), "float32")) -> R.Tensor((4, 8), "float32"):
        y = R.multiply(x, R.const(0.5, "float32"))
        return y

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")) -> R.Tensor((4, 8), "float32"):
        cls = Module
        a = cls.half(x)
        b = cls.half(a)
        c = R.matmul(b, w)
        return R.log(R.subtract(c, c))
"""


def heat_in(quantity: Quantity, program: Program) -> LineHeat:
    return ask(Session(), LineHeatOf(program, quantity))


def test_bytes_and_operations_of_lines_are_those_of_the_cost_model() -> None:
    program = sample("relax/mlp.py")
    module = rc.run_pipeline(rc.parse(program.text), "LegalizeOps")[-1].after
    costs = rc.costs_of(module)
    totals: tuple[tuple[Quantity, str, int], ...] = (
        ("bytes", "B", costs.moved_bytes),
        ("operations", "FLOP", costs.operations),
    )
    for quantity, unit, total in totals:
        marks = dict(heat_in(quantity, program).lines)
        assert list(marks) == [18, 19, 20, 21, 22]
        numbers = [float(mark.short.split()[0]) * (1000 if " k" in mark.short else 1) for mark in marks.values()]
        assert sum(numbers) == pytest.approx(total, rel=0.01)
        assert all(mark.short.endswith(unit) for mark in marks.values())
        assert marks[18].level == 5


def test_a_function_counts_as_often_as_it_is_called_and_its_caller_counts_it() -> None:
    marks = dict(heat_in("operations", Program(CALLED_TWICE)).lines)
    assert {line: mark.short for line, mark in marks.items()} == {
        6: "64 FLOP",
        12: "32 FLOP",
        13: "32 FLOP",
        14: "512 FLOP",
        15: "64 FLOP",
    }
    assert [mark.level for mark in marks.values()] == [1, 1, 1, 5, 1]


def test_a_line_with_an_infinity_is_marked_and_the_largest_number_besides_is_told() -> None:
    heat = heat_in("values", Program(CALLED_TWICE))
    marks = dict(heat.lines)
    assert marks[15].level == -1
    assert (marks[15].short, "as many as 32 ∞ in a value" in marks[15].words) == ("∞", True)
    assert marks[6].level > 0
    assert heat.scale.startswith("logarithmic")


def test_time_is_that_of_the_profile_and_lines_of_one_kernel_share_it() -> None:
    passes = "LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR"
    heat = heat_in("time", msgspec.structs.replace(sample("relax/mlp.py"), pipeline=passes))
    marks = dict(heat.lines)
    assert max(mark.level for mark in marks.values()) == 5
    assert marks[18].short == marks[19].short == marks[20].short
    assert "together with line 19-20" in marks[18].words
    assert heat.note.startswith("Median of ")


def test_what_has_no_figure_is_blank_and_named() -> None:
    program = sample("relax/loop.py")
    heat = heat_in("bytes", program)
    assert "6 lines blank (14-18, 23)" in heat.note
    assert {14, 15, 16, 17, 18, 23}.isdisjoint(dict(heat.lines))
    relay = heat_in("bytes", sample("errors/ps_relay_operator.relay"))
    assert (relay.lines, relay.note) == ((), "Costs are counted in Relax, and this is Relay that does not become it.")
    assert dict(heat_in("values", sample("relay/map_three_times.relay")).lines)


def test_relay_takes_what_relax_of_it_takes_on_the_lines_of_its_own_text() -> None:
    program = sample("relay/conv_bn_relu.relay")
    module = rc.run_pipeline(rc.parse(program.text), "RelayToRelax, LegalizeOps")[-1].after
    marks = dict(heat_in("operations", program).lines)
    assert list(marks) == list(range(15, 23))
    assert (marks[18].short, marks[18].level, marks[20].short) == ("73.7 kFLOP", 5, "0 FLOP")
    numbers = [float(mark.short.split()[0]) * (1000 if " k" in mark.short else 1) for mark in marks.values()]
    assert sum(numbers) == pytest.approx(rc.costs_of(module).operations, rel=0.01)
    heat = heat_in("bytes", program)
    drawn = {node.node for node in ask(Session(), GraphOf(program, function="main")).nodes}
    assert len(heat.nodes) == 7
    assert {node for node, _ in heat.nodes} <= drawn


def test_nodes_are_those_of_the_source() -> None:
    program = sample("relax/mlp.py")
    session = Session()
    heat = ask(session, LineHeatOf(program, "bytes"))
    run = ask(session, RunOf(program))
    assert isinstance(run, Run)
    assert [node for node, _ in heat.nodes][:2] == ["0/main/7", "0/main/12"]
    assert all(line in {item.number for item in run.source} for line, _ in heat.lines)


def test_a_program_with_errors_has_no_heat() -> None:
    reply = Session().request(LineHeatOf(Program(CALLED_TWICE.replace("(8, 8)", "(7, 8)")), "bytes"))
    assert isinstance(reply, Failure)


@pytest.mark.parametrize(("value", "level"), [(0, 0), (1, 1), (20, 1), (21, 2), (100, 5)])
def test_levels_of_a_difference_begin_at_zero(value: float, level: int) -> None:
    heat = heat_of(Scale("Bytes", "B"), {1: Figure(value, "x"), 2: Figure(100, "100 B")}, {"n": 1}, "")
    assert dict(heat.lines)[1].level == level
    assert dict(heat.nodes)["n"] == dict(heat.lines)[1]
    assert heat.scale == "linear, 0 to 100 B"


def test_the_largest_figure_has_the_highest_level_whatever_its_digits() -> None:
    for place in range(1, 2_000):
        largest = place * 1.1e-7
        assert Scale("Time", "").level(largest, largest, largest) == 5


@pytest.mark.parametrize(("value", "level"), [(1, 1), (9, 1), (11, 2), (1e3, 4), (1e5, 5)])
def test_levels_of_a_ratio_are_factors(value: float, level: int) -> None:
    scale = Scale("Largest", "", is_logarithmic=True)
    heat = heat_of(scale, {1: Figure(value, "x"), 2: Figure(1, "1"), 3: Figure(1e5, "1e5")}, {}, "")
    assert dict(heat.lines)[1].level == level


def test_figures_that_are_all_zero_have_no_colour() -> None:
    heat = heat_of(Scale("Bytes", "B"), {1: Figure(0, "0 B")}, {}, "")
    assert (dict(heat.lines)[1].level, heat.scale) == (0, "")
