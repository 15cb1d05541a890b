"""Which arguments of a kernel hold no values yet, read off the bytecode."""

import pytest

from relax_core.vm.outputs import fresh_arguments
from tests.vm.assemble import assemble
from tests.vm.kernels import add_one

ALLOCATE = "  call vm.builtin.alloc_tensor(%0, i0, %0, %0) -> %1\n"
FIRST, AGAIN = "  call add_one(%0, %1)\n", "  call add_one(%1, %1)\n"
CASES = {
    "a tensor for this call": (ALLOCATE + FIRST, {1}),
    "a parameter": ("  call add_one(%0, %0)\n", set[int]()),
    "a tensor that the same kernel gets again": (ALLOCATE + FIRST + FIRST, set[int]()),
    "a tensor that was copied from another": (ALLOCATE + "  call vm.builtin.copy(%0) -> %1\n" + FIRST, set[int]()),
    "a tensor that another function got before": (ALLOCATE + "  call vm.builtin.copy(%1) -> %2\n" + FIRST, set[int]()),
    "a new tensor for every call": (ALLOCATE + FIRST + ALLOCATE + FIRST, {1}),
    "a new tensor for one of two arguments": (ALLOCATE + AGAIN, {0, 1}),
    "a dynamic call": (ALLOCATE + "  call vm.builtin.call_tir_dyn(f[add_one], %0, %1, %0)\n", {1}),
    "only a closure": (ALLOCATE + "  call vm.builtin.invoke_closure(vm, f[add_one], %0, %1)\n", set[int]()),
}


@pytest.mark.parametrize("name", CASES)
def test_an_output_is_fresh_where_every_call_gets_it_first(name: str) -> None:
    body, expected = CASES[name]
    executable = assemble(f"@main(x) 3\n{body}  ret %0\n", kernels={"add_one": add_one()})
    assert fresh_arguments(executable, executable.index_of["add_one"]) == expected
