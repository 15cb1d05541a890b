"""The text of a logpoint's message, with expressions in `{}`. A debug adapter reads it without the machine."""

import re
from collections.abc import Sequence
from typing import Final

MESSAGES: Final = 1_000
"""The most messages that are written at once."""
_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")


def expressions_in(message: str) -> tuple[str, ...]:
    """Return the expressions of a message, in order."""
    return tuple(match[1].strip() for match in _EXPRESSION.finditer(message))


def filled(message: str, values: Sequence[str]) -> str:
    """Put values in place of the expressions of a message."""
    found = iter(values)
    return _EXPRESSION.sub(lambda _: next(found), message)
