"""The instruction listing: TVM's format, and the same instructions where both compile a program."""

import subprocess
import sys
from pathlib import Path

import pytest

from relax_core.bytecode.build import build
from relax_core.bytecode.executable import instruction_text
from relax_core.frontend.parse import parse_text
from relax_core.passes.pipeline import DEFAULT_PIPELINE
from tests.bytecode.listings import LISTINGS, source
from tests.golden_text import Golden
from tests.passes.programs import PROGRAMS, program

PRINT = """
from tvm import relax

for module in ({modules},):
    print(relax.build(module.Module, "llvm").as_text(), end="{mark}")
"""
MARK = "----"
WITH_KILLS = DEFAULT_PIPELINE.replace("LowerAllocTensor", "LowerAllocTensor, KillAfterLastUse")


@pytest.fixture(scope="module")
def tvm_listings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What apache-tvm prints for each program, from one process."""
    room: Path = tmp_path_factory.mktemp("listings")
    modules = [f"program_{index}" for index in range(len(LISTINGS))]
    for module, name in zip(modules, LISTINGS, strict=True):
        (room / f"{module}.py").write_text(source(name), encoding="utf-8")
    text = PRINT.format(modules=", ".join(modules), mark=MARK)
    script = room / "main.py"
    script.write_text(f"import {', '.join(modules)}\n{text}", encoding="utf-8")
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    return dict(zip(LISTINGS, printed.split(MARK), strict=False))


@pytest.mark.tvm
@pytest.mark.parametrize("name", LISTINGS)
def test_the_listing_is_the_one_that_tvm_prints(name: str, tvm_listings: dict[str, str]) -> None:
    ours = build(parse_text(source(name), "program.py").modules[0], passes=WITH_KILLS).as_text()
    assert ours == tvm_listings[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_listing_of_a_program(name: str, golden: Golden) -> None:
    golden.check(f"bytecode/{name}.txt", build(program(name)).as_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_instruction_leads_to_a_line(name: str) -> None:
    executable = build(program(name))
    assert len(executable.nodes) == len(executable.instructions)
    for pc in range(len(executable.instructions)):
        assert executable.span_of(pc) is not None, instruction_text(executable, pc)
        entry = executable.function_at(pc)
        assert entry.kind == "vm"
        assert entry.start <= pc < entry.end


def test_the_last_instruction_of_a_function_stands_at_its_return() -> None:
    executable = build(program("branches"))
    main = executable.functions[0]
    place = executable.span_of(main.end - 1)
    assert place is not None
    assert place.text == "return f"
