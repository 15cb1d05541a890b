"""The fast path of a call from the host: set-up, the call and clean-up in one function.

It inlines `Machine.call` and `Tier.start` for calls like an earlier one, because around a kernel of microseconds each
further Python call costs.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np

from relax_core.vm.machine import Machine
from relax_core.vm.objects.convert import TENSOR_KINDS, to_host
from relax_core.vm.objects.values import Value
from relax_core.vm.tiers.tier import ENDS


def host_caller(
    machine: Machine, index: int, read: Callable[[tuple[Any, ...]], tuple[Value, ...]]
) -> Callable[..., Any]:
    """Return what calls an entry of a machine that records nothing; `read` turns what the host gave into values."""
    entry = machine.executable.functions[index]
    name, count = entry.name, entry.param_count
    tier, meter, watchdog, seconds = machine.tier, machine.meter, machine.watchdog, machine.limits.seconds
    functions, bases, base = tier.functions, tier.bases, tier.first_base
    ndarray, kinds = np.ndarray, TENSOR_KINDS

    def call_in_steps(args: tuple[Any, ...]) -> Any:
        return to_host(machine.call(name, read(args)), machine.call_closure, machine.executable)

    def call(*args: Any) -> Any:
        for value in args:
            if type(value) is not ndarray or not value.flags.c_contiguous or value.dtype.kind not in kinds:
                return call_in_steps(args)
        function = functions.get(index)
        if function is None or len(args) != count or not machine.is_unchanged or machine.is_cancelled:
            return call_in_steps(args)
        machine.is_unchanged = False
        machine.deadline = monotonic() + seconds
        meter.fuel = meter.granted = meter.first_chunk
        meter.room = meter.first_room
        watchdog.is_watching = True
        if watchdog.is_needed and not watchdog.has_thread:
            watchdog.watch()
        base.depth, base.is_deoptimised = 0, False
        bases.append(base)
        try:
            result = function(*args, 0)
            machine.is_unchanged = not machine.output
        except ENDS as failure:
            result = machine.ended(failure, base)
        finally:
            bases.pop()
            if tier.is_deep:
                tier.leave_depth()
            watchdog.is_watching = False
            machine.is_cancelled = False
        return result if type(result) is ndarray else to_host(result, machine.call_closure, machine.executable)

    tier.enter_from(call.__code__)
    return call
