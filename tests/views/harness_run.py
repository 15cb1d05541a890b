"""Handmade recorded runs: a closure that is printed and called, and a deep recursion of 5,000 events."""

from relax_core.present.models import CodeLine, Problem
from relax_core.present.running.run_models import (
    Capture,
    Closure,
    Event,
    Field,
    FlameSpan,
    Frame,
    FunctionInfo,
    InstructionLine,
    Jumps,
    OutputLine,
    Pop,
    Push,
    Register,
    Run,
    Tensor,
    Value,
    Write,
)
from tests.views.harness_source import HOSTILE, lines, tokens

_SOURCE = """@tvm.script.ir_module
class Module:
    @R.function
    def main(x: Tensor((2, 3), "float32")) -> Tuple():
        # block 0
        closure: Object = relax.make_closure(lifted_func_0, (x,))
        y: Tuple() = relax.print(closure)
        v = relax.invoke_closure(closure, ())
        z: Tuple() = relax.print(v)
        return z
    @R.function
    def lifted_func_0(x1: Tensor((2, 3), "float32")) -> Tensor(None, "float32", ndim=2):
        return x1"""

_LISTING = (
    ("main", 4, "check_tensor_info", "%0, i2, c[0]", "%void"),
    ("main", 6, "make_closure", "f[lifted_func_0], %0", "%1"),
    ("main", 7, "print", "%1", "%2"),
    ("main", 8, "invoke_closure", "%vm, %1", "%3"),
    ("main", 9, "print", "%3", "%4"),
    ("main", 10, "ret", "%4", ""),
    ("lifted_func_0", 12, "check_tensor_info", "%0, i2, c[0]", "%void"),
    ("lifted_func_0", 13, "ret", "%0", ""),
)
_HEAT = Tensor(2, 3, ("0.55", "0.72", "0.60", "0.54", "0.42", "0.65"), (43, 100, 60, 40, 0, 77), "0.42", "0.72")
VALUES = (
    Value(
        "tensor",
        "(2, 3) f32",
        "[[0.55 0.72 0.60] …]",
        "cpu(0)",
        "cat0",
        "float32, min 0.42, max 0.72, 0 NaN",
        tensor=_HEAT,
    ),
    Value(
        "closure",
        "Object",
        "lifted_func_0 + 1 capture",
        closure=Closure("lifted_func_0", 12, (Capture("x1", 0, "main %0", 2),)),
    ),
    Value("void", "Tuple()", "void"),
    Value("string", "Object", HOSTILE[:40], long=HOSTILE),
    Value("tuple", "(Object, Prim)", "2 fields", fields=(Field(".0", 3), Field(".1", 5))),
    Value("prim", "int64", "3"),
)
_MAIN = (
    Register("%0", "x", "(2, 3) f32", 4, "n0", is_parameter=True),
    Register("%1", "closure", "Object", 6, "n1"),
    Register("%2", "y", "Tuple()", 7, "n2"),
    Register("%3", "v", "(2, 3) f32", 8, "n3"),
    Register("%4", "z", "Tuple()", 9, "n4"),
)
_LIFTED = (Register("%0", "x1", "(2, 3) f32", 12, "n5", is_parameter=True),)


def _listing() -> tuple[InstructionLine, ...]:
    out: list[InstructionLine] = []
    for pc, (function, line, name, source, target) in enumerate(_LISTING):
        if pc == 0 or _LISTING[pc - 1][0] != function:
            out += [InstructionLine("")] if pc else []
            out.append(InstructionLine(f"@{function}:"))
        text = f"ret   {source}" if name == "ret" else f"call  vm.builtin.{name:<18} in: {source:<20} dst: {target}"
        out.append(InstructionLine(text, pc, line))
    return tuple(out)


_EVENTS = (
    Event(0, 0, 4, 0, True, "`main` is about to check that `x` is a float32 tensor of rank 2."),
    Event(0, 1, 6, 0, True, "`main` is about to make `closure`.", (Write(0, 1, 1),)),
    Event(0, 2, 7, 0, True, "`main` is about to print `closure`.", (Write(0, 2, 2),)),
    Event(0, 3, 8, 0, True, "`main` is about to call `closure`.", (Push(1, "%1"), Write(1, 0, 0, "same as main %0"))),
    Event(1, 6, 12, 1, True, "`lifted_func_0` is about to check that `x1` is a float32 tensor of rank 2."),
    Event(1, 7, 13, 1, True, "`lifted_func_0` is about to return `x1`, float32 (2, 3), to `v` in `main`, line 8."
          " No NaN.", (Pop(), Write(0, 3, 0, "same as %0"))),
    Event(0, 4, 9, 0, True, "`main` is about to print `v`.", (Write(0, 4, 2),)),
    Event(0, 5, 10, 0, True, "`main` is about to return `z`.", (Pop(),)),
)  # fmt: skip


