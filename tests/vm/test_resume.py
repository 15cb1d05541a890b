"""A run that goes on from a time of another one: alike without changes, with them only what they reach."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import DiagnosedError
from relax_core.engine.inputs import generate
from relax_core.ir.expr import Function
from relax_core.jit.engine import Engine
from relax_core.vm.changes.change import Change, setting
from relax_core.vm.external.packed import Registry
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import Uninitialised, Value, kind_of, show
from relax_core.vm.recording.fork import Setting
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments
from tests.vm.programs import HEAD, executable_of, run_text, sample_text

SHARED = (
    HEAD
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 2), "float32"), n: R.Prim("int64"), s: R.Shape((2, 2)), flag: R.Prim("bool")):
        y = R.add(x, x)
        pair = R.call_packed("custom_pair", y, x, sinfo_args=R.Object())
        v = R.reshape(y, s)
        w = R.multiply(y, R.const(10.0, "float32"))
        return (w, pair, v, n)
"""
)
LOCAL = (
    HEAD
    + """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        y = R.add(x, x)
        z = R.add(y, y)
        w = R.multiply(z, y)
        return (w, z, y)
"""
)
FAILING = (
    HEAD
    + """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), "bool"), y: R.Tensor((2,), "float32")):
        R.func_attr({"relax.force_pure": True})
        a = R.add(y, y)
        _ = R.assert_op(x, format="no")
        b = R.add(a, a)
        return b
"""
)
ONES = np.ones((2, 2), np.float32)
ENGINE = Engine()
EXECUTABLE = executable_of(LOCAL)
EVERYWHERE = (
    "relax/loop.py",
    "relax/fib.py",
    "relax/closure_returned.py",
    "relax/inplace_update.py",
    "relay/references.relay",
    "relay/lstm_list.relay",
    "relay/own_data_type.relay",
)


def recorded(path: str) -> Trace:
    executable = executable_of(sample_text(path), path)
    entry = executable.functions[executable.index_of["main"]]
    assert isinstance(entry.node, Function)
    return Machine(executable, engine=ENGINE).run(
        "main", entry_arguments(executable, "main", generate(entry.node, 0, {}))
    )


def seen(trace: Trace, at: int) -> list[tuple[Any, ...]]:
    """What the stack and its registers show at a time."""
    return [(state, *map(_shown, trace.registers_at(at, state.frame))) for state in trace.frames_at(at)]


def _shown(value: Value) -> object:
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, tuple) and kind_of(value) == "tuple":
        return tuple(map(_shown, value))
    return value if isinstance(value, Uninitialised) else (kind_of(value), show(value))


