"""One vocabulary for every comparison: same only of what was compared, different only of what differs."""

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.debug.replies import Bisection, ValuesCompared
from relax_core.engine.debug.requests import BisectOf, CompareArchiveOf, CompareValuesOf
from relax_core.engine.debug.verdicts import Verdict, exit_status, ranges, whole
from relax_core.engine.inputs import write_members
from relax_core.engine.protocol import Failure
from relax_core.engine.session import Session
from relax_core.ir.module import IRModule
from relax_core.passes.core import PassContext
from relax_core.vm.limits import Limits
from tests.engine.asking import ask
from tests.engine.programs import ENDLESS, HEADER, RECURSIVE, program

HEAD = HEADER + "    @R.function(pure=False)\n"
SIGNATURE = '    def main(x: R.Tensor((2, 3), "float32")):\n'


def text_of(body: str, signature: str = SIGNATURE) -> str:
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    return HEAD + signature + lines


BASE = text_of("y = R.add(x, x); return y")
MISSING = text_of('y = R.call_packed("no.such", x, sinfo_args=R.Tensor((2, 3), "float32")); return y')
ASSERTION = text_of('_ = R.assert_op(R.const(False, "bool"), format="never"); return x')
OTHER_ASSERTION = ASSERTION.replace("never", "not ever")
CLOSURE = HEADER + (
    '    @R.function\n    def main(x: R.Tensor((2, 3), "float32")):\n        @R.function\n'
    '        def inner(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):\n'
    "            z = R.add(x, y)\n            return z\n        return inner\n"
)
TWICE = 'R.multiply(x, R.const(2.0, "float32"))'
NEAR = text_of('z = R.add(x, x); y = R.add(z, R.const(1e-6, "float32")); return y')
NOT_A_NUMBER = NEAR.replace("1e-6", 'float("nan")')
FAR = text_of('y = R.add(x, R.const(3.0, "float32")); return y')
VOID = text_of("return R.tuple()")
MORE_PARAMS = BASE.replace("main(x", 'main(w: R.Tensor((1,), "float32"), x')
PAIRS: dict[str, tuple[str, str, Verdict, str]] = {
    "equal results": (BASE, BASE.replace("R.add(x, x)", TWICE), "same", "1 result"),
    "close results": (BASE, NEAR, "same", "apart"),
    "several results": (text_of("return (x, (x, x))"), text_of("y = x; return (y, (x, y))"), "same", "3 results"),
    "another constant": (BASE, FAR, "different", "elements differ"),
    "NaN": (BASE, NOT_A_NUMBER, "different", "not finite"),
    "another shape": (BASE, text_of("z = R.add(x, x); y = R.reshape(z, (3, 2)); return y"), "different", "(3, 2)"),
    "another dtype": (BASE, text_of('z = R.add(x, x); y = R.astype(z, "float64"); return y'), "different", "float64"),
    "another arity": (text_of("return (x, x)"), text_of("return (x, x, x)"), "different", "3, was a tuple of 2"),
    "a tuple of one": (text_of("return x"), text_of("return (x,)"), "different", "a tuple of 1, was one value"),
    "another nesting": (text_of("return (x, x)"), text_of("return (x, (x,))"), "different", "out_1"),
    "a function for a value": (text_of("return x"), CLOSURE, "different", "a function"),
    "functions": (CLOSURE, CLOSURE, "not comparable", "holds no values"),
    "nothing at all": (VOID, text_of("y = x; return R.tuple()"), "not comparable", "returns nothing"),
    "texts of other lengths": (text_of('return R.str("ab")'), text_of('return R.str("abc")'), "different", "'abc'"),
    "a missing function": (BASE, MISSING, "not comparable", "VM001"),
    "a missing function in both": (MISSING, MISSING, "not comparable", "VM001"),
    "no entry": (BASE, BASE.replace("main", "other"), "not comparable", "VM009"),
    "another parameter": (BASE, BASE.replace("(2, 3)", "(5, 3)"), "not comparable", "does not take these arguments"),
    "one parameter more": (BASE, MORE_PARAMS, "not comparable", "VM010"),
    "a program with errors": (BASE, BASE.replace("x, x", "x, nobody"), "not comparable", "does not build"),
    "a stop for a result": (BASE, ASSERTION, "different", "it returned"),
    "a result for a stop": (ASSERTION, BASE, "different", "it returned; was: "),
    "the same stop": (ASSERTION, ASSERTION, "stops alike", "VM013"),
    "a stop with other words": (ASSERTION, OTHER_ASSERTION, "different", "not ever"),
    "endless recursion": (BASE, RECURSIVE.replace("()", "(2, 3)"), "not comparable", "reached a limit"),
}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(Limits(events=200_000, depth=500, seconds=20.0))


