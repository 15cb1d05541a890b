"""The walls between the rooms: layers, who knows the browser, sizes, and what no module does."""

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.code_rules import (
    ALLOWED,
    FOLDER_LIMIT,
    FUNCTION_LINE_LIMIT,
    LINE_LIMIT,
    REPOSITORY,
    SourceFile,
    cycle_violations,
    execution_violations,
    folder_violations,
    function_violations,
    layer_violations,
    length_violations,
    room_violations,
    state_violations,
    streamlit_violations,
)

Rule = Callable[[SourceFile], Iterator[str]]

CORE = ("relax_core",)
PROGRAM = ("relax_core", "views", "benchmarks", "app.py")
EVERYTHING = (*PROGRAM, "tests")

RULES = (
    (layer_violations, CORE),
    (room_violations, CORE),
    (execution_violations, CORE),
    (state_violations, CORE),
    (streamlit_violations, EVERYTHING),
    (function_violations, PROGRAM),
    (length_violations, EVERYTHING),
)

# Each rule is shown a file that breaks it in the given number of places.
BROKEN = (
    (layer_violations, "relax_core/ir/module.py", "from relax_core.ops import OPS", 1),
    (layer_violations, "relax_core/ir/module.py", "import relax_core.vm.machine", 1),
    (layer_violations, "relax_core/source.py", "from .ir import node", 1),
    (layer_violations, "relax_core/jit/lowering/lower.py", "from ...vm import machine", 1),
    (layer_violations, "relax_core/vm/machine.py", "def f():\n    from relax_core import cli, parse", 2),
    (layer_violations, "relax_core/vm/machine.py", "import relax_core", 1),
    (layer_violations, "relax_core/present/drawings/graph.py", "import views.state.session\nimport streamlit as st", 2),
    (layer_violations, "relax_core/__init__.py", "from relax_core.cli import main", 1),
    (room_violations, "relax_core/utils.py", "", 1),
    (execution_violations, "relax_core/engine/process/worker.py", "import pickle\nfrom marshal import loads", 2),
    (execution_violations, "relax_core/vm/machine.py", "eval('1')\nexec('')\nbuiltins.eval('1')", 3),
    (execution_violations, "relax_core/frontend/parse.py", "import importlib\nimportlib.import_module(name)", 1),
    (state_violations, "relax_core/ops/core.py", "OPS = {}\nNAMES: list[str] = []\nSEEN = set()", 3),
    (state_violations, "relax_core/ops/core.py", "if DEBUG:\n    MEMO = defaultdict[str, int](int)", 1),
    (state_violations, "relax_core/ops/core.py", "def f():\n    global COUNT\n    COUNT = 1", 1),
    (
        state_violations,
        "relax_core/ops/core.py",
        "@functools.lru_cache(8)\ndef f(x):\n    return x\n@cache\ndef g(): ...",
        2,
    ),
    (state_violations, "relax_core/ops/core.py", "SEEN = make()\ndef f():\n    SEEN[1] = 2\n    SEEN.append(3)", 2),
    (streamlit_violations, "benchmarks/bench_vm.py", "from streamlit import cache_data", 1),
    (function_violations, "views/pages/run/page.py", "def f():\n" + "    pass\n" * FUNCTION_LINE_LIMIT, 1),
    (length_violations, "tests/test_vm.py", "x = 1\n" * (LINE_LIMIT + 1), 1),
)

SOUND = (
    (layer_violations, "relax_core/vm/machine.py", "from relax_core.bytecode import isa\nfrom . import values"),
    (layer_violations, "relax_core/__init__.py", "from relax_core.engine.session import Session"),
    (layer_violations, "relax_core/__main__.py", "from relax_core.cli import main"),
    (execution_violations, "relax_core/bytecode/compile.py", "re.compile('a')\ncompile(module)\nmachine.evaluate()"),
    (state_violations, "relax_core/ops/core.py", "__all__ = ['OPS']\nOPS = MappingProxyType({})\ndef f():\n    x = []"),
    (
        state_violations,
        "relax_core/ops/core.py",
        "def f():\n    @cache\n    def g(): ...\n    x = {}\n    x[1] = 2",
    ),
    (function_violations, "views/pages/run/page.py", "def f():\n" + "    pass\n" * (FUNCTION_LINE_LIMIT - 1)),
    (length_violations, "tests/test_vm.py", "x = 1\n" * LINE_LIMIT),
)


