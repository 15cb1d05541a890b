"""Compare a text with the expected one in `tests/golden/`."""

from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True, slots=True)
class Golden:
    """The expected texts; `is_updating` writes them instead of comparing."""

    is_updating: bool
    root: Path = GOLDEN

    def check(self, name: str, text: str) -> None:
        """Fail with a diff unless `text` is what `tests/golden/<name>` holds; a missing file fails too."""
        path = self.root / name
        if not text.endswith("\n"):
            text += "\n"
        if self.is_updating:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        elif not path.is_file():
            pytest.fail(f"tests/golden/{name} is missing: run pytest --update-golden and read the diff", pytrace=False)
        elif (expected := path.read_text(encoding="utf-8")) != text:
            lines = unified_diff(expected.splitlines(), text.splitlines(), f"golden/{name}", "actual", lineterm="")
            pytest.fail("\n".join(lines), pytrace=False)
