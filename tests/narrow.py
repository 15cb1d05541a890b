"""Tell values apart whose type is not known, so that their parts are of any type.

`isinstance` makes `tuple[Unknown, ...]` of `Any` and of `object`, whose parts strict type checking does not let pass.
"""

from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Tell whether a value is a tuple."""
    return isinstance(value, tuple)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a value is a list."""
    return isinstance(value, list)


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """Tell whether a value is a dictionary."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[npt.NDArray[Any]]:
    """Tell whether a value is an array."""
    return isinstance(value, np.ndarray)


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a tuple as it is, and any other value as the only item of one."""
    return value if is_tuple(value) else (value,)
