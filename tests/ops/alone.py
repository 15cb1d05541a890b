"""Run one case in the pinned apache-tvm, which may end the process: exit status 0 only if its values are ours."""

import sys

import numpy as np

from tests.ops.cases_evaluated import EVALUATED
from tests.ops.cases_more import MORE
from tests.ops.test_more_operators import values_of
from tests.ops.tvm_calls import TvmCall, build, run, type_of


def main(name: str) -> int:
    """Compare the values, static, and the types, symbolic."""
    case = next((case for case in (*MORE, *EVALUATED) if str(case) == name), None)
    if case is None:
        sys.exit(f"{name} is no case")
    type_of(TvmCall(case, is_symbolic=True))
    call = TvmCall(case, is_symbolic=False)
    found, expected = run(build([call]), 0, call), values_of(case)
    return int(not all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
