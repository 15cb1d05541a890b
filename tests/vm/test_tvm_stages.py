"""What apache-tvm prints behind each of its passes gives here what the program gives there."""

import pytest

from benchmarks.relax_stages import parsed
from benchmarks.run_relax_stages import compare, entries, programs

pytestmark = pytest.mark.tvm

NAMES = ("statistics", "relax.memory.view", "relax.unique", "relax.vision.non_max_suppression")
STEPS = ("(input)", "LegalizeOps", "LowerRuntimeBuiltin", "AttachGlobalSymbol")


@pytest.mark.parametrize("name", NAMES)
def test_every_stage_gives_the_same(name: str) -> None:
    module = parsed(dict(programs())[name])
    ((entry, args),) = entries(module)
    assert dict(compare(name, module, entry, args, STEPS)) == dict.fromkeys(STEPS, "")


def test_what_is_read_out_of_range_there_is_found_here() -> None:
    module = parsed(dict(programs())["relax.slice_scatter"])
    ((entry, args),) = entries(module)
    results = dict(compare("relax.slice_scatter", module, entry, args, STEPS[:2]))
    assert results["(input)"] == ""
    assert "JT010" in results["LegalizeOps"]
