"""The scalar types that kernels compute with: their LLVM names, sizes and ranges."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

ScalarKind = Literal["int", "uint", "float", "bool"]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A scalar dtype. `register` is its LLVM type in a register, of `bits` bits, `memory` its LLVM type in a buffer."""

    name: str
    kind: ScalarKind
    bits: int
    register: str
    memory: str

    @property
    def size_bytes(self) -> int:
        """Bytes of one element in a buffer."""
        return int(self.memory.removeprefix("i")) // 8 if self.is_narrowed else max(self.bits // 8, 1)

    @property
    def is_narrowed(self) -> bool:
        """Tell whether a buffer keeps only the upper bits of the float that a register holds, as of bfloat16."""
        return self.kind == "float" and self.memory != self.register

    @property
    def is_integral(self) -> bool:
        """Tell whether values are integers; a bool is 0 or 1."""
        return self.kind != "float"

    @property
    def low(self) -> int:
        """The least integer of the type."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def high(self) -> int:
        """The greatest integer of the type."""
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1


def _integers(kind: ScalarKind) -> dict[str, ScalarType]:
    return {
        f"{kind}{bits}": ScalarType(f"{kind}{bits}", kind, bits, f"i{bits}", f"i{bits}") for bits in (8, 16, 32, 64)
    }


_FLOATS = (("float16", 16, "half"), ("float32", 32, "float"), ("float64", 64, "double"))

SCALAR_TYPES: Mapping[str, ScalarType] = MappingProxyType(
    {
        **_integers("int"),
        **_integers("uint"),
        **{name: ScalarType(name, "float", bits, llvm, llvm) for name, bits, llvm in _FLOATS},
        # No processor without an extension computes with it: in registers it is a float, rounded when it is stored.
        "bfloat16": ScalarType("bfloat16", "float", 32, "float", "i16"),
        "bool": ScalarType("bool", "bool", 1, "i1", "i8"),
    }
)