@pytest.mark.parametrize(("first", "second", "verdict", "words"), PAIRS.values(), ids=PAIRS)
def test_two_programs_are_judged_by_what_was_compared(
    session: Session, first: str, second: str, verdict: Verdict, words: str
) -> None:
    found = ask(session, BisectOf(program(first, "a.py"), (program(second, "b.py"),)))
    assert (found.stages[1].verdict, found.verdict) == (verdict, verdict)
    assert words in found.stages[1].words
    assert found.status == exit_status(verdict)
    assert (found.first_different == 1) == (verdict == "different")
    assert (found.stages[1].compared > 0) or verdict != "same"


@pytest.mark.parametrize(("first", "second", "verdict", "words"), PAIRS.values(), ids=PAIRS)
def test_values_of_two_programs_come_to_the_same_verdict(
    session: Session, first: str, second: str, verdict: Verdict, words: str
) -> None:
    found = ask(session, CompareValuesOf(program(first, "a.py"), -1, program(second, "b.py"), -1))
    assert found.outcome is not None
    assert found.outcome.verdict == verdict
    assert found.verdict in (verdict, "different" if verdict == "different" else "not comparable")
    assert found.status == exit_status(found.verdict)
    assert found.verdict in found.conclusion


def test_memory_that_passes_count_is_compared_where_both_texts_have_the_same() -> None:
    one = text_of("alloc = R.exp(x); alloc1 = R.negative(x); y = R.add(alloc, alloc1); return y")
    other = text_of("alloc = R.negative(x); y = R.add(R.exp(x), alloc); return y")
    with_all, with_fewer = (
        ask(Session(), CompareValuesOf(program(one, "a.py"), -1, program(text, "b.py"), -1)) for text in (one, other)
    )
    assert [(row.name, row.verdict) for row in with_fewer.rows] == [("main.y", "same")]
    assert [row.name for row in with_all.rows] == ["main.alloc", "main.alloc1", "main.y"]


def test_a_run_that_reaches_a_limit_is_not_comparable() -> None:
    first = ENDLESS.replace("while B[0] < T.float32(2.0):", "if B[0] < T.float32(2.0):")
    found = Session(Limits(seconds=0.3)).request(BisectOf(program(first), (program(ENDLESS),)))
    assert isinstance(found, Bisection)
    assert found.verdict == "not comparable"
    assert "limit" in found.conclusion


def stages_of(session: Session, *texts: str) -> Bisection:
    first, *others = (program(text, f"{number}.py") for number, text in enumerate(texts))
    return ask(session, BisectOf(first, tuple(others)))


WRONG = PAIRS["another constant"][1]
WORSE = WRONG.replace("3.0", "4.0")


def test_what_follows_from_a_difference_is_folded(session: Session) -> None:
    found = stages_of(session, BASE, BASE, WRONG, WRONG, WRONG, WORSE, BASE, WRONG)
    assert [stage.follows for stage in found.stages] == [-1, -1, -1, 2, 2, -1, -1, -1]
    assert found.suspects == (2,)
    lines = found.to_text().split("\n")
    assert len(lines) == 8
    assert lines[2].startswith("  2 x 2.py  different: out: ")
    assert lines[2].endswith("; the first")
    assert lines[3] == "    x 3-4: the same difference as after 2.py (2 stages)"


def test_a_culprit_that_cannot_be_told_is_one_of_several(session: Session) -> None:
    found = stages_of(session, BASE, BASE, MISSING, MISSING, WRONG, WRONG)
    # The text of 3.py is that of 2.py: what changed nothing is under no suspicion.
    assert (found.first_different, found.suspects, found.last_good) == (4, (2, 4), 1)
    assert "from one of 2.py (stage 2) or 4.py (stage 4) on" in found.conclusion
    assert "Stages 2-3 not comparable, because it cannot run here: VM001" in found.conclusion
    assert found.status == 1


def test_a_reference_that_does_not_run_leaves_nothing_to_compare(session: Session) -> None:
    found = stages_of(session, MISSING, BASE, WRONG)
    assert [stage.verdict for stage in found.stages] == ["not comparable"] * 3
    assert "the reference does not run: it cannot run here: VM001" in found.stages[1].words


def test_one_form_alone_is_not_comparable(session: Session) -> None:
    found = ask(session, BisectOf(program(BASE, pipeline="")))
    assert (found.verdict, found.status) == ("not comparable", 4)


def test_a_failed_pass_is_not_comparable_and_what_ran_before_is_judged(session: Session) -> None:
    passes = "Normalize, VMShapeLower, LambdaLift"
    found = ask(session, BisectOf(program(CLOSURE.replace("return inner", "return inner(x)"), pipeline=passes)))
    assert [stage.verdict for stage in found.stages] == ["reference", "same", "not comparable"]
    assert found.stages[2].words.startswith("the pass failed: PS003")
    assert found.status == 4


