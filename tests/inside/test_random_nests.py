"""Random loop nests, stopped at random statements, give the bits of the compiled kernel, and count what it counts."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.inside.heat import HeatCounter
from relax_core.jit.engine import Engine
from tests.inside.stepping import function_of, stepper_of

HEAD = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(X: T.Buffer((12,), "float32"), N: T.Buffer((12,), "int32"), Y: T.Buffer((12,), "float32")):
    t = T.alloc_buffer((3,), "float32")
"""
VALUES = st.sampled_from(("X[{0}]", "Y[{0}] * T.float32(0.5)", "T.exp(X[{0}])", "t[{0} % 3] + X[{0}]",
                          "T.if_then_else(N[{0}] > 1, Y[{0}], t[0])"))  # fmt: skip
Lines = list[str]


@st.composite
def bodies(draw: st.DrawFn, depth: int, loops: Sequence[str], names: Sequence[str]) -> Lines:
    """Draw statements within the loops so far; each begins without indentation."""
    lines: Lines = []
    for _ in range(draw(st.integers(1, 2))):
        kinds = ["store", "local", *(["for", "data", "if", "let", "while", "strided"] if depth else [])]
        kind = draw(st.sampled_from(kinds))
        index = f"({' + '.join(loops)}) % 12" if loops else str(draw(st.integers(0, 11)))
        name = f"v{len(names)}_{len(lines)}_{depth}"
        inner = draw(bodies(depth - 1, loops, (*names, name))) if depth and kind in ("if", "let", "while") else []
        match kind:
            case "store":
                lines.append(f"Y[{index}] = Y[{index}] + {draw(VALUES).format(index)}")
            case "local":
                lines.append(f"t[({index}) % 3] = {draw(VALUES).format(index)}")
            case "if":
                lines += [f"if X[{index}] < T.float32(0.3):", *_deeper(inner)]
            case "let":
                lines += [f"{name}: T.float32 = X[{index}] + Y[{index}]", *inner, f"Y[{index}] = {name}"]
            case "while":
                lines += [f"while Y[{index}] < T.float32(2):", f"    Y[{index}] = Y[{index}] + T.float32(1.0)"]
                lines += _deeper([f"t[0] = t[0] + Y[{index}]"])
            case _:
                over = {"for": "range(3)", "data": f"range(N[{index}])", "strided": "range(1, 10, 4)"}[kind]
                inner = draw(bodies(depth - 1, (*loops, name), (*names, name)))
                lines += [f"for {name} in {over}:", *_deeper(inner)]
    return lines


def _deeper(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


@settings(max_examples=15, deadline=None)
@given(bodies(3, (), ()), st.lists(st.integers(0, 400), min_size=1, max_size=6))
def test_a_stopped_run_has_the_bits_of_the_kernel(body: Lines, stops: list[int]) -> None:
    text = HEAD + "\n".join(_deeper(body)) + "\n"
    random = np.random.default_rng(7)
    args = (random.standard_normal(12, "float32"), random.integers(0, 4, 12, "int32"), np.zeros(12, "float32"))
    plain = [item.copy() for item in args]
    engine = Engine()
    name, function, _ = function_of(text)
    engine.kernel(function, name)(*plain)
    stepper = stepper_of(text, args, engine)
    assert stepper.total is not None
    for stop in stops:
        stepper.move_to(stop)
        assert stepper.clock == min(stop, stepper.total)
    heat = HeatCounter(stepper).count(stepper.total)
    assert int(heat.runs.sum()) == stepper.total
    stepper.move_to(stepper.total)
    assert [np.asarray(item).tobytes() for item in stepper.memory.args] == [item.tobytes() for item in plain]
