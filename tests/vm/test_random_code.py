"""Code made up at random, with branches, calls, closures, kernels and packed functions, does the same on all tiers."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.bytecode.executable import DTypeConstant, ShapeConstant
from relax_core.vm.limits import Limits
from tests.vm.assemble import assemble
from tests.vm.kernels import PythonEngine, add_one
from tests.vm.tiers import differences

CONSTANTS = (ShapeConstant((1,)), DTypeConstant("float32"), "global", "")
HELPERS = """
@twice(x) 8
  call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %1
  call vm.builtin.alloc_tensor(%1, i0, c[0], c[1]) -> %2
  call add_one(%0, %2)
  call vm.builtin.copy(%2) -> %3
  call vm.builtin.alloc_tensor(%1, i0, c[0], c[1]) -> %4
  call add_one(%3, %4)
  call vm.builtin.copy(%4) -> %5
  ret %5
"""
NOTED = """
@noted(x) 3
  call custom_print(%0)
  call twice(%0) -> %1
  call custom_add(%0, %1) -> %2
  ret %2
"""
NEW = (
    "call vm.builtin.alloc_storage(vm, c[0], i0, c[1], c[2]) -> %{0}",
    "call vm.builtin.alloc_tensor(%{0}, i0, c[0], c[1]) -> %{1}",
    "call add_one(%{a}, %{1})",
    "call vm.builtin.copy(%{1}) -> %{2}",
)
# What one step may be: its lines, with new registers by number and known tensors by letter. The last one is a tensor.
CLOSED = (
    NEW,
    NEW,
    (*NEW[:2], "call add_one(%{a}, %{b})", "call add_one(%{b}, %{1})", "call vm.builtin.copy(%{a}) -> %{2}"),
    ("call vm.builtin.copy(%{a}) -> %{0}",),
    ("call add_one(%{a}, %{b})", "call vm.builtin.copy(%{b}) -> %{0}"),
    ("call vm.builtin.make_tuple(%{a}, %{b}) -> %{0}", "call vm.builtin.tuple_getitem(%{0}, i1) -> %{1}"),
    ("call vm.builtin.copy(%{a}) -> %{0}", "call vm.builtin.null_value() -> %{0}", "call twice(%{b}) -> %{1}"),
    ("call twice(%{a}) -> %{0}",),
    ("call vm.builtin.make_closure(f[twice]) -> %{0}", "call vm.builtin.invoke_closure(vm, %{0}, %{a}) -> %{1}"),
    ("call vm.builtin.make_closure(f[add_one]) -> %{0}", "call vm.builtin.invoke_closure(vm, %{0}, %{a}, %{b})",
     "call vm.builtin.copy(%{b}) -> %{1}"),
    ("call relax.run.print(c[3], %{a})", "call vm.builtin.copy(%{a}) -> %{0}"),
    ("call twice(%{a}, %{b}) -> %{0}",),
    ("call vm.builtin.invoke_closure(vm, %{a}) -> %{0}",),
)  # fmt: skip
OPEN = (
    ("call custom_inplace_update(%{a})", "call vm.builtin.copy(%{a}) -> %{0}"),
    ("call noted(%{a}) -> %{0}", "call twice(%{0}) -> %{1}"),
    ("call custom_apply(f[noted], %{a}) -> %{0}",),
    ("call vm.builtin.make_closure(f[noted], %{a}) -> %{0}", "call vm.builtin.invoke_closure(vm, %{0}) -> %{1}"),
    ("call relax.add(%{a}, %{b}) -> %{0}",),
    ("call custom_add(%{a}, %{b}) -> %{0}",),
    ("call nothing(%{a}) -> %{0}",),
)
# The last steps of each fail, and come seldom.
USUAL = {False: (*CLOSED[:-2], *OPEN[:-1]), True: CLOSED[:-2]}
ALL = {False: (*CLOSED, *OPEN), True: CLOSED}


@dataclass(slots=True)
class Maker:
    """Writes the code of one function; registers 0 and 1 are its parameters, a tensor and a condition."""

    draw: st.DrawFn
    is_closed: bool
    count: int = 2
    lines: list[str] = field(default_factory=list[str])

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def region(self, tensors: list[int], depth: int) -> list[str]:
        """Return the lines of some steps and branches; `tensors` grows."""
        lines: list[str] = []
        for _ in range(self.draw(st.integers(0, 4))):
            if depth < 3 and self.draw(st.integers(0, 3)) == 0:
                lines += self.branch(tensors, depth)
            else:
                steps = USUAL if self.draw(st.integers(0, 7)) else ALL
                step = self.draw(st.sampled_from(steps[self.is_closed]))
                numbers = [self.new() for _ in range(3)]
                a, b = (self.draw(st.sampled_from(tensors)) for _ in range(2))
                lines += [line.format(*numbers, a=a, b=b) for line in step]
                tensors.append(int(lines[-1].rpartition("%")[2]))
        return lines

    def branch(self, tensors: list[int], depth: int) -> list[str]:
        condition, merged = self.new(), self.new()
        ways: list[list[str]] = []
        for _ in range(2):
            known = list(tensors)
            way = self.region(known, depth + 1)
            ways.append([*way, f"call vm.builtin.copy(%{known[-1]}) -> %{merged}"])
        then, otherwise = ways
        tensors.append(merged)
        return [
            f"call vm.builtin.read_if_cond(%{self.draw(st.sampled_from((1, *tensors[:1])))}) -> %{condition}",
            f"if %{condition} {len(then) + 2}",
            *then,
            f"goto {len(otherwise) + 1}",
            *otherwise,
        ]


@st.composite
def listings(draw: st.DrawFn) -> str:
    maker = Maker(draw, draw(st.booleans()))
    tensors = [0]
    lines = maker.region(tensors, 0)
    body = "".join(f"  {line}\n" for line in (*lines, f"ret %{tensors[-1]}"))
    return f"@main(x, c) {maker.count}\n{body}{HELPERS}{'' if maker.is_closed else NOTED}"


@settings(deadline=None)
@given(
    listings(),
    st.booleans(),
    st.one_of(st.just(5_000_000), st.integers(0, 60)),
    st.one_of(st.just(1 << 31), st.integers(0, 120)),
    st.one_of(st.just(1 << 29), st.integers(0, 60)),
)
def test_code_runs_alike(text: str, condition: bool, events: int, memory_bytes: int, retained_bytes: int) -> None:
    executable = assemble(text, CONSTANTS, {"add_one": add_one()})
    limits = Limits(events=events, memory_bytes=memory_bytes, retained_bytes=retained_bytes)
    found = differences(
        executable,
        "main",
        lambda: (np.zeros(1, np.float32) + 1, np.array(condition)),
        limits=limits,
        engine=PythonEngine(),
    )
    assert not found, "\n".join((text, *found))
