"""Every function of every sample that can be run on made-up arguments does the same on all tiers."""

from pathlib import Path

import pytest

from relax_core.bytecode.build import build
from relax_core.engine.inputs import can_be_made_up, generate
from relax_core.frontend.parse import parse_text
from relax_core.ir.expr import Function
from relax_core.jit.engine import Engine
from relax_core.vm.limits import Limits
from relax_core.vm.objects.convert import own_copies
from relax_core.vm.virtual_machine import entry_arguments
from tests.vm.programs import SAMPLES
from tests.vm.tiers import differences

ROOMS = ("relax", "relay", "seeds", "prim", "tir")
PATHS = tuple(path for room in ROOMS for path in sorted((SAMPLES / room).glob("*.*")))
LIMITS = Limits(events=20_000, depth=300)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_all_functions_of_a_sample_run_alike(path: Path, engine: Engine) -> None:
    runs = 0
    for module in parse_text(path.read_text(encoding="utf-8"), path.name).modules:
        executable = build(module)
        for entry in executable.functions:
            if entry.is_entry and isinstance(entry.node, Function) and can_be_made_up(entry.node):
                args = entry_arguments(executable, entry.name, generate(entry.node, 0, {}))
                found = differences(
                    executable, entry.name, lambda args=args: own_copies(args), limits=LIMITS, engine=engine
                )
                assert not found, f"{entry.name}\n" + "\n".join(found)
                runs += 1
    assert runs
