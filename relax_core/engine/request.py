"""The base of requests: a class of request names the type of its reply."""

from typing import Generic, TypeVar, cast, get_args

import msgspec

R = TypeVar("R", covariant=True)  # R is the field's word for a result here


class Request(msgspec.Struct, Generic[R], frozen=True, tag=True):
    """The base of requests; `R` is the type of the reply."""


def reply_type(request: Request[R]) -> type[R]:
    """Return the type that answers `request`."""
    bases = cast("tuple[object, ...]", getattr(type(request), "__orig_bases__"))  # noqa: B009  # set by Generic
    return cast("type[R]", get_args(bases[0])[0])