def moments(total: int) -> list[int]:
    return sorted({0, 1, total // 5, total // 3, total // 2, 3 * total // 4, max(0, total - 1)})


@pytest.mark.parametrize("path", EVERYWHERE)
def test_without_a_change_everything_is_as_it_was(path: str) -> None:
    trace = recorded(path)
    assert trace.error is None
    before = [seen(trace, at) for at in moments(len(trace))]
    for at in moments(len(trace)):
        other = Machine(trace.executable, engine=ENGINE).resume(trace, at)
        assert (other.pcs == trace.pcs).all()
        assert (other.frame_ids == trace.frame_ids).all()
        assert _shown(other.result) == _shown(trace.result)
        assert other.output == trace.output
        assert [seen(other, time) for time in moments(len(trace))] == before
    assert [seen(trace, at) for at in moments(len(trace))] == before


def pair(a: Any, b: Any) -> Any:
    return (a, b)


def shared() -> Trace:
    registry = Registry()
    registry.register("custom_pair", pair, is_pure=True)
    return run_text(SHARED, ONES, 3, (2, 2), True, registry=registry, engine=ENGINE)


def line_times(trace: Trace, line: int) -> list[int]:
    return [at for at in range(len(trace)) if int(trace.lines.line_of[int(trace.pcs[at])]) == line]


def at_line(trace: Trace, words: str) -> int:
    """The first time at the line that begins a binding of a variable, or the return."""
    text = trace.executable.module.relax_functions[0][1].span
    assert text is not None
    lines = text.source.text.split("\n")
    number = next(number for number, line in enumerate(lines, 1) if line.strip().startswith(words))
    return line_times(trace, number)[0]


def gone_on(trace: Trace, at: int, *changes: Change | str) -> Trace:
    made = [Change(item) if isinstance(item, str) else item for item in changes]
    return Machine(trace.executable, engine=ENGINE).resume(trace, at, [setting(trace, at, change) for change in made])


LOCAL_CHANGES = [
    ("y = 0", False, (0, 4, 0), "its own tensor: what was computed from the old one stays"),
    ("y = x", False, (4, 4, 1), "the value of another variable"),
    ("y = y * 3", False, (24, 4, 6), "computed from its own value"),
    ("z = ones()", False, (2, 1, 2), "filled"),
    ("z[1] = 0", False, ([[8, 8], [0, 0]], [[4, 4], [0, 0]], 2), "a row"),
    ("z[1, -1] = -inf", False, ([[8, 8], [8, -np.inf]], [[4, 4], [4, -np.inf]], 2), "an element"),
    ("y = file()", False, (20, 4, 5), "an array that is given"),
    ("z = random(7)", False, None, "random"),
    ("z = normal(7)", False, None, "normal"),
    ("y = 0", True, (0, 4, 0), "in place"),
]


@pytest.mark.parametrize(("text", "in_place", "expected", "why"), LOCAL_CHANGES, ids=lambda item: str(item)[:30])
def test_a_change_reaches_what_comes_behind_it(text: str, in_place: bool, expected: Any, why: str) -> None:
    trace = _local(ONES)
    before = [seen(trace, at) for at in range(len(trace) + 1)]
    at = at_line(trace, "w =")
    given_array = np.full((2, 2), 5, np.float32)
    other = gone_on(trace, at, Change(text, is_in_place=in_place, array=given_array))
    assert other.error is None
    assert isinstance(other.result, tuple)
    w, z, y = (np.asarray(item) for item in other.result)
    if expected is None:
        generator = np.random.default_rng(7)
        drawn = generator.random((2, 2)) if "random" in text else generator.standard_normal((2, 2))
        expected = (drawn.astype(np.float32) * 2, drawn.astype(np.float32), 2)
    for found, wanted in zip((w, z, y), expected, strict=True):
        np.testing.assert_array_equal(found, np.broadcast_to(np.asarray(wanted, np.float32), (2, 2)), why)
    assert [seen(trace, time) for time in range(len(trace) + 1)] == before
    assert [seen(other, time) for time in range(at)] == before[:at]


def test_a_change_in_place_is_seen_by_all_that_share_the_memory_and_one_of_its_own_by_none() -> None:
    trace = shared()
    at = at_line(trace, "w =")
    own, in_place = gone_on(trace, at, "y = 7"), gone_on(trace, at, Change("y = 7", is_in_place=True))
    for other, held in ((own, 2), (in_place, 7)):
        assert isinstance(other.result, tuple)
        w, both, v, _ = other.result
        assert isinstance(both, tuple)
        assert np.all(np.asarray(w) == 70)
        assert np.all(np.asarray(both[0]) == held), "the tuple shares the memory of y"
        assert np.all(np.asarray(both[1]) == 1)
        assert np.all(np.asarray(v) == 2), "v was computed from y before"
    frame = in_place.frames_at(at)[-1].frame
    assert any(item[0][2] == np.full((2, 2), 7, np.float32).tobytes() for item in [_tensors(in_place, at, frame)])


def _tensors(trace: Trace, at: int, frame: int) -> list[Any]:
    found = [_shown(value) for value in trace.registers_at(at, frame) if isinstance(value, np.ndarray)]
    return [item for item in found if isinstance(item, tuple) and item[2] == np.full((2, 2), 7, np.float32).tobytes()]


def test_a_field_of_a_tuple_is_changed_and_its_other_fields_stay_shared() -> None:
    trace = shared()
    at = at_line(trace, "w =")
    other = gone_on(trace, at, "pair[1] = zeros()", Change("y[0, 0] = 9", is_in_place=True), "n = 11")
    assert isinstance(other.result, tuple)
    _, both, _, n = other.result
    assert isinstance(both, tuple)
    assert np.asarray(both[0])[0, 0] == 9, "the first field is the memory of y still"
    assert not np.asarray(both[1]).any()
    assert n == 11


def test_what_the_host_gave_is_copied() -> None:
    trace, array = _local(ONES), np.full((2, 2), 5, np.float32)
    register = 0
    other = Machine(EXECUTABLE, engine=ENGINE).resume(trace, 0, [Setting(0, register, array)])
    array[...] = 0
    assert (np.asarray(other.value_at(1, 0, register)) == 5).all()


def test_changes_of_one_time_each_see_what_was_there_before() -> None:
    trace = _local(ONES)
    at = at_line(trace, "w =")
    other = gone_on(trace, at, "y[0, 0] = 5", "y[0, 1] = y[0, 0]", "z = y")
    assert isinstance(other.result, tuple)
    np.testing.assert_array_equal(np.asarray(other.result[2]), [[5, 2], [2, 2]])
    np.testing.assert_array_equal(np.asarray(other.result[1]), [[2, 2], [2, 2]])


def test_a_changed_run_is_changed_again() -> None:
    trace = _local(ONES)
    first = gone_on(trace, at_line(trace, "z ="), "y = 5")
    second = gone_on(first, at_line(trace, "w ="), "z = 2")
    assert [show(item.result) for item in (trace, first, second)] == [
        show((ONES * w, ONES * z, ONES * y)) for w, z, y in ((8, 4, 2), (50, 10, 5), (10, 2, 5))
    ]


def test_the_change_of_an_older_frame_waits_for_it() -> None:
    trace = recorded("relax/fib.py")
    deep = next(at for at in range(len(trace)) if len(trace.frames_at(at)) == 4)
    caller = trace.frames_at(deep)[-2]
    register = next(
        number
        for number, value in enumerate(trace.registers_at(deep, caller.frame))
        if isinstance(value, np.ndarray | int) and not isinstance(value, bool)
    )
    other = gone_on(trace, deep, Change(f"%{register} = 2", depth=2))
    assert int(np.asarray(other.value_at(deep, caller.frame, register))) == 2
    assert int(np.asarray(trace.value_at(deep, caller.frame, register))) != 2 or other.result == trace.result


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-4, 4, width=16), min_size=4, max_size=4), st.booleans())
def test_an_argument_that_is_changed_at_the_start_is_another_argument(numbers: list[float], in_place: bool) -> None:
    array = np.array(numbers, np.float32).reshape(2, 2)
    trace, direct = _local(ONES), _local(array)
    other = gone_on(trace, 0, Change("x = file()", is_in_place=in_place, array=array))
    assert _shown(other.result) == _shown(direct.result)


