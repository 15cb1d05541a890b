"""Small tensors that are logged together: what each of them held is as instruction by instruction."""

import numpy as np
import pytest

from relax_core.bytecode.executable import Executable
from relax_core.jit.engine import Engine
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine
from relax_core.vm.tiers.link import ARENA_BYTES
from tests.vm.programs import executable_of
from tests.vm.tiers import differences

HEAD = """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def divide(A: T.Buffer(({size},), "{dtype}"), B: T.Buffer(({size},), "{dtype}"), C: T.Buffer(({size},), "{dtype}")):
        for i in range({size}):
            C[i] = {operation}

    @R.function
    def main(x0: R.Tensor(({size},), "{dtype}"), y: R.Tensor(({size},), "{dtype}")) -> R.Tensor(({size},), "{dtype}"):
        cls = Module
"""
LINE = '        x{after} = R.call_tir(cls.divide, (x{before}, {other}), out_ty=R.Tensor(({size},), "{dtype}"))\n'


def chain(count: int, size: int, dtype: str, operation: str = "A[i] // B[i]") -> str:
    """Make a program that divides over and over, by `y` and in the middle by what was found before."""
    kind = {"size": size, "dtype": dtype}
    others = ("x1" if number == count // 2 else "y" for number in range(count))
    lines = (LINE.format(before=number, after=number + 1, other=other, **kind) for number, other in enumerate(others))
    return HEAD.format(operation=operation, **kind) + "".join(lines) + f"        return x{count}\n"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize("dtype", ["int8", "int64"])
@pytest.mark.parametrize("size", [1, 7])
def test_a_kernel_fails_between_others(size: int, dtype: str, engine: Engine) -> None:
    executable = executable_of(chain(9, size, dtype, "A[i] // B[i] - {dtype}(1)".replace("{dtype}", f"T.{dtype}")))
    for x, y in ((100, 3), (100, 1), (4, 3), (5, 0)):
        values = np.full(size, x, dtype), np.full(size, y, dtype)
        # So that a kernel that fails has written an element before.
        values[0][0] = 50
        assert not differences(executable, "main", lambda given=values: given, engine=engine)


@pytest.mark.parametrize("events", [*range(0, 40, 3), 5_000_000])
def test_it_stops_alike_after_any_number_of_events(events: int, engine: Engine) -> None:
    executable = executable_of(chain(9, 5, "float32", "A[i] / B[i]"))
    given = (np.arange(5, dtype=np.float32), np.full(5, 3, np.float32))
    assert not differences(executable, "main", lambda: given, limits=Limits(events=events), engine=engine)


def test_what_the_arena_has_no_room_for_is_logged_by_itself(engine: Engine) -> None:
    size = 64
    count = ARENA_BYTES // (8 * size) + 9
    executable = executable_of(chain(count, size, "float64", "A[i] / B[i]"))
    given = (np.arange(size, dtype=np.float64), np.full(size, 1.5))
    assert not differences(executable, "main", lambda: given, engine=engine)
    text = Machine(executable, engine=engine).tier.text_of(_main(executable))
    assert "arena" in text
    assert "maker" in text


def _main(executable: Executable) -> int:
    return next(number for number, item in enumerate(executable.functions) if item.kind == "vm")
