"""The file of a lesson: what is read of it, and each mistake with its place in the Markdown."""

import pytest

from relax_core.diagnostics import CompileError
from relax_core.engine.session import Session
from relax_core.lessons.checking import check_lesson
from relax_core.lessons.library import LESSONS, LessonFile
from relax_core.lessons.model import Predict, Shown
from relax_core.lessons.reading import over, read_lesson
from relax_core.source import Source

FRONT = '+++\ntitle = "T"\nabout = "A."\nminutes = 5\norder = 1\nprogram = "relax/mlp.py"\n+++\n'
ASKED = '## One\n\n```predict\nask = "?"\ncomputed = "shape of lv"\n```\n'
PASS_ASKED = """## One

```show
page = "passes"
pipeline = "Normalize, LegalizeOps"
stage = "LegalizeOps"
```

```predict
ask = "How many?"
computed = "number of prim funcs after LegalizeOps"
kind = "number"
```
"""


def diagnostics(text: str) -> list[tuple[str, int, str]]:
    with pytest.raises(CompileError) as caught:
        read_lesson("l", Source("lesson.md", text))
    return [(item.code, item.span.line if item.span else 0, item.message) for item in caught.value.diagnostics]


def test_a_lesson_is_read_with_its_steps() -> None:
    text = f"{FRONT}Hello.\n\n{ASKED}after\n\n## Two\n\n```show\npage = 'run'\ntime = 3\n```\n\n```python\nx = 1\n```\n"
    lesson = read_lesson("l", Source("lesson.md", text))
    first, second = lesson.steps
    assert (lesson.title, lesson.introduction, lesson.points, lesson.prediction_count) == ("T", "Hello.", 3, 1)
    assert isinstance(first.exercise, Predict)
    assert (first.text, first.shown) == ("after", Shown(page="source", program="relax/mlp.py"))
    assert second.text == "```python\nx = 1\n```"
    assert second.shown == Shown(page="run", program="relax/mlp.py", time=3)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("## One\n", 1, "front matter"),
        (FRONT, 7, "at least one step"),
        (FRONT.replace("minutes = 5", "minutes = 'five'") + ASKED, 4, "Expected `int`"),
        (FRONT.replace("minutes = 5", "minuets = 5") + ASKED, 4, "unknown field `minuets`"),
        (f"{FRONT}{ASKED.replace('ask =', 'sak =')}", 11, "unknown field `sak`"),
        (f"{FRONT}{ASKED.replace('ask =', '#')}", 10, "missing required field `ask`"),
        (FRONT + ASKED.replace('= "?"', "= "), 11, "no TOML"),
        (f"{FRONT}{ASKED}{ASKED.partition(chr(10))[2]}", 15, "one exercise"),
        (f"{FRONT}## One\n\n```show\npage = 'home'\n```\n", 11, "Invalid enum value 'home'"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, words: str) -> None:
    found = diagnostics(text)
    assert (found[0][0], found[0][1]) == ("EN032", line)
    assert words in found[0][2]


@pytest.mark.parametrize(
    ("step", "line", "words"),
    [
        (ASKED.replace("shape of lv", "shape of nothing"), 10, "no variable `nothing`"),
        (ASKED.replace("shape of lv", "colour of lv"), 10, "is no property"),
        (ASKED.replace('computed = "shape of lv"', 'options = ["a", "b"]'), 10, "or an `answer`"),
        (ASKED.replace('"\n```', '"\noptions = ["(1,)", "(2,)"]\n```'), 10, "0 options"),
        ("## One\n\n```show\nprogram = 'none.py'\n```\n", 10, "none.py"),
        ("## One\n\n```show\npage = 'run'\ntime = 'lv9'\n```\n", 10, "binds no data to `lv9`"),
        ("## One\n\n{{shape of lv9}}\n", 8, "no variable `lv9`"),
        (
            "## One\n\n```do\nask = '?'\nholds = ['outcome is returned']\nsolution = { time = 3 }\n```\n",
            10,
            "before anything is done",
        ),
        (
            "## One\n\n```fix\nask = '?'\nholds = ['rank of lv is 3']\nsolution = 'relax/mlp.py'\n```\n",
            10,
            "does not reach `rank of lv is 3`",
        ),
        (PASS_ASKED, 16, "the page shows the answer"),
        (PASS_ASKED.replace('"number"', "'number'\nreveal = { stage = 'FuseOps' }"), 16, "runs `FuseOps` 0 times"),
    ],
)
def test_what_cannot_be_played_is_told_with_its_line(step: str, line: int, words: str) -> None:
    source = Source("lesson.md", FRONT + step)
    file = LessonFile(LESSONS / "l", source, read_lesson("l", source))
    found = check_lesson(file, Session().request)
    assert [(item.code, item.span.line if item.span else 0) for item in found.problems] in (
        [("EN033", line)],
        [("EN032", line)],
    )
    assert words in found.problems[0].message
    assert f"lesson.md:{line}" in found.to_text()


def test_another_program_begins_at_its_beginning() -> None:
    before = Shown(page="run", program="a.py", time=3, pipeline="FuseOps")
    assert over(before, Shown(time=5)) == Shown(page="run", program="a.py", time=5, pipeline="FuseOps")
    assert over(before, Shown(program="b.py")) == Shown(page="run", program="b.py")
    assert over(before, Shown(page="passes")) == Shown(page="passes", program="a.py", pipeline="FuseOps")
