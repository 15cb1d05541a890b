"""An addition that is a file of its own is named in the table of its kind, or it is not there for anyone."""

import re
from collections.abc import Iterator

import pytest

from relax_core.passes.library import PASSES
from tests.code_rules import REPOSITORY, SourceFile
from views import PAGES

# What such a file has at its top, where these files are, and the table.
KINDS = (
    (r"^SPECS\b", "relax_core/ops/arithmetic/*.py", "relax_core/ops/__init__.py"),
    (r"^SPECS\b", "relax_core/ops/images/*.py", "relax_core/ops/__init__.py"),
    (r"^SPECS\b", "relax_core/ops/nn/*.py", "relax_core/ops/__init__.py"),
    (r"^SPECS\b", "relax_core/ops/runtime/*.py", "relax_core/ops/__init__.py"),
    (r"^SPECS\b", "relax_core/ops/tensors/*.py", "relax_core/ops/__init__.py"),
    (r"^SPECS\b", "relax_core/ops/relay/*/*.py", "relax_core/ops/relay/__init__.py"),
    (r"^PASS\b", "relax_core/passes/*/**/*.py", "relax_core/passes/library.py"),
    (r"^\w+ = Transform\(", "relax_core/jit/transforms/*/*.py", "relax_core/jit/transforms/registry.py"),
)


def read(path: str) -> SourceFile:
    return SourceFile(path, (REPOSITORY / path).read_text(encoding="utf-8"))


def is_named(file: str, table: SourceFile) -> bool:
    """Tell whether the table imports the file, or something of it, or writes its path."""
    module = file.removesuffix(".py").replace("/", ".")
    return file in table.text or any(f"{name}.".startswith(f"{module}.") for _, name in table.imports)


def entries(mark: str, pattern: str) -> Iterator[str]:
    for path in sorted(REPOSITORY.glob(pattern)):
        if re.search(mark, path.read_text(encoding="utf-8"), re.MULTILINE):
            yield path.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize(("mark", "pattern", "table"), KINDS, ids=[pattern for _, pattern, _ in KINDS])
def test_the_table_names_every_file_of_its_kind(mark: str, pattern: str, table: str) -> None:
    found = list(entries(mark, pattern))
    assert found, f"no file of {pattern} has {mark}"
    forgotten = [file for file in found if not is_named(file, read(table))]
    assert not forgotten, f"{table} names no {', '.join(forgotten)}"


def test_the_pages_are_the_folders_of_pages() -> None:
    folders = {path.parent.name for path in REPOSITORY.glob("views/pages/*/page.py")}
    assert sorted(folders) == sorted(PAGES)


def test_the_tests_of_passes_name_every_pass() -> None:
    files = [path for path in (REPOSITORY / "tests" / "passes").rglob("*") if path.suffix in (".py", ".toml")]
    words = {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    assert not {name for _, name in PASSES} - words


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("from relax_core.passes.relay import fuse_ops", True),
        ("from relax_core.passes.relay.fuse_ops import PASS", True),
        ("PASSES = ('relax_core/passes/relay/fuse_ops.py',)", True),
        ("from relax_core.passes.relax import fuse_ops", False),
        ("from relax_core.passes.relay import fuse_ops_more", False),
    ],
)
def test_a_file_is_named_by_its_module_or_its_path(text: str, named: bool) -> None:
    assert is_named("relax_core/passes/relay/fuse_ops.py", SourceFile("relax_core/passes/library.py", text)) is named
