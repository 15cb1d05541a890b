"""What workers exchange. A run is one worker, the first.

It reduces alone, and what it gathers from others is what it has itself.

See: tvm/src/runtime/extra/disco/builtin.cc
"""

import numpy as np

from relax_core.vm.objects.values import shape_text
from relax_core.vm.packed_library.arrays import ArgumentError, Given, write


def broadcast(given: Given) -> None:
    """Write the tensor of the first worker, which is also what comes of reducing over it alone."""
    write(given.tensor("out"), given.tensor("data"))


def gather(given: Given) -> None:
    """Write the tensor as often as the first axis of the result has room for it."""
    data, out = given.tensor("data"), given.tensor("out")
    has_rows = data.ndim and out.ndim and data.shape[0]
    write(out, np.concatenate([data] * max(1, out.shape[0] // data.shape[0])) if has_rows else data)


def scatter(given: Given) -> None:
    """Write the first element of the first axis, which has one for each worker."""
    data = given.tensor("data")
    if not data.ndim or not data.shape[0]:
        raise ArgumentError(f"data has an element for each worker, got the shape {shape_text(data.shape)}")
    write(given.tensor("out"), data[0])
