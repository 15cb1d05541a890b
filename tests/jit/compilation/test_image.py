"""Code that is moved into memory does what linked code does, for all that kernels are made of; the rest is linked."""

import ctypes
from pathlib import Path
from typing import Any

import pytest
from llvmlite import binding  # pyright: ignore[reportMissingTypeStubs]  # llvmlite has no types

from relax_core.jit import calls
from relax_core.jit.compilation import target as target_module
from relax_core.jit.compilation.image import address_in_process, is_laid_out, laid_out
from relax_core.jit.compilation.target import Program, Target

TARGET = Target()
MAPS = Path("/proc/self/maps")
HEAD = "define i32 @kernel(ptr %slots, ptr %record) {\n"

# Each gives another number for each of 0 to 9.
TEXTS = {
    "constants": HEAD
    + """  %word = load double, ptr %slots
  %more = fmul double %word, 3.25
  %sum = fadd double %more, 1234.5678
  %result = fptosi double %sum to i32
  ret i32 %result
}""",
    "vectors": HEAD
    + """  %word = load i64, ptr %slots
  %narrow = trunc i64 %word to i32
  %one = insertelement <8 x i32> zeroinitializer, i32 %narrow, i32 3
  %sum = add <8 x i32> %one, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %product = mul <8 x i32> %sum, <i32 1, i32 20, i32 300, i32 4000, i32 5, i32 6, i32 7, i32 8>
  %result = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %product)
  ret i32 %result
}
declare i32 @llvm.vector.reduce.add.v8i32(<8 x i32>)""",
    "functions of the C library": HEAD
    + """  %word = load double, ptr %slots
  %small = fmul double %word, 0.1
  %raised = call double @exp(double %small)
  %turned = call double @cos(double %raised)
  %long = fmul double %turned, 1000000.0
  %result = fptosi double %long to i32
  ret i32 %result
}
declare double @exp(double)
declare double @cos(double)""",
    "a table of places to jump to": HEAD
    + """  %word = load i64, ptr %slots
  switch i64 %word, label %other [ """
    + " ".join(f"i64 {number}, label %case{number}" for number in range(9))
    + " ]\n"
    + "\n".join(
        f"case{number}:\n  %r{number} = call i32 @abs(i32 {-7 * number * number - 1})\n  ret i32 %r{number}"
        for number in range(9)
    )
    + "\nother:\n  ret i32 -1\n}\ndeclare i32 @abs(i32)",
    "a table of functions": """@table = private constant [2 x ptr] [ptr @even, ptr @odd]
define internal i32 @even(i32 %x) {
  %r = mul i32 %x, 11
  ret i32 %r
}
define internal i32 @odd(i32 %x) {
  %r = mul i32 %x, -13
  ret i32 %r
}
"""
    + HEAD
    + """  %word = load i32, ptr %slots
  %bit = and i32 %word, 1
  %at = getelementptr ptr, ptr @table, i32 %bit
  %function = load ptr, ptr %at
  %more = add i32 %word, 1
  %result = call i32 %function(i32 %more)
  ret i32 %result
}""",
    "what raises nothing, and may": HEAD.replace("{", "uwtable {")
    + """  %word = load i32, ptr %slots
  %result = xor i32 %word, 85
  ret i32 %result
}""",
}
WITH_MEMORY = (
    "@count = internal global i32 7\n"
    + HEAD
    + """  %before = load i32, ptr @count
  %after = add i32 %before, 1
  store i32 %after, ptr @count
  ret i32 %after
}"""
)
WITH_SYMBOL = (
    "@somewhere = external global i8\n"
    + HEAD
    + """  %address = ptrtoint ptr getelementptr (i8, ptr @somewhere, i64 5) to i64
  store i64 %address, ptr %slots
  ret i32 0
}"""
)


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> Target:
    """Return a target whose objects are left as LLVM makes them, so that LLVM links them."""

    def as_they_are(content: bytes) -> bytes:
        return content

    monkeypatch.setattr(target_module, "laid_out", as_they_are)
    return Target()


def results(program: Program, kind: type[ctypes.c_int64] | type[ctypes.c_double]) -> list[int]:
    """Run a program on 0 to 9."""
    slots = [kind(number) for number in range(10)]
    return [program.run(ctypes.addressof(slot), 0) for slot in slots]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("is_plain", [True, False], ids=["as it stands", "optimised"])
def test_code_that_is_moved_does_what_linked_code_does(name: str, objects: Target, *, is_plain: bool) -> None:
    text = TEXTS[name]
    image = objects.compile_plainly(text) if is_plain else objects.compile(text)
    moved = laid_out(image)
    assert is_laid_out(moved)
    assert not is_laid_out(image)
    ours, linked = objects.link(moved, "kernel"), objects.link(image, "kernel")
    kind = ctypes.c_double if "load double, ptr %slots" in text else ctypes.c_int64
    assert results(ours, kind) == results(linked, kind)
    assert len({*results(ours, kind)}) == 10


def test_memory_that_is_written_is_linked_by_llvm() -> None:
    image = TARGET.compile_plainly(WITH_MEMORY)
    assert not is_laid_out(image)
    program = TARGET.link(image, "kernel")
    assert [program.run(0, 0) for _ in range(3)] == [8, 9, 10]


def test_code_for_another_processor_is_left_as_it_is() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    llvm: Any = binding
    module = llvm.parse_assembly(TEXTS["constants"], llvm.create_context())
    machine = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine()
    image = bytes(machine.emit_object(module))
    assert laid_out(image) == image


@pytest.mark.parametrize("is_moved", [True, False], ids=["moved", "linked by LLVM"])
def test_a_symbol_of_the_caller_stands_where_it_is_named(objects: Target, *, is_moved: bool) -> None:
    image = objects.compile_plainly(WITH_SYMBOL)
    slots = ctypes.c_int64(0)
    program = objects.link(laid_out(image) if is_moved else image, "kernel", {"somewhere": 1 << 40})
    assert program.run(ctypes.addressof(slots), 0) == 0
    assert slots.value == (1 << 40) + 5


def test_what_is_nowhere_is_named() -> None:
    with pytest.raises(RuntimeError, match="no library of this process has `somewhere`"):
        TARGET.link(TARGET.compile_plainly(WITH_SYMBOL), "kernel")
    with pytest.raises(RuntimeError, match="nothing_is_called_so"):
        address_in_process("nothing_is_called_so")


def rights_at(address: int) -> str:
    """Return how the memory at an address may be used, the empty string if there is none."""
    for line in MAPS.read_text().splitlines():
        place, rights, *_ = line.split()
        start, end = (int(item, 16) for item in place.split("-"))
        if start <= address < end:
            return rights
    return ""


def test_code_cannot_be_written_and_goes_with_its_program() -> None:
    programs = [TARGET.link(TARGET.compile(TEXTS["constants"]), "kernel") for _ in range(3)]
    addresses = [program.address for program in programs]
    assert {rights_at(address) for address in addresses} == {"r-xp"}
    del programs
    # Its place may have been taken for something else, which is no code.
    assert all("x" not in rights_at(address) for address in addresses)


@pytest.mark.parametrize("name", ["builtin", "threads"])
def test_what_calls_kernels_is_moved(name: str) -> None:
    text = (Path(calls.__path__[0]) / f"{name}.ll").read_text()
    assert is_laid_out(TARGET.compile_plainly(text))
