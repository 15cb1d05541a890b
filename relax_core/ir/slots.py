"""How frozen, slotted dataclasses are made: their fields are set through their slots."""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from types import CodeType, FunctionType
from typing import Any, TypeVar

C = TypeVar("C", bound="type[Any]")


def set_by_slots(cls: C) -> C:
    """Give a frozen, slotted dataclass an `__init__` that sets each field through its slot.

    The one of `dataclasses` asks `object.__setattr__`, which looks the slot up by its name, and takes twice as long.
    There are ten objects to a line of text. The text compiled here is made of names of fields alone.
    """
    taken = [item for item in fields(cls) if item.init]
    assert all(item.default_factory is MISSING for item in taken), f"{cls.__name__} has a default that is made"
    setters: dict[str, Callable[[Any, Any], None]] = {_setter(item): getattr(cls, item.name).__set__ for item in taken}
    by_place = [item for item in taken if not item.kw_only]
    defaults = tuple(item.default for item in by_place if item.default is not MISSING)
    made = FunctionType(_code(cls, taken), {**setters}, "__init__", defaults)
    made.__kwdefaults__ = {item.name: item.default for item in taken if item.kw_only and item.default is not MISSING}
    made.__annotations__ = {item.name: item.type for item in taken}
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = made
    return cls


def _setter(item: "Field[Any]") -> str:
    return f"set_{item.name}"


def _code(cls: type[Any], taken: "list[Field[Any]]") -> CodeType:
    by_place = [item.name for item in taken if not item.kw_only]
    by_name = [item.name for item in taken if item.kw_only]
    names = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    lines = [f"{_setter(item)}(self, {item.name})" for item in taken]
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    text = "\n    ".join([f"def __init__({names}):", *(lines or ["pass"])])
    module = compile(text, f"<{cls.__name__}>", "exec", dont_inherit=True)
    return next(item for item in module.co_consts if isinstance(item, CodeType))
