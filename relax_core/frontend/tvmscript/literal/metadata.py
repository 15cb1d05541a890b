"""Read metadata tables, which TVM prints with show_meta=True: JSON graphs with tensors in base64."""

import ast
import json
from typing import Any, cast

import numpy.typing as npt

from relax_core.frontend.tensors import UnknownDtype, dtype_of_base64, tensor_of_base64
from relax_core.frontend.tvmscript.context import Context, Table
from relax_core.frontend.tvmscript.names import dotted


def read_tables(context: Context, statements: list[ast.stmt]) -> None:
    """Read every `metadata = tvm.ir.load_json("...")` before or after the modules."""
    for statement in statements:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[ast.Constant(value=str(text))])
            ) if dotted(func) in (("tvm", "ir", "load_json"), ("load_json",), ("tvm", "load_json")):
                try:
                    context.tables[name] = _table(text)
                except (ValueError, KeyError, IndexError, TypeError, RecursionError):
                    context.report("PA016", statement, f"the table `{name}` is no module data that TVM writes")
            case _:
                pass


def is_table(statement: ast.stmt, context: Context) -> bool:
    """Tell whether a statement defines a table that `read_tables` has read."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
            return name in context.tables
        case _:
            return False


def _table(text: str) -> Table:
    graph = json.loads(text)
    nodes = cast("list[dict[str, Any]]", graph["nodes"])
    if "root_index" in graph:
        return _of_2025(nodes, int(graph["root_index"]))
    return _of_2023(nodes, int(graph["root"]), cast("list[str]", graph.get("b64ndarrays", [])))


def _of_2025(nodes: list[dict[str, Any]], root: int) -> Table:
    """Nodes are `{"type", "data"}`; a map lists keys and values in turn, by their indices."""
    pairs = cast("list[int]", nodes[root]["data"])
    found: dict[str, list[npt.NDArray[Any] | None]] = {}
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        items = cast("list[int]", nodes[value]["data"])
        found[str(nodes[key]["data"])] = [_tensor_2025(nodes, nodes[item]) for item in items]
    return found


def _tensor_2025(nodes: list[dict[str, Any]], item: dict[str, Any]) -> npt.NDArray[Any] | None:
    """The tensor among the fields of a constant, whatever the constant is called."""
    if item["type"] in ("ffi.Tensor", "runtime.NDArray"):
        return tensor_of(str(item["data"]))
    fields = item.get("data")
    for value in cast("dict[str, Any]", fields).values() if isinstance(fields, dict) else ():
        if isinstance(value, int) and nodes[value].get("type") in ("ffi.Tensor", "runtime.NDArray"):
            return tensor_of(str(nodes[value]["data"]))
    return None


def _of_2023(nodes: list[dict[str, Any]], root: int, tensors: list[str]) -> Table:
    """Nodes are `{"type_key", "attrs", "keys", "data"}`; tensors stand apart."""
    top = nodes[root]
    found: dict[str, list[npt.NDArray[Any] | None]] = {}
    for key, value in zip(top["keys"], top["data"], strict=True):
        items = (nodes[int(index)] for index in nodes[int(value)]["data"])
        found[str(key)] = [_tensor_2023(nodes, item, tensors) for item in items]
    return found


def _tensor_2023(nodes: list[dict[str, Any]], item: dict[str, Any], tensors: list[str]) -> npt.NDArray[Any] | None:
    index = item.get("attrs", {}).get("data")
    if index is None or not str(item.get("type_key", "")).endswith("Constant"):
        return None
    place = nodes[int(index)] if int(index) < len(nodes) else {}
    if place.get("type_key") == "runtime.NDArray":
        index = place.get("attrs", {}).get("value", place.get("repr_b64", index))
    return tensor_of(tensors[int(index)])


def tensor_of(text: str) -> npt.NDArray[Any] | None:
    """Decode a tensor that TVM saved; a bfloat16 or a vector has no NumPy dtype and is no tensor here.

    Raises:
        ValueError: the bytes are no such tensor.
    """
    if dtype_of_base64(text) == "bfloat16":
        return None
    try:
        return tensor_of_base64(text)
    except UnknownDtype:
        return None
