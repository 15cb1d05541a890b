"""Conditions of breakpoints: what they mean, where they stop, and what is said of those that mean nothing."""

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import relax_core as rc
from relax_core.diagnostics import CompileError, RunError
from relax_core.vm import debugger
from relax_core.vm.condition import Condition
from relax_core.vm.conditions.condition_syntax import parse_condition
from relax_core.vm.debugger import AnyBreakpoint, LineBreakpoint, PcBreakpoint
from relax_core.vm.machine import Machine
from relax_core.vm.recording.trace import Trace
from tests.vm.assemble import assemble

LOOP = """
@I.ir_module
class Module:
    @R.function
    def main(n: R.Tensor((), "int64"), x: R.Tensor((2, "m"), "float32")):
        @R.function
        def loop(i: R.Tensor((), "int64"), total: R.Tensor((2, "m"), "float32")) -> R.Tensor((2, "m"), "float32"):
            goes_on = R.less(i, n)
            if goes_on:
                more = R.add(total, x)
                r = loop(R.add(i, R.const(1, "int64")), more)
            else:
                r = total
            return r

        result = loop(R.const(0, "int64"), x)
        return result
"""
STEPS = 4
LINE = next(number for number, line in enumerate(LOOP.split("\n"), 1) if "more = " in line)


@cache
def trace() -> Trace:
    x = np.array([[1, 2, 3], [4, 5, np.nan]], np.float32)
    found = Machine(rc.build(rc.parse(LOOP))).run("main", (np.array(STEPS, np.int64), x))
    assert found.error is None
    return found


def point(condition: str) -> LineBreakpoint:
    return LineBreakpoint(LINE, Condition.of(condition))


def stopping_rounds(condition: str) -> list[int]:
    """Return in which rounds of the loop the condition holds."""
    hits = list(debugger.hits_of(trace(), point(condition)))
    assert len(hits) == STEPS
    assert [hit.fault for hit in hits] == [None] * STEPS
    return [number for number, hit in enumerate(hits) if hit.stops]


@pytest.mark.parametrize(
    ("condition", "rounds"),
    [
        ("i > 1", [2, 3]),
        ("0 < i <= 2 < n", [1, 2]),
        ("not i", [0]),
        ("i % 2 == 1 or i == 0", [0, 1, 3]),
        ("%0 == 2", [2]),
        ("(i + 1) % (%0 + 1) == 0", [0, 1, 2, 3]),
        ("hits == 2", [1]),
        ("depth == 1 + i", [0, 1, 2, 3]),
        ("time > 0 and True", [0, 1, 2, 3]),
        ("m == 3 and total.shape == (2, m)", [0, 1, 2, 3]),
        ("total[0, 1] > 5", [2, 3]),
        ("total[0, -1] == 6 and x.dtype == 'float32'", [1]),
        ("isnan(total) and not isinf(x)", [0, 1, 2, 3]),
        ("isfinite(total)", []),
        ("any(total > 11)", [2, 3]),
        ("total.ndim + total.size == 8", [0, 1, 2, 3]),
        ("sum(total.shape) - len(total) == m", [0, 1, 2, 3]),
        ("x.shape.sum() == 5 and x.shape.len() == i.max() - i + 2", [0, 1, 2, 3]),
        ("i == None", []),
        ("-i < -2", [3]),
    ],
)
def test_a_condition_holds_in_these_rounds(condition: str, rounds: list[int]) -> None:
    assert stopping_rounds(condition) == rounds


def test_a_run_stops_where_a_condition_holds_in_both_directions() -> None:
    hits = [hit.time for hit in debugger.hits_of(trace(), point("i == 1 or i == 3")) if hit.stops]
    there = debugger.run_to(trace(), 0, [point("i == 1 or i == 3")])
    assert there == hits[0]
    assert debugger.run_to(trace(), there, [point("i == 1 or i == 3"), point("i == 2")]) < hits[1]
    assert debugger.run_to(trace(), hits[1], [point("i == 1 or i == 3")]) == len(trace())
    assert debugger.run_back_to(trace(), len(trace()), [point("i == 1 or i == 3")]) == hits[1]
    assert debugger.run_back_to(trace(), hits[0], [point("i == 1 or i == 3")]) == 0


@pytest.mark.parametrize(
    ("condition", "place", "message"),
    [
        ("", 0, "a value is expected at the end"),
        ("i >", 3, "a value is expected at the end"),
        ("i = 1", 2, "`=` has no meaning"),
        ("i > 1 n", 6, "an operator is expected before `n`"),
        ("x.shape[0", 9, "`]` is expected at the end"),
        ("x.3", 1, "an operator is expected before `.3`"),
        ("x.(", 2, "a field is named after"),
        ("__import__('os')$", 16, "`$` has no meaning"),
        ("(" * 60 + "1" + ")" * 60, 40, "nested at most 40 deep"),
        ("1+" * 300 + "1", 400, "at most 400 characters"),
    ],
)
def test_what_cannot_be_read_is_located(condition: str, place: int, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse_condition(condition)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span and found.span.start) == ("VM030", place)
    assert message in found.message


