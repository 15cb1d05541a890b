"""The name that LowerRuntimeBuiltin had before 2025."""

from dataclasses import replace

from relax_core.passes.relax.runtime import lower_runtime_builtin

PASS = replace(
    lower_runtime_builtin.PASS,
    name="VMBuiltinLower",
    summary="LowerRuntimeBuiltin under its earlier name: turns print, closures and allocation into calls of builtins.",
)
