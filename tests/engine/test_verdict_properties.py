"""Random programs, each also broken at random: what is said of two agrees with an evaluation of both by NumPy."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.engine.debug.requests import BisectOf, CompareValuesOf
from relax_core.engine.debug.verdicts import Verdict, exit_status, whole
from relax_core.engine.inputs import write_members
from relax_core.engine.protocol import Program
from relax_core.engine.session import Session
from relax_core.vm.limits import Limits
from tests.engine.asking import ask
from tests.engine.programs import program

Array = npt.NDArray[Any]
SHAPE = (2, 3)
X = np.arange(6, dtype=np.float32).reshape(SHAPE) - 2
OPERATORS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum}
RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""The tolerance for float32 that comparisons document."""

SPIN = """    @T.prim_func
    def spin(a: T.Buffer((2, 3), "float32"), b: T.Buffer((2, 3), "float32")):
        b[0, 0] = T.float32(0)
        while b[0, 0] < T.float32(1):
            b[0, 0] = T.float32(0)

"""
HALF = """    @R.function(private=True)
    def half(v: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        w = R.multiply(v, R.const(0.5, "float32"))
        return w

"""


@dataclass(frozen=True)
class Step:
    """`v<n> = operator(v<left>, v<right>)`, with a constant in place of the right one if `right` is a number."""

    operator: str
    left: int
    right: int | float

    def text(self, number: int) -> str:
        right = f"v{self.right}" if isinstance(self.right, int) else f'R.const({constant(self.right)}, "float32")'
        return f"v{number} = R.{self.operator}(v{self.left}, {right})"


@dataclass(frozen=True)
class Small:
    """A program of a few operators on `v0`; `fault` is what is wrong with it beside its values."""

    steps: tuple[Step, ...]
    results: tuple[int, ...]
    fault: str = ""

    def text(self) -> str:
        last = len(self.steps)
        lines = [step.text(number) for number, step in enumerate(self.steps, 1)]
        lines += {
            "asserts": ['_ = R.assert_op(R.const(False, "bool"), format="never")'],
            "asserts otherwise": ['_ = R.assert_op(R.const(False, "bool"), format="not at all")'],
            "packed": ['_ = R.call_packed("no.such", v0, sinfo_args=R.Tensor((2, 3), "float32"))'],
            "spins": ['s0 = R.call_tir(Module.spin, (v0,), out_sinfo=R.Tensor((2, 3), "float32"))'],
            "recurses": [f"_ = Module.main(v{last})"],
            "reshapes": [f"r{number} = R.reshape(v{number}, (3, 2))" for number in dict.fromkeys(self.results)],
            "halves": [f"h{number} = Module.half(v{number})" for number in dict.fromkeys(self.results)],
            "misses half": [f"h{number} = Module.half(v{number})" for number in dict.fromkeys(self.results)],
            "casts": [f'c{number} = R.astype(v{number}, "float64")' for number in dict.fromkeys(self.results)],
        }.get(self.fault, [])
        letter = {"reshapes": "r", "halves": "h", "misses half": "h", "casts": "c"}.get(self.fault, "v")
        names = [f"{letter}{number}" for number in self.results]
        names += ["s0"] if self.fault == "spins" else []
        lines.append(f"return {names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'}")
        shape = "(3, 3)" if self.fault == "takes another shape" else "(2, 3)"
        more = ', w: R.Tensor((1,), "float32")' if self.fault == "takes more" else ""
        entry = "other" if self.fault == "is renamed" else "main"
        result = ' -> R.Tensor((2, 3), "float32")' if self.fault == "recurses" and len(names) == 1 else ""
        head = (
            "@I.ir_module\nclass Module:\n"
            + (SPIN if self.fault == "spins" else "")
            + (HALF if self.fault == "halves" else "")
            + f'    @R.function(pure=False)\n    def {entry}(v0: R.Tensor({shape}, "float32"){more}){result}:\n'
        )
        return head + "".join(f"        {line}\n" for line in lines)

    def outcome(self) -> "tuple[Array, ...] | str | None":
        """Return the results by NumPy, what stops the program, or `None` if it cannot run on a (2, 3) tensor."""
        match self.fault:
            case "asserts" | "asserts otherwise":
                return self.fault
            case "packed" | "spins" | "recurses" | "misses half" | "takes another shape" | "takes more" | "is renamed":
                return None
            case _:
                pass
        values: list[Array] = [X]
        with np.errstate(all="ignore"):
            for step in self.steps:
                right = values[step.right] if isinstance(step.right, int) else np.float32(step.right)
                values.append(OPERATORS[step.operator](values[step.left], right))
            found = tuple(values[number] for number in self.results)
            match self.fault:
                case "reshapes":
                    return tuple(item.reshape(3, 2) for item in found)
                case "halves":
                    return tuple(item * np.float32(0.5) for item in found)
                case "casts":
                    return tuple(item.astype(np.float64) for item in found)
                case _:
                    return found


def constant(value: float) -> str:
    return 'float("nan")' if np.isnan(value) else repr(value)


def expected(first: Small, second: Small) -> Verdict:
    """Judge two programs by evaluating both."""
    was, is_ = first.outcome(), second.outcome()
    if was is None or is_ is None:
        return "not comparable"
    if isinstance(was, str) or isinstance(is_, str):
        return "stops alike" if isinstance(was, str) and was == is_ else "different"
    if len(was) != len(is_):
        return "different"
    return "same" if all(map(is_close, was, is_)) else "different"


