"""Values of lanes: one for all, or an array of one per lane, some of which may be undefined."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from relax_core.ops.kernels.numbers import Plain
from relax_core.simt.lanes import Array


@dataclass(frozen=True, slots=True, eq=False)
class Partly:
    """A value that is undefined in some lanes: what it depends on is there undefined as well."""

    data: Plain
    undefined: npt.NDArray[np.bool_]


Value: TypeAlias = Plain | Partly


def data_of(value: Value) -> Plain:
    """Return the elements of a value, any ones where it is undefined."""
    return value.data if type(value) is Partly else value


def undefined_in(*values: Value) -> "npt.NDArray[np.bool_] | None":
    """Return the lanes in which one of the values is undefined, `None` if there are none."""
    found: npt.NDArray[np.bool_] | None = None
    for value in values:
        if type(value) is Partly:
            found = value.undefined if found is None else found | value.undefined
    return found


def apply(function: Callable[..., Plain], *values: Value) -> Value:
    """Compute with values: the result is undefined where one of them is."""
    undefined = undefined_in(*values)
    if undefined is None:
        return function(*values)
    return Partly(function(*map(data_of, values)), undefined)


def with_undefined(value: Plain, undefined: "npt.NDArray[np.bool_] | None") -> Value:
    """Return a value that is undefined in some lanes, if there are any."""
    return value if undefined is None or not undefined.any() else Partly(value, undefined)


def lanes_first(value: Plain, count: int) -> Array:
    """Return an array of one element, or one vector, for each of `count` lanes."""
    array = np.asarray(value)
    return np.broadcast_to(array, (count, *array.shape[1:])) if array.ndim else np.full(count, array)
