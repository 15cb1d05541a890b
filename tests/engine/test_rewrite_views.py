"""Single rewrites of a stage in a session and on the command line."""

from pathlib import Path

import msgspec
import pytest

from relax_core.cli import main
from relax_core.engine.protocol import Failure, RewriteOf, StageOf
from relax_core.engine.session import Session
from tests.engine.asking import ask
from tests.engine.programs import SAMPLES, sample

MLP = msgspec.structs.replace(sample("relax/mlp.py"), pipeline="Normalize, LegalizeOps")
KILLS = "Normalize, LambdaLift, LegalizeOps, ToNonDataflow, CallTIRRewrite, KillAfterLastUse"


def test_a_rewrite_is_set_beside_the_module_before_it(session: Session) -> None:
    view = ask(session, RewriteOf(MLP, 2, 2))
    assert (view.number, view.rule, view.numbers) == (2, "operator call -> call_tir of its prim func", (1, 2, 3, 4, 5))
    assert (view.diff.before_title, view.diff.after_title) == ("Before rewrite 2", "After rewrite 2")
    assert view.problems == ()
    before, after = (
        "\n".join(side.text for side in sides if side is not None)
        for sides in zip(*((row.before, row.after) for row in view.diff.rows), strict=True)
    )
    assert "lv1 = R.add(lv, b1)" in before
    assert "lv = R.call_tir(cls.matmul, " in before
    assert "lv1 = R.call_tir(cls.add, " in after
    assert "def add(" not in before
    assert "def add(" in after
    assert "lv1 = R.call_tir(cls.add, " in view.text


def test_without_a_rewrite_the_others_are_made(session: Session) -> None:
    view = ask(session, RewriteOf(MLP, 2, 2, is_left_out=True))
    assert (view.diff.before_title, view.diff.after_title) == ("With all rewrites", "Without rewrite 2")
    assert "lv1 = R.add(lv, b1)" in view.text
    assert view.text.count("R.call_tir(") == 4


def test_an_ill_formed_module_is_shown_with_its_errors(session: Session) -> None:
    program = msgspec.structs.replace(sample("relax/callback.py"), pipeline=KILLS)
    replies = [session.request(RewriteOf(program, 6, number, is_left_out=True)) for number in (1, 2)]
    views = [reply for reply in replies if not isinstance(reply, Failure)]
    (ill, *_) = [view for view in views if view.problems]
    assert ill.problems[0].code == "PS017"
    assert ill.text


@pytest.mark.parametrize(("stage", "number", "code"), [(0, 1, "EN005"), (99, 1, "EN005"), (2, 9, "PS020")])
def test_what_is_not_there_is_refused(session: Session, stage: int, number: int, code: str) -> None:
    reply = session.request(RewriteOf(MLP, stage, number))
    assert isinstance(reply, Failure)
    assert reply.problems[0].code == code


def test_of_very_many_rewrites_the_first_are_listed_and_the_rest_counted(
    session: Session, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = "\n".join(f"    x{at + 1} = R.add(x{at}, x{at})" for at in range(600))
    text = f'@R.function\ndef main(x0: R.Tensor((2,), "float32")):\n{lines}\n    return x600\n'
    long = msgspec.structs.replace(MLP, text=text, name="long.py", pipeline="LegalizeOps")
    detail = ask(session, StageOf(long, 1)).detail
    assert (len(detail.rewrites), detail.rewrite_count) == (500, 600)
    assert ask(session, RewriteOf(long, 1, 600)).numbers == tuple(range(1, 601))
    plain = tmp_path / "long.py"
    plain.write_text(text)
    assert main(["opt", str(plain), "--passes", "LegalizeOps", "--list-rewrites"]) == 0
    assert capsys.readouterr().out.endswith("and 100 more, with the numbers up to 600\n")


def test_the_command_line_lists_and_makes_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    opt = ["opt", str(SAMPLES / "relax" / "mlp.py"), "--passes", "Normalize, LegalizeOps"]
    assert main([*opt, "--list-rewrites"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4", "5"]
    assert lines[1].startswith("   2  line 19: R.add(lv, b1) -> R.call_tir(cls.add, (lv, b1), ")
    assert main([*opt, "--rewrites", "2"]) == 0
    assert capsys.readouterr().out.count("R.call_tir(") == 2
    assert main([*opt, "--without-rewrite", "2"]) == 0
    assert capsys.readouterr().out.count("R.call_tir(") == 4
    assert main([*opt, "--rewrites", "9"]) == 1
    assert "PS020" in capsys.readouterr().err
    plain = tmp_path / "m.py"
    plain.write_text('@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n')
    assert main(["opt", str(plain), "--passes", "LegalizeOps", "--list-rewrites"]) == 0
    assert capsys.readouterr().out == "LegalizeOps replaced nothing\n"