@pytest.mark.parametrize(
    ("condition", "place", "message"),
    [
        ("i > 1 and totl > 0", 10, "there is no `totl` in `main_loop`"),
        ("%99 == 1", 0, "no `%99`"),
        ("eval(i)", 0, "there is no `eval` among the functions of a condition"),
        ("isnan(i, total)", 0, "`isnan` takes one value, got 2"),
        ("total.sum(i)", 0, "`sum` takes one value, got 2"),
    ],
)
def test_a_name_that_stands_for_nothing_is_located(condition: str, place: int, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        debugger.check_condition(trace(), point(condition))
    (found,) = caught.value.diagnostics
    assert (found.code, found.span and found.span.start) == ("VM031", place)
    assert message in found.message


@pytest.mark.parametrize(
    ("condition", "part", "message"),
    [
        ("more[0, 0] > 1", "more", "`more` is not yet written here"),
        ("i > 0 or total > 1", "total > 1", "neither true nor false"),
        ("total[5, 0] > 1", "total[5, 0]", "out of range"),
        ("total[i > 0, 0.5] > 1", "total[i > 0, 0.5]", "an index is a whole number"),
        ("total.gradient", "total.gradient", "has no `gradient`"),
        ("1 // 0 > i", "1 // 0", "division by zero"),
        ("n % i == 0", "n % i", "division by zero"),
        ("'a' < 1", "'a' < 1", "does not compare"),
        ("'a' + 1 == 2", "'a'", "not a number or a tensor"),
        ("any(total[0] + total) == x[0, 0, 0]", "x[0, 0, 0]", "has no item"),
        ("any(total + (x > 0)[0, 0] + x.shape)", "x.shape", "not a number or a tensor"),
    ],
)
def test_a_condition_without_value_does_not_stop_and_says_why(condition: str, part: str, message: str) -> None:
    first = next(debugger.hits_of(trace(), point(condition)))
    assert not first.stops
    assert first.fault is not None
    assert first.fault.code == "VM032"
    assert first.fault.span is not None
    assert first.fault.span.text == part
    assert message in first.fault.message


LISTING = """
@main(x) 2
  call vm.builtin.copy(%0) -> %1
  ret %1
"""
leaves = st.one_of(st.integers(0, 9).map(str), st.just("%0"), st.just("3.5"))


OPERATORS = ("+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", ">", ">=", "and", "or")


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(st.sampled_from(OPERATORS), inner).map(" ".join)
    chain = st.tuples(inner, st.lists(pairs, min_size=1, max_size=4).map(" ".join)).map(" ".join)
    return st.one_of(chain, chain.map("({})".format), inner.map("-{}".format), inner.map("not {}".format))


@given(st.recursive(leaves, _wider, max_leaves=12), st.integers(-3, 9))
def test_a_condition_means_what_python_means_by_it(text: str, x: int) -> None:
    """Without `a + not b`, which Python does not read, conditions of numbers are Python's."""
    assume(len(text) < 200 and sum(map(text.count, ("(", "not", "-"))) < 8)
    run = Machine(assemble(LISTING)).run("main", (x,))
    try:
        value: object = eval(text.replace("%0", " x "), {"__builtins__": {}}, {"x": x})
        expected: object = bool(value)
    except ZeroDivisionError:
        expected = ZeroDivisionError
    except SyntaxError:
        return
    else:
        if not re.search("and|or|not", text):
            # These make truth values of numbers; the others have the very value.
            assert Condition.of(f"({text}) == {value!r}").holds(run, 0)
    try:
        found: object = Condition.of(text).holds(run, 0)
    except RunError as error:
        found = ZeroDivisionError if "division by zero" in error.diagnostics[0].message else error
    assert found == expected


def test_a_breakpoint_anywhere_sees_what_was_written() -> None:
    run = Machine(assemble(LISTING)).run("main", (3,))
    assert debugger.run_to(run, 0, [AnyBreakpoint(Condition.of("written == 3"))]) == 1
    assert debugger.run_to(run, 0, [AnyBreakpoint(Condition.of("written == 4"))]) == len(run)
    assert [hit.stops for hit in debugger.hits_of(run, AnyBreakpoint(Condition.of("isnan(written)")))] == [False] * 2
    nan = Machine(assemble(LISTING)).run("main", (float("nan"),))
    assert debugger.run_to(nan, 0, [AnyBreakpoint(Condition.of("isnan(written)"))]) == 1


def test_an_instruction_has_a_condition_too() -> None:
    run = Machine(assemble(LISTING)).run("main", (3,))
    assert debugger.run_to(run, 0, [PcBreakpoint(1, Condition.of("%1 == 3"))]) == 1
    assert debugger.run_to(run, 0, [PcBreakpoint(1, Condition.of("%1 == 4"))]) == len(run)
