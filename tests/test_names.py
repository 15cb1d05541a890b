"""A name means one thing: no two classes of one layer share it, and no class has a name that was coined."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from tests.code_rules import REPOSITORY, SourceFile

ROOTS = ("relax_core", "views", "benchmarks", "tools")
# docs/glossary.md has the field's word for each.
COINED = frozenset(("Study", "Means", "Scene", "Said", "Ink", "Shelf", "Place", "Facts"))


def layer_of(path: str) -> str:
    root, _, rest = path.partition("/")
    return rest.split("/")[0].removesuffix(".py") if root == "relax_core" else root


def places_of(files: Iterable[SourceFile]) -> dict[tuple[str, str], list[str]]:
    """Return by layer and name where classes are defined."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for file in files:
        for node in file.tree.body:
            if isinstance(node, ast.ClassDef):
                found[layer_of(file.path), node.name].append(f"{file.path}:{node.lineno}")
    return found


def namesakes(files: Iterable[SourceFile]) -> Iterator[str]:
    for (layer, name), places in places_of(files).items():
        if len(places) > 1:
            yield f"{layer}: {name} is {', '.join(places)}"


def coined(files: Iterable[SourceFile]) -> Iterator[str]:
    for (_, name), places in places_of(files).items():
        if name.lstrip("_") in COINED:
            yield f"{name}: {', '.join(places)}"


def tree() -> Iterator[SourceFile]:
    for root in ROOTS:
        for path in sorted((REPOSITORY / root).rglob("*.py")):
            yield SourceFile(path.relative_to(REPOSITORY).as_posix(), path.read_text(encoding="utf-8"))


def test_no_two_classes_of_a_layer_share_a_name() -> None:
    assert not (found := sorted(namesakes(tree()))), "\n" + "\n".join(found)


def test_no_class_has_a_coined_name() -> None:
    assert not (found := sorted(coined(tree()))), "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("paths", "count"),
    [
        (("relax_core/vm/stack.py", "relax_core/vm/tiers/frames.py"), 1),
        (("relax_core/vm/stack.py", "relax_core/present/running/run_models.py"), 0),
        (("views/state/session.py", "views/widgets/graph/component.py"), 1),
    ],
)
def test_only_a_name_within_a_layer_is_seen(paths: tuple[str, ...], count: int) -> None:
    assert len(tuple(namesakes(SourceFile(path, "class _Same: ...") for path in paths))) == count


def test_a_coined_name_is_seen() -> None:
    assert tuple(coined((SourceFile("relax_core/vm/stack.py", "class _Place: ..."),)))
