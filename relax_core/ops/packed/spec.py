"""What is declared about a packed function: its schema, what it writes, and which values its arguments may have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

from relax_core.ir.expr import TensorType, Type
from relax_core.ir.prim import PrimExpr
from relax_core.ops.packed.schema import Absent, Plain, Schema, SchemaParam, SchemaType, parse_schema


class Unknown(Enum):
    """A value that only the run tells."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
Item: TypeAlias = "Plain | PrimExpr | TensorType | Unknown"
Fact: TypeAlias = "Item | tuple[Item, ...]"
Facts: TypeAlias = Mapping[str, Fact]
"""What is known of the arguments, by parameter: the types of tensors, the values of scalars; before the run the value
of a scalar may be an expression of symbols, or unknown."""
Infer: TypeAlias = Callable[[Facts], Type | None]


@dataclass(frozen=True, slots=True)
class Choice:
    """A string is one of a few."""

    param: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AxisLimit:
    """An int, or each of a list, is an axis of a tensor; `extra` counts axes that the function adds.

    `tensor` may be the name of a list of tensors, whose first counts. The axes of a list differ.
    """

    param: str
    tensor: str = "self"
    extra: int = 0


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A number, or each of a list, is not smaller than `minimum`."""

    param: str
    minimum: int


Limit: TypeAlias = Choice | AxisLimit | AtLeast


@dataclass(frozen=True, slots=True)
class PackedSpec:
    """A packed function as it is declared.

    `result` are the types of its results. `writes` are the positions of the parameters that it writes; those at the
    end are its destinations, which `call_dps_packed` allocates. `limits` say which values the arguments may have, and
    `infer` what the type of the result is, as far as it is known.
    """

    name: str
    params: tuple[SchemaParam, ...]
    result: tuple[SchemaType, ...]
    writes: tuple[int, ...] = ()
    is_pure: bool = True
    summary: str = ""
    see: str = ""
    limits: tuple[Limit, ...] = ()
    infer: Infer | None = field(default=None, compare=False)

    @property
    def schema(self) -> Schema:
        """The schema, whose text a message shows."""
        return Schema(self.name, self.params, self.result)

    @property
    def inputs(self) -> tuple[SchemaParam, ...]:
        """The parameters before the destinations."""
        count = len(self.params)
        while count and count - 1 in self.writes and self.params[count - 1].default is Absent.REQUIRED:
            count -= 1
        return self.params[:count]

    @property
    def outputs(self) -> tuple[SchemaParam, ...]:
        """The destinations."""
        return self.params[len(self.inputs) :]

    def index(self, name: str) -> int | None:
        """Return the position of the parameter `name`."""
        return next((index for index, param in enumerate(self.params) if param.name == name), None)


def spec_of(
    schema: str,
    summary: str = "",
    *,
    limits: tuple[Limit, ...] = (),
    infer: Infer | None = None,
    is_pure: bool | None = None,
) -> PackedSpec:
    """Make a spec of the text of a schema; the parameters that it marks with `!` are written, others are not.

    It is pure if it writes none, unless `is_pure` says otherwise: it may change an object that is no tensor.

    Raises:
        SchemaError: the text is no schema.
    """
    read = parse_schema(schema)
    writes = tuple(index for index, param in enumerate(read.params) if param.type.is_written)
    has_no_effect = not writes if is_pure is None else is_pure
    return PackedSpec(read.name, read.params, read.results, writes, has_no_effect, summary, limits=limits, infer=infer)


def broken(limit: Limit, facts: Facts) -> str | None:
    """Say how the known values break a limit; `None` if they keep it, as far as they are known."""
    value = facts.get(limit.param, UNKNOWN)
    match limit:
        case Choice(param=param, options=options):
            if isinstance(value, str) and value not in options:
                return f"{param} is one of {', '.join(map(repr, options))}, got {value!r}"
        case AtLeast(param=param, minimum=minimum):
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, int | float) and item < minimum:
                    return f"{param} is at least {minimum}, got {item}"
        case AxisLimit():
            return _broken_axis(limit, value, facts)
    return None


def _broken_axis(limit: AxisLimit, value: Fact, facts: Facts) -> str | None:
    of = facts.get(limit.tensor, UNKNOWN)
    of = of[0] if isinstance(of, tuple) and of else of
    rank = of.ndim if isinstance(of, TensorType) else None
    if rank is None:
        return None
    rank += limit.extra
    axes = [item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, int)]
    # A tensor of rank 0 has the axes 0 and -1, as in PyTorch.
    reach = max(rank, 1)
    for axis in axes:
        if not -reach <= axis < reach:
            whose = f"{limit.tensor} of rank {rank}" if not limit.extra else f"a result of rank {rank}"
            return f"{limit.param} is an axis of {whose}, from {-reach} to {reach - 1}, got {axis}"
    if len({axis % reach for axis in axes}) < len(axes):
        return f"the axes of {limit.param} differ, got {tuple(axes)}"
    return None