def test_an_archive_holds_what_a_bfloat16_was(session: Session) -> None:
    given = program(BASE.replace("float32", "bfloat16"))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with_inputs = msgspec.structs.replace(given, inputs=write_members({"in_0": x}))
    found = ask(session, CompareArchiveOf(with_inputs, write_members({"main.y": x + x})))
    assert {row.name: row.verdict for row in found.rows}["main.y"] == "same"
    assert ask(session, CompareArchiveOf(with_inputs, b"PK\x05\x06" + bytes(18))).verdict == "not comparable"


def test_a_pass_of_ones_own_is_blamed_by_the_interface() -> None:
    def breaks(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
        return rc.parse(WRONG)

    def stops(module: IRModule, options: Any, ctx: PassContext) -> IRModule:
        raise KeyError("x")

    x = np.ones((2, 3), np.float32)
    found = rc.bisect_passes(rc.parse(BASE), ["Normalize", rc.Pass("Mine", "Breaks.", breaks), "LegalizeOps"], x)
    assert (found.first_different, found.status) == (2, 1)
    assert "from Mine (stage 2) on" in found.conclusion
    found = rc.bisect_passes(rc.parse(BASE), ["Normalize", rc.Pass("Mine", "Stops.", stops)], x)
    assert (found.verdict, found.status) == ("not comparable", 4)
    assert "PS015" in found.conclusion


def test_archives_of_which_one_holds_more_are_not_comparable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "a.npz", tmp_path / "b.npz", tmp_path / "c.npz"]
    np.savez(paths[0], x=np.ones(3))
    np.savez(paths[1], x=np.ones(3), y=np.ones(3))
    np.savez(paths[2], x=np.zeros(3), y=np.ones(3))
    for at, status, words in ((0, 0, "1 value compared and the same"), (1, 4, "not comparable"), (2, 1, "different")):
        assert main(["compare", str(paths[0]), str(paths[at])]) == status
        assert words in capsys.readouterr().out


COMMANDS = {
    "the same": (BASE, BASE, 0, "same"),
    "a difference": (BASE, WRONG, 1, "different"),
    "a program that dies at once": (BASE, MISSING, 4, "not comparable"),
    "programs that die alike": (MISSING, MISSING, 4, "not comparable"),
    "programs that stop alike": (ASSERTION, ASSERTION, 4, "stops alike"),
    "a program with errors": (BASE, BASE.replace("x, x", "x, nobody"), 4, "not comparable"),
    "a reference with errors": (BASE.replace("x, x", "x, nobody"), BASE, 4, "not comparable"),
}


@pytest.mark.parametrize(("first", "second", "status", "verdict"), COMMANDS.values(), ids=COMMANDS)
def test_the_commands_tell_by_their_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, second: str, status: int, verdict: str
) -> None:
    paths = [tmp_path / "a.py", tmp_path / "b.py"]
    for path, text in zip(paths, (first, second), strict=True):
        path.write_text(text, encoding="utf-8")
    files = [*map(str, paths), "--in-process"]
    assert main(["compare", *files]) == status
    assert verdict in capsys.readouterr().out
    assert main(["compare", *files, "--json"]) == status
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["status"]) == (verdict, status)
    assert main(["bisect", *files, "--json"]) == status
    said = capsys.readouterr().out
    if said:
        assert (json.loads(said)["verdict"], json.loads(said)["status"]) == (verdict, status)


def test_stages_that_all_fail_are_not_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(MISSING, encoding="utf-8")
    assert main(["bisect", str(path), "--in-process"]) == 4
    said = capsys.readouterr().out
    assert "same" not in said.replace("the same", "")
    assert len(said.splitlines()) < 8


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ((), "not comparable"),
        (("same", "same"), "same"),
        (("same", "not comparable"), "not comparable"),
        (("stops alike", "same"), "stops alike"),
        (("not comparable", "different", "same"), "different"),
    ],
)
def test_several_verdicts_make_the_gravest(verdicts: tuple[Verdict, ...], verdict: Verdict) -> None:
    assert whole(verdicts) == verdict


def test_ranges_of_numbers_are_short() -> None:
    assert ranges((1, 2, 3, 5, 7, 8)) == "1-3, 5, 7-8"


def test_a_stage_that_is_not_there_is_a_failure(session: Session) -> None:
    found: Failure | ValuesCompared = session.request(CompareValuesOf(program(BASE), 0, program(BASE), 99))
    assert isinstance(found, Failure)
    assert found.problems[0].code == "EN005"
