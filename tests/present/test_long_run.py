"""Windows of long runs and deep stacks: what they hold does not grow with the program."""

from functools import cache

import msgspec
import pytest

from relax_core.present.running import player as player_module
from relax_core.present.running.player import Player
from relax_core.present.running.run import Recording, present_run
from relax_core.present.running.run_models import Frame, Write
from relax_core.present.running.values import Values
from relax_core.vm.recording.trace import Trace
from tests.present.programs import parsed, recording_of, trace_of
from tests.present.test_run import COUNTDOWN, trace_of_countdown

WINDOW = 120
KEPT = 40


@cache
def chain(count: int) -> Recording:
    """A run of so many additions, each of which gives another tensor; all live to the end."""
    lines = "\n".join(f"        v{number + 1} = R.add(v{number}, x)" for number in range(count))
    text = f"""from tvm.script import ir as I
from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        v0 = R.add(x, x)
{lines}
        return ({", ".join(f"v{number}" for number in range(count))})
"""
    program = parsed(text)
    return recording_of(program, trace_of(program))


def window(trace: Trace, first: int) -> tuple[Values, tuple[Frame, ...]]:
    """The values and the stack that a window begins with."""
    shown = {number: place for place, number in enumerate(range(len(trace.executable.functions)))}
    values = Values(trace, lambda _: 0)
    frames = tuple(Player(trace, values, shown, range(first, first + WINDOW)).initial_frames())
    return values, frames


def test_a_late_window_of_a_long_function_holds_as_much_as_that_of_a_shorter_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(player_module, "_WHOLE", KEPT)

    def count(length: int) -> int:
        trace = chain(length).trace
        # The last events read all for the tuple that is returned.
        values, _ = window(trace, len(trace) - WINDOW - 10)
        return len(values.table)

    # Every addition writes a storage, a tensor and nothing, in turns.
    assert count(300) > KEPT // 4
    assert abs(count(600) - count(300)) < 5


def test_what_a_window_reads_or_was_written_last_is_whole_and_the_rest_keeps_its_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(player_module, "_WHOLE", KEPT)
    trace = chain(100).trace
    first = len(trace) - WINDOW
    values, (frame,) = window(trace, first)
    monkeypatch.setattr(player_module, "_WHOLE", 10_000)
    all_values, (whole,) = window(trace, first)
    pairs = [
        (values.table[here], all_values.table[there])
        for here, there in zip(frame.registers, whole.registers, strict=True)
        if there >= 0
    ]
    assert all((here.kind, here.type, here.device) == (there.kind, there.type, there.device) for here, there in pairs)
    outlined = [here for here, there in pairs if here != there]
    assert 0 < len(outlined) < len(pairs) - KEPT // 2
    assert {(here.short, here.tensor) for here in outlined} == {("…", None)}


def test_frames_far_below_a_window_come_without_registers() -> None:
    trace = trace_of_countdown(200)
    deepest = max(range(len(trace)), key=lambda at: int(trace.depths[at]))
    _, frames = window(trace, deepest)
    lowest = int(trace.depths[deepest : deepest + WINDOW].min())
    held = [depth for depth, frame in enumerate(frames) if frame.registers]
    assert 0 < held[0] < lowest < len(frames)
    assert held == list(range(held[0], len(frames)))


def test_no_event_of_a_window_writes_to_a_frame_that_came_without_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relax_core.present.running.run.WINDOW", 400)
    monkeypatch.setattr("relax_core.present.running.run._MARGIN", 100)
    recording = recording_of(parsed(COUNTDOWN), trace_of_countdown(200))
    for at in range(0, len(recording.trace), 300):
        run = present_run(recording, at)
        empty = {depth for depth, frame in enumerate(run.frames) if not frame.registers}
        written = {change.depth for event in run.events for change in event.changes if isinstance(change, Write)}
        assert not written & empty


def test_an_instruction_takes_as_many_bytes_as_its_text_and_two_numbers() -> None:
    run = present_run(chain(100))
    texts = sum(len(line.text) for line in run.instructions)
    assert len(msgspec.json.encode(run.instructions)) < texts + 24 * len(run.instructions)