@cache
def files_of(root: str) -> tuple[SourceFile, ...]:
    """Read what stands under a path; each file is parsed once for all tests."""
    top = REPOSITORY / root
    paths = (top,) if top.is_file() else sorted(top.rglob("*.py"))
    return tuple(
        SourceFile(path.relative_to(REPOSITORY).as_posix(), path.read_text(encoding="utf-8")) for path in paths
    )


@pytest.fixture(scope="module")
def found() -> dict[Rule, list[str]]:
    """Look at every file once, with all rules that hold for it; a rule that looks at nothing is not listed."""
    lines: dict[Rule, list[str]] = {}
    for root in EVERYTHING:
        for file in files_of(root):
            for rule in (rule for rule, roots in RULES if root in roots):
                lines.setdefault(rule, []).extend(rule(file))
    return lines


def rule_name(value: object) -> str | None:
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize(("rule", "roots"), RULES, ids=rule_name)
def test_the_tree_keeps_the_rule(rule: Rule, roots: tuple[str, ...], found: dict[Rule, list[str]]) -> None:
    assert rule in found, f"there is nothing to look at under {', '.join(roots)}"
    assert not found[rule], "\n" + "\n".join(found[rule])


def test_no_folder_holds_more_modules_than_one_takes_in() -> None:
    found = list(folder_violations(file.path for root in (*CORE, "views") for file in files_of(root)))
    assert not found, "\n" + "\n".join(found)


def test_a_folder_that_is_too_large_is_seen() -> None:
    paths = ["pkg/__init__.py", *(f"pkg/m{number}.py" for number in range(FOLDER_LIMIT))]
    assert not list(folder_violations(paths))
    assert len(list(folder_violations([*paths, "pkg/more.py", "pkg/inner/m.py"]))) == 1


def test_no_file_imports_itself_through_others() -> None:
    found = list(cycle_violations(file for root in EVERYTHING for file in files_of(root)))
    assert not found, "\n" + "\n".join(found)


# The imports of three files, and how many of them close a cycle.
CYCLES = {
    "at run time": ("from pkg.b import x", "import pkg.c", "from pkg import a", 3),
    "for types alone": ("from pkg.b import x", "if TYPE_CHECKING:\n    from pkg import a", "", 2),
    "inside a function": ("import pkg.c", "", "def f():\n    from .a import x", 2),
    "none": ("from pkg import b, c", "import pkg.c", "import json", 0),
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_seen_wherever_its_imports_stand(name: str) -> None:
    *texts, count = CYCLES[name]
    files = [SourceFile(f"pkg/{letter}.py", str(text)) for letter, text in zip("abc", texts, strict=True)]
    assert len(list(cycle_violations(files))) == count


def test_the_folders_of_tests_are_those_of_the_program() -> None:
    folders = [path.parent.relative_to(REPOSITORY / "tests") for path in (REPOSITORY / "tests").rglob("*.py")]
    missing = [str(folder) for folder in dict.fromkeys(folders) if not list(_subjects(folder))]
    assert not missing, f"tests/ mirrors relax_core and views, which have no {', '.join(missing)}"


def _subjects(folder: Path) -> Iterator[Path]:
    """Find what the tests in a folder are of: a folder or a file of the same name, where `tests/ops` is `ops`."""
    for root in (REPOSITORY, REPOSITORY / "relax_core"):
        yield from (path for path in (root / folder, (root / folder).with_suffix(".py")) if path.exists())


@pytest.mark.parametrize(("rule", "path", "text", "count"), BROKEN, ids=rule_name)
def test_a_rule_sees_what_breaks_it(rule: Rule, path: str, text: str, count: int) -> None:
    assert len(tuple(rule(SourceFile(path, text)))) == count


@pytest.mark.parametrize(("rule", "path", "text"), SOUND, ids=rule_name)
def test_a_rule_lets_sound_code_pass(rule: Rule, path: str, text: str) -> None:
    assert tuple(rule(SourceFile(path, text))) == ()


def test_every_allowance_is_for_a_file_that_exists_and_has_a_reason() -> None:
    for path, entries in ALLOWED.items():
        assert (REPOSITORY / path).is_file(), path
        assert all(reason for _, reason in entries), path


@pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="an unpacked archive says nothing of what is committed")
def test_no_symbolic_link_is_committed() -> None:
    """A link to a folder of one machine dangles on every other one, where `make test` then cannot make the folder."""
    command = ("git", "ls-files", "--stage")
    listing = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert [line for line in listing.splitlines() if line.startswith("120000 ")] == []