def jumps(depths: tuple[int, ...]) -> Jumps:
    """Derive the tables from the depth of each event."""
    count = len(depths)
    into = [min(i + 1, count) if i < count else -1 for i in range(count + 1)]
    back = [i - 1 if i else -1 for i in range(count + 1)]
    over, out, back_over = [-1] * (count + 1), [-1] * (count + 1), [-1] * (count + 1)
    last_at: list[int] = []
    for i in range(count - 1, -1, -1):
        depth = depths[i]
        last_at = (last_at + [count] * (depth + 1))[: max(depth + 1, len(last_at))]
        over[i] = min(last_at[: depth + 1], default=count)
        out[i] = min(last_at[:depth], default=count)
        last_at[depth] = i
        del last_at[depth + 1 :]
    seen: list[int] = []
    for i, depth in enumerate((*depths, 0)):
        nearest = max(seen[: depth + 1], default=-1)
        back_over[i] = nearest if nearest >= 0 else -1
        seen = (seen + [-1] * (depth + 1))[: depth + 1]
        seen[depth] = i
    return Jumps(tuple(into), tuple(over), tuple(out), tuple(back), tuple(back_over))


def closure_run(*, is_broken: bool = False) -> Run:
    table = jumps(tuple(event.depth for event in _EVENTS))
    problem = Problem("error", "JT003", "Out of range. `A[i, k]`: k = 3, but `A` has 3 columns.", "Go to line 9.", 9)
    return Run(
        "closure",
        "module after LambdaLift",
        lines(_SOURCE),
        _listing(),
        (FunctionInfo("main", 4, _MAIN), FunctionInfo("lifted_func_0", 12, _LIFTED)),
        0,
        len(_EVENTS),
        (Frame(0, 0, 4, (0,)),),
        _EVENTS,
        VALUES,
        table,
        table,
        (
            FlameSpan("main", 0, 8, 0),
            FlameSpan("make_closure", 1, 2, 1),
            FlameSpan("print", 2, 3, 1),
            FlameSpan("lifted_func_0", 3, 6, 1, "cat3"),
            FlameSpan("print", 6, 7, 1),
        ),
        (OutputLine(3, "<closure>", 7), OutputLine(7, HOSTILE, 9)),
        end="`main` returned `z`, void.",
        outcome="error" if is_broken else "returned",
        problem=problem if is_broken else None,
    )


def deep_run(first: int = 0) -> Run:
    """A function that calls itself 2,500 times and returns: windows of 1,000 events out of 5,000."""
    depth_count, window = 2500, 1000
    source = ("@R.function", "def f(n):", "    r = f(n)", "    return r")
    registers = (Register("%0", "n", "Prim", 2, is_parameter=True), Register("%1", "r", "Prim", 3))
    calls = [
        Event(0, 0, 3, i, True, f"`f` calls itself, depth {i}.", (Push(0), Write(i + 1, 0, 5)))
        for i in range(depth_count)
    ]
    returns = [
        Event(0, 1, 4, depth_count - i, True, "`f` is about to return.", (Pop(), Write(depth_count - i - 1, 1, 5)))
        for i in range(depth_count)
    ]
    every = (*calls, *returns)
    chosen = every[first : first + window]
    depth = chosen[0].depth if chosen else 0
    whole = jumps(tuple(event.depth for event in every))
    table = Jumps(
        *(
            tuple(column[first : first + len(chosen) + 1])
            for column in (whole.into, whole.over, whole.out, whole.back, whole.back_over)
        )
    )
    return Run(
        f"deep {first}",
        "a recursion",
        tuple(CodeLine(tokens(line), i) for i, line in enumerate(source, 1)),
        (
            InstructionLine("@f:"),
            InstructionLine("call  f  in: %0  dst: %1", 0, 3),
            InstructionLine("ret   %1", 1, 4),
        ),
        (FunctionInfo("f", 2, registers),),
        first,
        len(every),
        tuple(Frame(0, 0, 3, (5,)) for _ in range(depth + 1)),
        chosen,
        VALUES,
        table,
        table,
        tuple(FlameSpan("f", i, len(every) - i, i) for i in range(0, 400)),
        end="`f` returned.",
    )


def long_run(count: int = 4000) -> Run:
    """A function of so many bindings, each of which reads the one before it; the window begins in the middle."""
    first, window = count // 2, 500
    source = ("@R.function", "def main(x):", *(f"    v{i} = R.add(v{i - 1}, x)" for i in range(count)))
    registers = tuple(Register(f"%{i}", f"v{i}", "(4,) f32", i + 3) for i in range(count))
    events = tuple(
        Event(0, i, i + 3, 0, True, f"`main` is about to add `v{i}`.", (Write(0, i, 0),))
        for i in range(first, first + window)
    )
    whole = jumps((0,) * count)
    columns = (whole.into, whole.over, whole.out, whole.back, whole.back_over)
    table = Jumps(*(column[first : first + window + 1] for column in columns))
    return Run(
        "long",
        "a long function",
        tuple(CodeLine(tokens(line), i) for i, line in enumerate(source, 1)),
        tuple(InstructionLine(f"call  add  in: %{i - 1}, %0  dst: %{i}", i, i + 3) for i in range(count)),
        (FunctionInfo("main", 2, registers),),
        first,
        count,
        (Frame(0, first, first + 3, (0,) * first),),
        events,
        VALUES,
        table,
        table,
        executed_lines=tuple(range(3, first + 3)),
        executed_pcs=tuple(range(first)),
        end="`main` returned.",
    )
