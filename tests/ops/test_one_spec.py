"""Adding an operator is one `OpSpec` in one file: the guide's own text is put in place, and the operator works."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
GUIDE = REPOSITORY / "docs" / "contributing.md"

# Run in a copy of the package that has the operator; prints what it found as one JSON object.
PROBE = '''
import json, sys
import numpy as np
import relax_core as rc
from relax_core.engine.protocol import SheetOf
from relax_core.engine.session import Session

TEXT = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        y = R.nn.softsign(x, scale=2.0)
        return y
"""

def codes(text):
    try:
        return [item.code for item in rc.check(rc.parse(text))]
    except rc.CompileError as error:
        return [item.code for item in error.diagnostics if item.severity == "error"]

module = rc.parse(TEXT)
x = np.linspace(-3, 3, 6, dtype="float32").reshape(2, 3)
sheet = Session().request(SheetOf("nn.softsign"))
json.dump({
    "problems": codes(TEXT),
    "problems of integers": codes(TEXT.replace("float32", "int32")),
    "problems of an unknown name": codes(TEXT.replace("scale=", "size=")),
    "is the same when printed": rc.structural_equal(rc.parse(rc.script(module)), module),
    "evaluated": rc.evaluate(module, "main", x).ravel().tolist(),
    "run": rc.VirtualMachine(rc.build(module))["main"](x).ravel().tolist(),
    "expected": (2 * x / (1 + np.abs(x))).ravel().tolist(),
    "legalized": rc.script(rc.run_pipeline(module, "Normalize, LegalizeOps")[-1].after),
    "sheet": sheet.listing.text,
}, sys.stdout)
'''


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the guide's operator: its file, and the name of the file in the list of families."""
    home = tmp_path_factory.mktemp("package")
    shutil.copytree(REPOSITORY / "relax_core", home / "relax_core", ignore=shutil.ignore_patterns("__pycache__"))
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    ops = home / "relax_core" / "ops"
    (ops / "nn" / "softsign.py").write_text(code[1], encoding="utf-8")
    table = (ops / "__init__.py").read_text(encoding="utf-8")
    named = table.replace("    quantization,\n", "    quantization,\n    softsign,\n")
    assert named.count("softsign") == 2
    (ops / "__init__.py").write_text(named, encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def found(package: Path) -> dict[str, Any]:
    return json.loads(_python(package, "-c", PROBE))


def _python(home: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=home, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_operator_is_parsed_typed_and_printed(found: dict[str, Any]) -> None:
    assert found["problems"] == []
    assert found["problems of integers"] == ["TY033"]
    assert found["problems of an unknown name"] == ["PA006"]
    assert found["is the same when printed"]


def test_the_operator_is_evaluated_legalized_and_run(found: dict[str, Any]) -> None:
    assert "R.nn.softsign" not in found["legalized"]
    assert "def softsign(" in found["legalized"]
    for how in ("evaluated", "run"):
        assert found[how] == pytest.approx(found["expected"], rel=1e-6)


def test_the_operator_is_listed_and_has_a_page(package: Path, found: dict[str, Any]) -> None:
    (line,) = _python(package, "-m", "relax_core", "ops", "nn.softsign", "--json").splitlines()
    listed = json.loads(line)
    assert listed["is_complete"]
    assert listed["signature"] == "R.nn.softsign(data, scale=1.0)"
    assert "`R.nn.softsign(data, scale=1.0)`" in _python(package, "-m", "relax_core", "ops", "--markdown")
    assert "def softsign(" in found["sheet"]
