"""Types of the functions in tables of cases, by what each takes and gives."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

Arg = TypeVar("Arg")
Result = TypeVar("Result")

# `Callable[..., Result]` would leave the parameters of a lambda without types; of these, the one that has as many
# parameters as the lambda gives them.
Compute: TypeAlias = (
    Callable[[], Result]
    | Callable[[Arg], Result]
    | Callable[[Arg, Arg], Result]
    | Callable[[Arg, Arg, Arg], Result]
    | Callable[[Arg, Arg, Arg, Arg], Result]
    | Callable[[Arg, Arg, Arg, Arg, Arg], Result]
)
"""A function of up to five arguments of one type, written `Compute[Result, Arg]`."""
