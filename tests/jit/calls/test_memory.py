"""Freed memory stays in the process: a kernel with temporaries pays no page faults from its second call on."""

import resource
import sys

import numpy as np
import pytest

import relax_core as rc
from relax_core.jit.calls.memory import keep_freed_memory

TEXT = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((256, 1024), "float32")):
        y = R.nn.gelu(x)
        return y
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the heap of glibc")
def test_temporaries_and_outputs_are_taken_from_what_was_freed() -> None:
    main = rc.VirtualMachine(rc.build(rc.parse(TEXT, "gelu.py")))["main"]
    assert keep_freed_memory()
    value = np.ones((256, 1024), "float32")
    for _ in range(5):
        main(value)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        main(value)
    # Four temporaries and a result of a megabyte each would be 25,000 faults.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 2500
