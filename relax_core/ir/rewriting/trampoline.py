"""Recursion without the host's stack: a generator yields the calls that it waits for and returns its result."""

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Steps: TypeAlias = Generator["Steps[Any]", Any, T]
"""A computation that yields computations, gets back what they return, and returns a `T`."""


def run(start: Steps[T], check_depth: Callable[[int], None] | None = None) -> T:
    """Run a computation to its end; `check_depth` is called with the number of computations that wait, and may raise.

    An exception ends all of them.
    """
    stack: list[Steps[Any]] = [start]
    sent: Any = None
    while True:
        try:
            inner = stack[-1].send(sent)
        except StopIteration as done:
            stack.pop()
            sent = done.value
            if not stack:
                return sent
        else:
            stack.append(inner)
            sent = None
            if check_depth is not None:
                check_depth(len(stack))
