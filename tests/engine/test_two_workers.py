"""A bisection by two workers, one of which runs the later forms, comes to what one worker comes to."""

import io
import zipfile

import msgspec
import pytest

from relax_core.cli import main, two_workers
from relax_core.engine.debug.replies import Bisection, FormRuns
from relax_core.engine.debug.requests import BisectRecordedOf, RunFormsOf
from relax_core.engine.halving.reply import Budget
from relax_core.engine.process.client import Client
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure
from relax_core.engine.session import Session
from tests.engine.asking import ask
from tests.engine.test_recorded_stages import BREAKS, INPUTS, Break, programs

HEAD = "# from tvm.script import relax as R\n@I.ir_module\nclass Module:\n"
MAIN = """    @R.function
    def main(x: R.Tensor((2,), "{dtype}")) -> R.Tensor((2,), "{dtype}"):
        y = R.add(x, {operand})
        z = R.multiply(y, R.const(1, "{dtype}"))
        return z
"""


def recorded(texts: dict[str, str], inputs: bytes | None = None) -> BisectRecordedOf:
    """Return the request to bisect forms that are recorded in a zip of numbered files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number, (name, text) in enumerate(texts.items()):
            archive.writestr(f"{number:03}_{name}.py", text)
    return BisectRecordedOf(buffer.getvalue(), Program("", inputs=inputs), budget=Budget(1000, 40))


def by_two(message: BisectRecordedOf, at: int) -> Bisection:
    first, second = Session(), Session()
    runs = ask(second, RunFormsOf(message, at))
    for until in range(1, at + 1):
        ask(first, msgspec.structs.replace(message, until=until))
    return ask(first, msgspec.structs.replace(message, ahead=runs))


def small(*operands: str, dtype: str = "float32") -> dict[str, str]:
    """Write forms of a small program, one for each operand of its sum."""
    return {f"P{number}": HEAD + MAIN.format(operand=operand, dtype=dtype) for number, operand in enumerate(operands)}


@pytest.mark.parametrize("broken", [None, *BREAKS.values()], ids=["nothing is broken", *BREAKS])
def test_two_workers_say_of_every_stage_what_one_says(broken: Break | None) -> None:
    texts: dict[str, str] = {}
    for number, program in enumerate(programs(broken)):
        if program.text not in texts.values():
            texts[f"{program.name}_{number}"] = program.text
    message = recorded(texts, INPUTS)
    wholes = [number for number, text in enumerate(texts.values()) if "@R.function" in text]
    alone = ask(Session(), message)
    assert len(wholes) > 4
    assert (alone.first_different < 0) == (broken is None)
    for at in (wholes[len(wholes) // 2], wholes[-1]):
        assert by_two(message, at) == alone, at


@pytest.mark.parametrize(
    "texts",
    [
        small("x", "u", "R.abs(x)", "R.multiply(x, x)"),
        small("x", "R.matmul(x, R.zeros((3, 3), 'float32'))", "R.abs(x)", "R.exp(x)"),
        small("x", "R.abs(x)", "R.call_pure_packed('nowhere', x, sinfo_args=R.Tensor((2,), 'float32'))", "R.exp(x)"),
        small("x", "R.add(x, x)", "R.abs(x)", dtype="bfloat16"),
    ],
    ids=["a variable without a value", "an error of types", "a function that is not there", "bfloat16"],
)
def test_what_cannot_be_sent_is_run_by_the_one_that_judges(texts: dict[str, str]) -> None:
    message = recorded({**texts, "Last": texts["P0"] + "\n"})
    alone = ask(Session(), message)
    for at in range(1, len(texts)):
        assert by_two(message, at) == alone, at


def test_a_form_is_not_run_by_both_workers() -> None:
    message = recorded(small("x", "R.add(x, x)", "R.abs(x)"))
    runs = ask(Session(), RunFormsOf(message, 1))
    assert (runs.first, runs.are_all, [item.name for item in runs.runs]) == (1, True, ["001_P1.py", "002_P2.py"])
    first = Session()
    ask(first, msgspec.structs.replace(message, until=1))
    words = FormRuns(1, tuple(msgspec.structs.replace(item, shape="what was sent") for item in runs.runs), are_all=True)
    found = ask(first, msgspec.structs.replace(message, ahead=words))
    assert [item.words for item in found.stages[1:]] == ["out: it is what was sent, was one value"] * 2


def test_runs_without_a_bisection_to_go_on_with_are_not_used() -> None:
    message = recorded(small("x", "R.add(x, x)"))
    words = FormRuns(1, ask(Session(), RunFormsOf(message, 1)).runs, are_all=True)
    found = ask(Session(), msgspec.structs.replace(message, ahead=words))
    assert found == ask(Session(), message)


def test_runs_on_other_arguments_are_not_used() -> None:
    """The first form makes NaN of the usual arguments, so that they are made up anew by the worker that judges."""
    texts = small("R.log(x)", "R.log(R.multiply(x, R.const(1, 'float32')))", "R.log(R.add(x, x))")
    message = recorded({name: text.replace("(2,)", "(64,)") for name, text in texts.items()})
    first = Session()
    runs = ask(Session(), RunFormsOf(message, 1))
    ask(first, msgspec.structs.replace(message, until=1))
    words = FormRuns(1, tuple(msgspec.structs.replace(item, shape="not these") for item in runs.runs), are_all=True)
    found = ask(first, msgspec.structs.replace(message, ahead=words))
    assert found == ask(Session(), message)
    assert [item.verdict for item in found.stages] == ["reference", "same", "different"]


LONG = HEAD + MAIN.format(operand="x", dtype="float32") + "#" * two_workers.LONG


@pytest.mark.parametrize(
    ("texts", "starts"),
    [
        ([LONG, LONG + "1", LONG + "2", LONG + "3"], [0, 1, 2, 3]),
        ([LONG, LONG + "1", "# from tvm\n", "# from tvm\n "], [0, 1]),
        ([HEAD, HEAD + " "], []),
        ([LONG, LONG.removeprefix("# from tvm") + "1", LONG + "2"], [0]),
        ([LONG, LONG.replace("main", "other"), LONG + "2"], [0]),
        ([LONG, LONG + "1", LONG, LONG + "2"], []),
        (["# from tvm\n", LONG, LONG + "1"], []),
    ],
    ids=[
        "whole forms", "forms of prim funcs", "a short pipeline", "a form that a person wrote", "another function",
        "a form that is there twice", "no whole form in front",
    ],
)  # fmt: skip
def test_a_part_begins_at_a_whole_form(texts: list[str], starts: list[int]) -> None:
    parts = two_workers.parts_of(texts)
    assert parts == two_workers.parts_of(texts, "main")
    assert [part.start for part in parts] == starts
    assert [part.stop for part in parts] == [*starts[1:], *([len(texts)] if parts else [])]


def shared(*weights: int) -> two_workers.Shared:
    return two_workers.Shared([two_workers.Part(at, at + 1, weight) for at, weight in enumerate(weights)])


def test_each_worker_takes_half_of_what_is_left() -> None:
    parts = shared(*[1] * 8)
    taken = [parts.from_behind(), parts.from_front(), parts.from_front(), parts.from_behind(), parts.from_front()]
    assert taken == [slice(4, 8), 2, 3, slice(3, 4), 0]
    assert parts.from_behind() is None
    parts = shared(1, 1, 1, 9)
    assert [parts.from_behind(), parts.from_behind(), parts.from_front()] == [slice(3, 4), slice(1, 3), 1]


def test_what_came_of_parts_is_joined_up_to_the_first_that_lacks_a_form() -> None:
    message = recorded(small("x", "R.add(x, x)", "R.abs(x)", "R.exp(x)"))
    session = Session()
    whole = ask(session, RunFormsOf(message, 1))
    found = [ask(session, RunFormsOf(message, *part)) for part in ((1, 2), (2, 3), (3,))]
    assert two_workers.joined(found) == whole
    found[1] = FormRuns(2, (), are_all=False)
    assert two_workers.joined(found) == FormRuns(1, whole.runs[:1], are_all=False)


@pytest.mark.parametrize("fails", [False, True], ids=["both work", "the second one fails"])
def test_the_command_asks_two_workers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory,
    *, fails: bool,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("dump")
    for number, text in enumerate(small("R.add(x, x)", "R.abs(R.abs(x))", "x").values()):
        (folder / f"{number:03}_P{number}.py").write_text(text)
    alone = main(["bisect", str(folder), "--in-process"]), capsys.readouterr().out
    asked: list[object] = []
    request = Client.request

    def noted(client: Client, message: object, *rest: object) -> object:
        asked.append(message)
        if fails and isinstance(message, RunFormsOf):
            return Failure("limit", "Out of memory", "")
        return request(client, message, *rest)  # pyright: ignore[reportArgumentType]  # what it is given goes on

    monkeypatch.setattr(Client, "request", noted)
    monkeypatch.setattr(two_workers, "LONG", 0)
    monkeypatch.setattr(two_workers, "processor_count", lambda: 2)
    assert (main(["bisect", str(folder)]), capsys.readouterr().out) == alone
    assert sorted(type(item).__name__ for item in asked) == ["BisectRecordedOf", "BisectRecordedOf", "RunFormsOf"]
    begun, ended = (item for item in asked if isinstance(item, BisectRecordedOf))
    assert (begun.until, begun.ahead, ended.until) == (1, None, 0)
    assert ended.ahead is not None
    assert (len(ended.ahead.runs), ended.ahead.are_all) == ((0, False) if fails else (2, True))