def _local(array: np.ndarray[Any, Any]) -> Trace:
    return Machine(EXECUTABLE, engine=ENGINE).run("main", (array,))


def test_a_program_that_stopped_by_an_error_goes_on_with_another_value() -> None:
    trace = run_text(FAILING, np.array(False), np.ones(2, np.float32))
    assert trace.error is not None
    other = gone_on(trace, len(trace), "x = true")
    assert other.error is None
    np.testing.assert_array_equal(np.asarray(other.result), [4, 4])


DIFFERING = (
    HEAD
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
        n = T.int64()
        m = T.int64()
        y = R.call_packed("custom_print", x, sinfo_args=R.Object())
        z = R.match_cast(x, R.Tensor((m,), "float32"))
        w = R.concat((x, z), axis=0)
        _ = R.call_packed("custom_print", w, sinfo_args=R.Object())
        v = R.call_pure_packed("custom_pair", w, w, sinfo_args=R.Object())
        u = R.match_cast(v, R.Tensor((m, n), "float32"))
        return u
"""
)


def test_a_run_that_goes_on_says_what_gave_a_dimension() -> None:
    def print_nothing(_: Any) -> None: ...

    def pair(a: Any, b: Any) -> Any:
        return np.stack((a, b))

    registry = Registry()
    registry.register("custom_print", print_nothing)
    registry.register("custom_pair", pair, is_pure=True)
    trace = run_text(DIFFERING, np.ones(3, np.float32), 1, registry=registry, engine=ENGINE)
    assert trace.error is not None
    assert "the value that dimension 0 of " in trace.error.message
    for at in range(len(trace) + 1):
        other = Machine(trace.executable, engine=ENGINE, registry=registry).resume(trace, at)
        assert other.error is not None
        assert other.error.render() == trace.error.render()


REFUSED: list[tuple[str, str, str]] = [
    ("y", "VM051", "a place, `=` and a value"),
    ("y == 1", "VM051", "a place, `=` and a value"),
    ("y = 1 2", "VM030", "an operator is expected"),
    ("y + 1 = 2", "VM051", "no variable and no register"),
    ("nope = 1", "VM051", "no variable `nope`"),
    ("%99 = 1", "VM051", "no `%99`"),
    ("y = nope", "VM032", "no `nope`"),
    ("w = 1", "VM051", "no value at time"),
    ("y[2, 0] = 1", "VM051", "no element [2, 0]"),
    ("y[0, 0, 0] = 1", "VM051", "no element [0, 0, 0]"),
    ("y[0.5] = 1", "VM051", "an index is a whole number"),
    ("pair[2] = y", "VM051", "no item [2]"),
    ('y = "a"', "VM051", "holds float32 numbers"),
    ("y = (1, 2)", "VM051", "holds float32 numbers"),
    ("y = file()", "VM051", "none is given"),
    ("y = random(-1)", "VM051", "takes one seed"),
    ("n = 0.5", "VM051", "is scalar 3 int64"),
    ("flag = 1", "VM051", "is scalar True bool"),
    ("s = (1, 2, 3)", "VM051", "is shape"),
    ("s = (1, -1)", "VM051", "a dimension of `s`"),
    ("pair = 1", "VM051", "is tuple of 2"),
]


@pytest.mark.parametrize(("text", "code", "words"), REFUSED)
def test_a_change_that_does_not_fit_is_refused_where_it_is_written(text: str, code: str, words: str) -> None:
    trace = shared()
    with pytest.raises(DiagnosedError) as refused:
        gone_on(trace, at_line(trace, "w ="), text)
    first = refused.value.diagnostics[0]
    assert first.code == code
    assert words in first.message
    assert first.span is not None
    assert first.span.source.name == "change"


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((3, 2), np.float32), "got tensor (3, 2) float32"),
        (np.zeros((2, 2)), "got tensor (2, 2) float64"),
    ],
)
def test_an_array_of_another_type_is_refused(array: np.ndarray[Any, Any], words: str) -> None:
    trace = shared()
    with pytest.raises(DiagnosedError, match=r"must be a tensor \(2, 2\) float32") as refused:
        gone_on(trace, at_line(trace, "w ="), Change("y = file()", array=array))
    assert words in refused.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("trace", "at", "words"),
    [
        (shared, 10_000, "no time 10000"),
        (shared, -1, "no time -1"),
        (lambda: _local(ONES), 10_000, "the run is over then"),
        (lambda: recorded("relax/callback.py"), 6, "which cannot be gone on with"),
    ],
    ids=["behind the end", "before the start", "over", "called back"],
)
def test_a_run_that_cannot_go_on_from_a_time_says_why(trace: Callable[[], Trace], at: int, words: str) -> None:
    made = trace()
    with pytest.raises(DiagnosedError, match="VM050") as refused:
        Machine(made.executable, engine=ENGINE).resume(made, min(at, len(made)) if "over" in words else at)
    assert words in refused.value.diagnostics[0].message


@pytest.mark.parametrize("is_from_a_file", [False, True], ids=["made again", "said"])
def test_values_that_were_given_up_are_made_again_or_it_is_said(is_from_a_file: bool) -> None:
    limits = Limits(retained_bytes=1)
    trace = Machine(EXECUTABLE, limits=limits, engine=ENGINE).run("main", (ONES,))
    if is_from_a_file:
        trace.again = None
    came: list[str] = []
    for at in range(len(trace)):
        try:
            came.append(str(_shown(Machine(EXECUTABLE, limits=limits, engine=ENGINE).resume(trace, at).result)))
        except DiagnosedError as error:
            came.append(error.diagnostics[0].code)
    assert set(came) == {str(_shown(trace.result)), *(("VM050",) if is_from_a_file else ())}
