"""Patches do what they say: git applies them."""

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relax_core.present.diffs.patch import patch_of

TEXTS = st.lists(st.sampled_from(("a", "b", "", " c", "\\ d", "-e", "x\x0cy", "é\u2028z", "--- f")), min_size=1).map(
    "\n".join
)


def applied(folder: Path, before: str, patch: str) -> str:
    path = folder / "m.py"
    path.write_bytes(before.encode())
    command = ("git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
    subprocess.run(command, input=patch.encode(), cwd=folder, check=True)
    return path.read_bytes().decode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=TEXTS.filter(bool), after=TEXTS.filter(bool))
def test_git_makes_the_second_text_of_the_first(tmp_path: Path, before: str, after: str) -> None:
    patch = patch_of(before, after, "m.py")
    assert (patch == "") == (before == after)
    if patch:
        assert applied(tmp_path, before, patch) == after


def test_a_patch_names_files_that_are_safe() -> None:
    patch = patch_of("x\n", "y\n", "../a\nb.py", "c d.py")
    assert patch.splitlines()[:2] == ["--- a/a_b.py", "+++ b/c_d.py"]
