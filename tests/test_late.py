"""What is loaded late: neither `import relax_core` nor checking a text loads what it does not need."""

import os
import shutil
import sys
import threading
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from subprocess import run
from types import ModuleType

import pytest

import relax_core
from relax_core import late
from relax_core.engine.api import notebooks, patterns, pipelines, reports, runs, texts

CHECKED = Path("samples/relax/callback.py")

# What a process does, how many modules of the package it may load at most, and what it may load nothing of.
PROCESSES = {
    "import relax_core": (
        "import relax_core",
        12,
        ("numpy", "msgspec", "llvmlite", "pygments", "streamlit", "relax_core.ir", "relax_core.ops"),
    ),
    "the command line": (
        "from relax_core.cli import main",
        64,
        ("numpy", "llvmlite", "pygments", "importlib.metadata", "relax_core.ir", "relax_core.frontend"),
    ),
    "the command line that checks a text": (
        f"from relax_core.cli import main\nassert main(('check', {str(CHECKED)!r})) == 0",
        72,
        ("numpy", "llvmlite", "pygments", "zipfile", "relax_core.ir", "relax_core.frontend"),
    ),
    "what starts the workers of the pages": (
        "from relax_core.engine.process.forked import forked_workers",
        60,
        ("numpy", "llvmlite", "relax_core.ir", "relax_core.engine.process.fork_server"),
    ),
    "a worker that has checked a text": (
        "from relax_core.engine.process import worker\n"
        "from relax_core.engine.session import Session\n"
        "from relax_core.engine.protocol import Check, Program\n"
        f"found = Session().request(Check(Program(open({str(CHECKED)!r}).read())))\n"
        "assert not found.has_errors, found",
        260,
        (
            *(
                "llvmlite.binding",
                "pygments",
                "importlib.metadata",
                "torch",
                "relax_core.passes",
                "relax_core.vm.machine",
            ),
            "relax_core.jit.lowering.known.ranges",
        ),
    ),
    "a program that prints a module": (
        f"import relax_core as rc\nprint(rc.script(rc.parse(open({str(CHECKED)!r}).read())))",
        300,
        ("llvmlite", "pygments", "relax_core.passes", "relax_core.jit", "relax_core.vm"),
    ),
}


def loaded_by(program: str) -> list[str]:
    """Return the modules that are loaded behind a program, late ones that were not used left out."""
    listing = (
        "\nimport sys\nprint()\n"
        "print(*(n for n, m in sys.modules.items() if type(m).__name__ != '_LateModule'), sep=' ', file=sys.stderr)"
    )
    done = run((sys.executable, "-c", program + listing), capture_output=True, text=True, check=True, timeout=120)
    return done.stderr.split()


@pytest.mark.parametrize(("program", "most", "absent"), PROCESSES.values(), ids=PROCESSES)
def test_a_process_loads_what_it_needs(program: str, most: int, absent: tuple[str, ...]) -> None:
    loaded = loaded_by(program)
    assert [name for name in loaded if name.startswith(tuple(f"{item}." for item in absent)) or name in absent] == []
    assert sum(name.split(".")[0] == "relax_core" for name in loaded) <= most


@pytest.mark.parametrize("name", sorted(late.LATE))
def test_a_late_module_is_a_file_that_somebody_imports_whole(name: str) -> None:
    spec = find_spec(name)
    assert spec is not None
    assert isinstance(spec.loader, SourceFileLoader)
    package, _, module = name.rpartition(".")
    texts_of_package = (path.read_text(encoding="utf-8") for path in Path("relax_core").rglob("*.py"))
    assert any(f"from {package} import" in text and module in text for text in texts_of_package)


def test_the_public_names_are_those_of_the_modules_that_have_them() -> None:
    modules = (notebooks, patterns, pipelines, reports, runs, texts)
    public = {name: module for module in modules for name in module.__all__}
    assert sorted(public) == sorted(relax_core.__all__)
    assert all(getattr(relax_core, name) is getattr(module, name) for name, module in public.items())


def test_a_public_name_stays_the_function_when_the_subpackage_of_its_name_is_imported() -> None:
    program = (
        "import relax_core as rc, relax_core.check.infer, relax_core.pattern.language.nodes\n"
        "assert callable(rc.check) and callable(rc.pattern)\n"
        "from relax_core import check, pattern\n"
        "assert (check, pattern) == (rc.check, rc.pattern)"
    )
    loaded_by(program)


def test_a_name_that_is_not_public_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'relax_core' has no attribute 'parze'"):
        _ = relax_core.parze  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]  # the mistake that is tested
    assert {"parse", "check"} <= set(dir(relax_core))


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A late module that counts how often it is loaded, in `sys.loads`, and fails the first time if asked to."""
    path = tmp_path / "waiting.py"
    path.write_text(
        "import sys\nsys.loads.append(1)\nif len(sys.loads) <= sys.failures:\n    raise OSError('no')\n"
        "def first():\n    return second()\nsys.between()\ndef second():\n    return 2\n"
    )
    monkeypatch.setattr(sys, "loads", [], raising=False)
    monkeypatch.setattr(sys, "failures", 0, raising=False)
    monkeypatch.setattr(sys, "between", lambda: None, raising=False)
    spec = spec_from_file_location("waiting", path, loader=late.WaitingLoader("waiting", str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_module_is_loaded_once_when_it_is_used(waiting: ModuleType) -> None:
    assert waiting.__name__ == "waiting"
    assert getattr(sys, "loads") == []  # noqa: B009
    assert (waiting.first(), waiting.first()) == (2, 2)
    assert getattr(sys, "loads") == [1]  # noqa: B009
    assert type(waiting) is ModuleType


def test_a_load_that_fails_is_tried_again(waiting: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "failures", 1)
    with pytest.raises(late.NotLoadedError, match="OSError: no"):
        waiting.first()
    assert waiting.first() == 2


def test_a_second_thread_waits_until_a_module_is_loaded(waiting: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    others = [threading.Thread(target=lambda: found.append(waiting.first())) for _ in range(4)]

    def between() -> None:
        for thread in others:
            thread.start()

    # While `second` is not there yet, the others ask for `first`, which calls it.
    monkeypatch.setattr(sys, "between", between)
    assert waiting.first() == 2
    for thread in others:
        thread.join(60)
    assert found == [2, 2, 2, 2]


def test_a_worker_leaves_bytecode_of_all_that_workers_may_load(tmp_path: Path) -> None:
    shutil.copytree("relax_core", tmp_path / "relax_core", ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import sys\nfrom pathlib import Path\nfrom relax_core import late\n"
        "from relax_core.engine.process import worker\nlate.load_uncompiled()\n"
        "sys.dont_write_bytecode = True\nlate.load_imported()\n"
        "named = {n: m.__spec__ for n, m in sys.modules.items() if n.startswith('relax_core.') and m.__spec__.cached}\n"
        "assert 'relax_core.engine.screens.run_views' in named\n"
        "assert 'relax_core.passes.relax.legalize_ops' in named\n"
        "print(*(name for name, spec in named.items() if not Path(spec.cached).exists()))"
    )
    # Where it stands is the first place that Python looks for modules.
    command, environment = (sys.executable, "-c", program), {"PATH": os.environ["PATH"]}
    done = run(command, capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path, env=environment)
    assert done.stdout.split() == []
