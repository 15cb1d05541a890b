"""The words in which the TVMScript dialects differ."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

Spelling: TypeAlias = Literal["2022", "2023", "2025", "2026"]
Tvm: TypeAlias = Literal["0.25", "0.27"]


@dataclass(frozen=True, slots=True)
class Wording:
    """One dialect. Its `name` is that of the year whose grammar it has: 2025 has that of 2023 with other words.

    `out_types` and `type_args` are keywords; `out_types` is empty where shapes and dtypes are written instead.
    `prefix` stands before the names of types. `merged` are the scalars that have one name with their symbols: those
    that the reader gives a symbol of that name ("computed"), all, or none. With `binds_values` only void values are
    statements.
    """

    name: Spelling
    ir_module: str
    prefix: str
    object: str
    out_types: str
    type_args: str
    block: str
    alloc_buffer: str
    block_attr: str
    prim_func_flags: tuple[str, ...]
    header: tuple[str, ...]
    merged: Literal["computed", "all", "none"] = "computed"
    binds_values: bool = False


SPELLINGS: Mapping[Spelling, Wording] = MappingProxyType(
    {
        "2022": Wording(
            "2022", "tvm.script.ir_module", "", "Object", "", "type_args", "block", "alloc_buffer", "block_attr", (),
            ("# from tvm.script import relax as R, tir as T",),
        ),
        "2023": Wording(
            "2023", "I.ir_module", "R.", "R.Object", "out_sinfo", "sinfo_args", "block", "alloc_buffer", "block_attr",
            (),
            ("# from tvm.script import ir as I", "# from tvm.script import tir as T",
             "# from tvm.script import relax as R"),
        ),
        "2025": Wording(
            "2023", "I.ir_module", "R.", "R.Object", "out_sinfo", "sinfo_args", "sblock", "sblock_alloc_buffer",
            "sblock_attr", ("s_tir=True",),
            ("# from tvm.script import ir as I", "# from tvm.script import tirx as T",
             "# from tvm.script import relax as R"),
            binds_values=True,
        ),
        "2026": Wording(
            "2026", "I.ir_module", "R.", "R.Any", "out_ty", "ty_args", "sblock", "sblock_alloc_buffer", "sblock_attr",
            ("s_tir=True",),
            ("# from typing import TypeVar", "# from tvm.script import ir as I", "# from tvm.script import tirx as T",
             "# from tvm.script import relax as R"),
            binds_values=True,
        ),
    }
)  # fmt: skip

WORDING_OF: Mapping[Tvm, Wording] = MappingProxyType(
    {"0.25": replace(SPELLINGS["2025"], merged="none"), "0.27": replace(SPELLINGS["2026"], merged="all")}
)
"""The dialect that a version of apache-tvm reads: 0.25 knows no scalar by its variable, 0.27 none by its symbol."""
