"""Loops of transformed code: they count from 0 to a constant or computed end, and charge their fuel in bulk."""

from collections.abc import Callable, Sequence
from math import prod

from relax_core.ir.tir import For
from relax_core.jit.lowering.code import FunctionBuilder, phi
from relax_core.jit.lowering.loops import CHUNK, charge_fuel, least
from relax_core.jit.lowering.state import State

Body = Callable[[str], None]


def repeat(state: State, count: str | int, body: Body, first: str = "0", *, is_written: bool = False) -> None:
    """Emit a loop over `[first, count)`; `body` is given the 64-bit register of the iteration.

    With `is_written` its body is final: LLVM neither unrolls nor vectorises it.
    """
    if str(count) == "1" and first == "0":
        body("0")
        return
    code = state.code
    stood = code.mark if state.position.counting is None else code.set_location(state.position.counting)
    head, inside, leave = (code.label(hint) for hint in ("again", "once", "over"))
    before = code.block
    code.goto(head)
    number, following = f"%{code.label('i')}", f"%{code.label('next')}"
    position = code.reserve()
    code.branch(code.emit(f"icmp slt i64 {number}, {count}"), inside, leave)
    code.start(inside)
    counting = code.restore_location(stood)
    body(number)
    code.restore_location(counting)
    code.do(f"{following} = add nuw nsw i64 {number}, 1")
    code.fill(position, f"{number} = {phi('i64', (first, before), (following, code.block))}")
    if is_written:
        code.do(f"br label %{head}, !llvm.loop {code.written_loop()}")
    else:
        code.jump(head)
    code.start(leave)
    code.restore_location(stood)


def begin_of(code: FunctionBuilder, number: str, size: int) -> str:
    """Emit where the block `number`, a register or a literal, of blocks of `size` begins."""
    if not number.startswith("%"):
        return str(int(number) * size)
    return code.emit(f"mul nuw nsw i64 {number}, {size}")


def repeat_charged(state: State, loop: For, count: int, work: int, body: Body) -> None:
    """Emit a loop of `count` iterations of `work` units of fuel each, charged to `loop` for many of them at once.

    Nothing is charged inside a loop that has charged for it.
    """
    size = max(CHUNK // max(work, 1), 1)
    if state.position.is_charged or count <= 0:
        repeat(state, count, body)
        return
    if count <= size:
        charge_fuel(state, loop, str(count * work))
        repeat(state, count, body)
        return

    def piece(number: str) -> None:
        base = state.code.emit(f"mul nuw nsw i64 {number}, {size}")
        end = least(state, state.code.emit(f"add nuw nsw i64 {base}, {size}"), str(count))
        rounds = state.code.emit(f"sub nuw nsw i64 {end}, {base}")
        charge_fuel(state, loop, state.code.emit(f"mul nuw nsw i64 {rounds}, {work}"))
        repeat(state, end, body, base)

    repeat(state, -(-count // size), piece)


def repeat_nested(state: State, loop: For, counts: Sequence[int], work: int, body: Callable[[list[str]], None]) -> None:
    """Emit a nest of `counts` iterations, outermost first, whose innermost iteration costs `work` units of fuel.

    Fuel is charged at the outermost loop whose iteration costs no more than one charge covers, and not in `body`.
    """

    def level(depth: int, numbers: list[str]) -> None:
        if depth == len(counts):
            body(numbers)
            return
        inner = work * prod(counts[depth + 1 :])
        charges = inner <= CHUNK or depth + 1 == len(counts)

        def rounds(number: str) -> None:
            was_charged, state.position.is_charged = state.position.is_charged, state.position.is_charged or charges
            level(depth + 1, [*numbers, number])
            state.position.is_charged = was_charged

        if charges:
            repeat_charged(state, loop, counts[depth], inner, rounds)
        else:
            repeat(state, counts[depth], rounds)

    level(0, [])
