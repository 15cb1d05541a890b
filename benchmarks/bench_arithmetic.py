"""Arithmetic beside NumPy, with the ratio that is asked for: elementary functions, products, sums, plain elements."""

import os
from collections.abc import Mapping
from statistics import quantiles
from types import MappingProxyType

import numpy as np

from benchmarks.operator_cases import CASES
from benchmarks.performance import THREADS_VARIABLE, geometric_mean, numpy_call, our_call
from benchmarks.table import Row, Table
from benchmarks.timing import aligned, measure

ROUNDS = 25
TOLERANCE = 1e-4
LEAST, IN_THE_MEAN = 0.9, 1.2
"""Asked of each elementary function, and of all in the geometric mean."""
OTHERS: Mapping[str, float] = MappingProxyType(
    {
        "dense 1x768 by 768": 1.0,
        "sum of columns 1024x1024": 1.0,
        "add": 1.0,
        "multiply": 1.0,
        "divide": 1.0,
    }
)
ASKED: Mapping[str, float] = MappingProxyType(
    {case.name: LEAST for case in CASES if case.family == "transcendental"} | OTHERS
)


def run() -> Table:
    """Time each operator and NumPy's in turns; the note compares what is reached with what is asked for."""
    rows: list[Row] = []
    reached: dict[str, float] = {}
    for case in (case for case in CASES if case.name in ASKED):
        inputs = [aligned(value) for value in case.inputs()]
        ours, theirs = our_call(case, inputs), numpy_call(case, inputs)
        np.testing.assert_allclose(np.asarray(ours()), theirs(), TOLERANCE, TOLERANCE, err_msg=case.name)
        pair = measure({case.name: ours, f"{case.name}, NumPy": theirs}, sample_count=ROUNDS)
        # Other work on the machine only slows down, so the quickest rounds say most.
        ours_seconds, theirs_seconds = (quantiles(row.seconds, n=4)[0] for row in pair)
        reached[case.name] = theirs_seconds / ours_seconds
        rows += pair
    said = [
        f"{name}: NumPy takes {reached[name]:.2f} times as long; asked for is {least:g}"
        for name, least in ASKED.items()
    ]
    mean = geometric_mean([reached[name] for name in ASKED if name not in OTHERS])
    said.append(f"elementary functions in the mean: {mean:.2f}; asked for is {IN_THE_MEAN:g}")
    if THREADS_VARIABLE not in os.environ:
        said.append(f"NumPy multiplies matrices on all processors: {THREADS_VARIABLE}=1 leaves it one")
    return Table("Arithmetic", tuple(rows), "\n".join(said))
