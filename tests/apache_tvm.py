"""The modules of apache-tvm, which has no types, as values of any type."""

from importlib import import_module
from typing import Any

tvm: Any = import_module("tvm")
relax: Any = import_module("tvm.relax")
tirx: Any = import_module("tvm.tirx")
s_tir: Any = import_module("tvm.s_tir")
from_source: Any = import_module("tvm.script").from_source
