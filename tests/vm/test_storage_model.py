"""A random program with a random plan of its storages gives the values that a plain model of memory gives."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.jit.engine import Engine
from relax_core.vm.builtin.storage import POISON
from relax_core.vm.machine import Machine
from relax_core.vm.objects.values import arrays_in
from relax_core.vm.recording.fork import Setting
from relax_core.vm.recording.trace import Trace
from tests.vm.programs import HEAD, executable_of
from tests.vm.storage_programs import Model, differences, module_text, shown_differently, storage_programs

ENGINE = Engine()


def follow(trace: Trace, fill: int, changed: tuple[int, int, bytes] | None = None) -> Model:
    """Let a model do what the run did, and compare all registers at every time.

    At the time `changed[0]` the register `changed[1]` was changed in place.
    """
    model = Model(trace.executable, fill)
    for time in range(len(trace) + 1):
        if changed is not None and changed[0] == time:
            view = model.registers[changed[1]]
            view.touch()
            view.room.content[view.place] = changed[2]
        assert trace.frame_ids[:time].max(initial=0) == 0
        found = shown_differently(model, trace, time)
        assert not found, "\n".join(found)
        if time < len(trace):
            model.step(int(trace.pcs[time]))
    return model


def bytes_of(trace: Trace) -> list[bytes]:
    """Return the bytes of a run's results."""
    return [array.tobytes() for array in arrays_in(trace.result)]


def final(model: Model, result: object) -> list[str]:
    """Compare a result, in which nothing is known of what was never written, with the model."""
    for view in model.result:
        view.touch()
    return differences(model.result, result)


@settings(max_examples=60, deadline=None)
@given(storage_programs(), st.booleans(), st.sampled_from((-1, POISON)), st.data())
def test_a_random_plan_gives_the_values_of_plain_memory(
    body: str, condition: bool, fill: int, data: st.DataObject
) -> None:
    options: dict[str, Any] = {"engine": ENGINE, "poisons_memory": fill == POISON}
    executable = executable_of(HEAD + module_text(body))
    args = (np.array(condition),)
    trace = Machine(executable, **options).run("main", args)
    assert trace.error is None, trace.error.render()
    explicit = Machine(executable, tier="explicit", **options).run("main", args)
    assert explicit.error is None
    models = [follow(trace, fill), follow(explicit, fill)]
    plain = [Machine(executable, record=False, tier=tier, **options) for tier in ("generated", "explicit")]
    for _ in range(2):
        for machine in plain:
            found = final(models[0], machine.call("main", args))
            assert not found, "\n".join(found)
    assert not final(models[1], explicit.result)

    at = data.draw(st.integers(0, len(trace) - 1))
    settings_of = [
        (register, value)
        for register, value in enumerate(trace.raw_registers_at(at, 0))
        if register and isinstance(value, np.ndarray) and value.nbytes and isinstance(value.base, np.ndarray)
    ]
    if not settings_of:
        assert not final(follow(Machine(executable, **options).resume(trace, at), fill), trace.result)
        return
    register, held = data.draw(st.sampled_from(settings_of))
    content = np.arange(held.nbytes, dtype=np.uint8)
    value = (content % 2 if held.dtype.kind == "b" else content + 3).view(held.dtype).reshape(held.shape)
    before = bytes_of(trace)
    forked = Machine(executable, **options).resume(trace, at, [Setting(0, register, value, is_in_place=True)])
    assert forked.error is None
    model = follow(forked, fill, (at, register, value.tobytes()))
    assert not final(model, forked.result)
    follow(trace, fill)
    assert before == bytes_of(trace)