def is_close(was: Array, is_: Array) -> bool:
    if was.shape != is_.shape or was.dtype != is_.dtype:
        return False
    a, b = was.astype(np.float64), is_.astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= ABSOLUTE + RELATIVE * np.abs(a)
    return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (near & np.isfinite(a - b))))


NUMBERS = st.sampled_from((1.0, 2.0, -3.0, 0.5))
FAULTS = ("asserts", "asserts otherwise", "packed", "recurses", "reshapes", "halves", "misses half", "casts",
          "takes another shape", "takes more", "is renamed")  # fmt: skip


@st.composite
def smalls(draw: st.DrawFn) -> Small:
    """Draw a program that runs."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 4))):
        right = draw(st.one_of(st.integers(0, number), NUMBERS))
        steps.append(Step(draw(st.sampled_from(tuple(OPERATORS))), draw(st.integers(0, number)), right))
    results = draw(st.lists(st.integers(0, len(steps)), min_size=1, max_size=3))
    return Small(tuple(steps), tuple(results))


@st.composite
def broken(draw: st.DrawFn, small: Small) -> Small:
    """Break a program, or write it otherwise."""
    at = draw(st.integers(0, len(small.steps) - 1))
    step = small.steps[at]
    match draw(st.sampled_from(("nothing", "swap", "constant", "operator", "tiny", "arity", "fault", "fault"))):
        case "swap" if isinstance(step.right, int) and step.operator != "subtract":
            changed = Step(step.operator, step.right, step.left)
        case "constant":
            changed = replace(step, right=draw(st.sampled_from((1.0, 2.0, 7.0, 3e38, float("nan")))))
        case "operator":
            changed = replace(step, operator=draw(st.sampled_from(tuple(OPERATORS))))
        case "tiny":
            more = Step("add", len(small.steps), draw(st.sampled_from((2.0**-20, 2.0**-10, 0.0))))
            return replace(small, steps=(*small.steps, more), results=(*small.results[:-1], len(small.steps) + 1))
        case "arity":
            return replace(small, results=(*small.results, 0))
        case "fault":
            return replace(small, fault=draw(st.sampled_from(FAULTS)))
        case _:
            return small
    return replace(small, steps=(*small.steps[:at], changed, *small.steps[at + 1 :]))


@st.composite
def forms(draw: st.DrawFn) -> tuple[Small, ...]:
    """Draw a program with some forms of it, as after passes; the first may be broken, too."""
    small = draw(smalls())
    first = draw(st.one_of(st.just(small), st.just(small), broken(small)))
    return (first, *draw(st.lists(st.one_of(broken(small), st.just(small)), min_size=1, max_size=4)))


def written(small: Small, number: int) -> Program:
    inputs = write_members({"in_0": X})
    return program(small.text(), f"{number}.py", inputs=inputs)


SESSION_LIMITS = Limits(events=100_000, depth=200, seconds=20.0)


@given(forms())
@settings(max_examples=25, deadline=None)
def test_stages_are_judged_as_their_values_say(found: tuple[Small, ...]) -> None:
    # The first form gives the arguments: one that takes others is compared with nothing.
    first, *others = found
    if first.fault in ("takes another shape", "takes more", "is renamed", "misses half"):
        first = replace(first, fault="packed")
    session = Session(SESSION_LIMITS)
    programs = [written(small, number) for number, small in enumerate((first, *others))]
    bisection = ask(session, BisectOf(programs[0], tuple(programs[1:])))
    verdicts: list[Verdict] = [expected(first, other) for other in others]
    assert [stage.verdict for stage in bisection.stages[1:]] == verdicts, [item.text for item in programs]
    assert bisection.status == exit_status(whole(verdicts))
    at = verdicts.index("different") + 1 if "different" in verdicts else -1
    assert bisection.first_different == at
    if at > 0:
        judged = [number for number in range(1, at) if verdicts[number - 1] != "not comparable"]
        texts = [item.text for item in programs]
        between = (number for number in range(max(judged, default=0) + 1, at) if texts[number] not in texts[:number])
        assert bisection.suspects == (*between, at)
    for stage in bisection.stages:
        assert stage.verdict != "same" or stage.compared == len(first.results)
        if stage.follows >= 0 and stage.verdict == "different":
            head, here = (others[number - 1] for number in (stage.follows, stage.index))
            assert expected(head, here) in ("same", "stops alike")
    values = ask(session, CompareValuesOf(programs[0], -1, programs[1], -1))
    assert values.outcome is not None
    assert values.outcome.verdict == verdicts[0]
    assert values.verdict != "same" or verdicts[0] == "same"


def test_a_form_that_never_ends_is_not_comparable() -> None:
    small = Small((Step("add", 0, 1.0),), (1,))
    spinning = replace(small, fault="spins")
    session = Session(Limits(seconds=0.3))
    for pair in ((small, spinning), (spinning, small)):
        first, second = (written(item, number) for number, item in enumerate(pair))
        assert ask(session, BisectOf(first, (second,))).verdict == expected(*pair) == "not comparable"
