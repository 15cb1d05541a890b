"""What a message can carry: valid Unicode and integers of 64 bits. Anything else is reported with its field."""

import msgspec

from relax_core import codes
from relax_core.engine.protocol import Failure
from relax_core.present.models import Problem

_LEAST, _MOST = -(1 << 63), (1 << 64) - 1


class NotSendableError(Exception):
    """A message holds what cannot be sent; the text names the field."""


def encode(message: object) -> bytes:
    """Encode a message.

    Raises:
        NotSendableError: it holds a surrogate, which is half of a character, or a number of more than 64 bits.
    """
    try:
        return msgspec.msgpack.encode(message)
    except (UnicodeEncodeError, OverflowError, RecursionError) as error:
        raise NotSendableError(_misfit(message) or f"it cannot be encoded: {error}") from None


def not_sent(words: str) -> Failure:
    """Return the failure of a request that cannot be sent."""
    problem = Problem("error", "EN015", words, "remove it", explanation=codes.CODES["EN015"])
    rendered = f"error[{problem.code}]: {words}\nhint: {problem.hint}"
    return Failure("diagnosed", "Not sent", words, (problem,), rendered)


def plain(failure: Failure) -> Failure:
    """Return a failure that can be sent, with surrogates as escapes."""

    def text(given: str) -> str:
        return given.encode("utf-8", "backslashreplace").decode("utf-8")

    return Failure(failure.kind, text(failure.title), text(failure.message), rendered=text(failure.rendered))


def _misfit(message: object) -> str:
    """Name the first field that cannot be sent, and why; "" if there is none."""
    stack: list[tuple[str, object]] = [("", message)]
    while stack:
        name, value = stack.pop()
        match value:
            case msgspec.Struct():
                items = reversed(msgspec.structs.asdict(value).items())
                stack += ((f"{name}.{field}".lstrip("."), item) for field, item in items)
            case tuple() | list():
                stack += ((f"{name}[{number}]", item) for number, item in reversed([*enumerate(value)]))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # of any items
            case dict():
                stack += ((name, item) for pair in value.items() for item in pair)  # pyright: ignore[reportUnknownVariableType]  # of any items
            case str():
                if found := _surrogate(value):
                    return f"`{name}` holds {found}"
            case bool():
                pass
            case int() if not _LEAST <= value <= _MOST:
                return f"`{name}` is a number of {value.bit_length()} bits, and at most 64 can be sent"
            case _:
                pass
    return ""


def _surrogate(text: str) -> str:
    """Name the first surrogate of a text and its position; "" if it has none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        column = error.start - (text.rfind("\n", 0, error.start) + 1) + 1
        number = ord(text[error.start])
        return f"half of a character, U+{number:04X}, at line {line}, column {column}"
    return ""
