"""An object whose fields are set through its slots is made as a frozen dataclass makes it."""

from dataclasses import FrozenInstanceError, dataclass, field, replace
from inspect import signature
from typing import Any

import pytest

from relax_core.ir.slots import set_by_slots


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Plain(Base):
    """What `dataclasses` makes."""

    name: str
    sizes: tuple[int, ...] = ()
    count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", len(self.sizes))


@set_by_slots
@dataclass(frozen=True, slots=True)
class BySlots(Base):
    """The same, set through slots."""

    name: str
    sizes: tuple[int, ...] = ()
    count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", len(self.sizes))


@pytest.mark.parametrize("args", [("a",), ("a", (1, 2))])
@pytest.mark.parametrize("named", [{}, {"place": 3}, {"sizes": (4,)}, {"unknown": 1}, {"name": "b"}])
def test_both_take_the_same_arguments(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    found: list[object] = []
    for cls in (Plain, BySlots):
        try:
            made = cls(*args, **named)
        except TypeError as error:
            found.append(str(error).replace(cls.__name__, ""))
        else:
            found.append((made.name, made.sizes, made.count, made.place))
    assert found[0] == found[1]


def test_its_signature_is_that_of_the_dataclass() -> None:
    assert str(signature(BySlots)) == str(signature(Plain)).replace(" -> None", "")


def test_it_stays_frozen_and_can_be_replaced() -> None:
    made = BySlots("a", (1,))
    with pytest.raises(FrozenInstanceError):
        made.name = "b"  # pyright: ignore[reportAttributeAccessIssue]  # that it is an error is what is tested
    assert replace(made, sizes=(1, 2)).count == 2


def test_a_default_that_is_made_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Listed:
        items: list[int] = field(default_factory=list[int])

    with pytest.raises(AssertionError, match="Listed has a default that is made"):
        set_by_slots(Listed)
