"""What reproducers are made of: a module before and after a pass is run with apache-tvm, or a pass that stops is."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyright: reportMissingParameterType=false, reportAttributeAccessIssue=false, reportUnknownLambdaType=false

import base64
import io
import subprocess
import sys
from typing import Any, TypeVar

import numpy as np

PASS_NAME = ""
ENTRY = "main"
TARGET = "llvm"
RELATIVE, ABSOLUTE = 1e-4, 1e-5
BASE = BEFORE = AFTER = ""
ARRAYS = ""
ARGUMENTS: tuple[Any, ...] = ()
BEFORE_CONSTANTS: tuple[str, ...] = ()
AFTER_CONSTANTS: tuple[str, ...] = ()
BASE_CONSTANTS: tuple[str, ...] = ()
PASSES: tuple[str, ...] = ()
ENDS_IN: str = "pass"
ERROR = ""
# The data of a reproducer stand in place of the lines above.


def main() -> int:
    """Return 1 while the bug is there, 0 if it is not, 2 if that cannot be told."""
    if "--inside" not in sys.argv:
        # In a process of its own, since a bug may end the process.
        done = subprocess.run((sys.executable, __file__, *sys.argv[1:], "--inside"), check=False)
        if done.returncode < 0:
            print(f"the process was ended by signal {-done.returncode}")
            return 1
        return done.returncode
    return look()


def compare_forms() -> int:
    """Run the module before and after the pass, and compare what they return."""
    import tvm

    print(f"apache-tvm {tvm.__version__}, {PASS_NAME}, `{ENTRY}` for {TARGET}")
    is_applied = "--pass" in sys.argv
    if is_applied and not hasattr(tvm.relax.transform, PASS_NAME):
        print(f"there is no relax.transform.{PASS_NAME}")
        return 2
    arrays = _arrays()
    expected = [arrays[name] for name in sorted(arrays, key=_order) if name.startswith("out")]
    try:
        before = run(_module(BEFORE, BEFORE_CONSTANTS, arrays), arrays)
    except Exception as error:
        print(f"the module before {PASS_NAME} does not run, so that nothing is compared: {_words(error)}")
        return 2
    if not _say_differences("before the pass, against what RelaxScope computed", expected, before):
        print(f"before {PASS_NAME}: as expected")
    try:
        module = _module(AFTER, AFTER_CONSTANTS, arrays)
        if is_applied:
            module = getattr(tvm.relax.transform, PASS_NAME)()(_module(BEFORE, BEFORE_CONSTANTS, arrays))
        after = run(module, arrays)
    except Exception as error:
        print(f"the module after {PASS_NAME} does not run, and that before it does: {_words(error)}")
        return 1
    if _say_differences(f"after {PASS_NAME}", before, after):
        return 1
    print(f"after {PASS_NAME}: the same")
    return 0


def stop_again() -> int:
    """Do what stopped: a pass, a build of the module, or a run of it."""
    import tvm

    print(f"apache-tvm {tvm.__version__}, {PASS_NAME} for {TARGET}; it stopped with {ERROR}", flush=True)
    arrays = _arrays()
    try:
        module = _module(BEFORE, BEFORE_CONSTANTS, arrays)
        for name in PASSES:
            module = _transform(name)(module)
        transform = _transform(PASS_NAME) if ENDS_IN == "pass" else None
    except Exception as error:
        print(f"it does not get as far as {PASS_NAME}: {_words(error)}")
        return 2
    try:
        _finish(module, transform, arrays)
    except Exception as error:
        is_same = type(error).__name__ in ERROR
        print(f"{PASS_NAME} stops with {'' if is_same else 'another kind of error: '}{_words(error)}")
        return 1 if is_same else 2
    print(f"{PASS_NAME}: it does not stop")
    return 0


def _finish(module: Any, transform: Any, arrays: "dict[str, np.ndarray[Any, Any]]") -> None:
    """Apply the last pass; or build the module, which is lowered, as it is, and run it if that is what stopped."""
    import tvm
    from tvm import relax

    if transform is not None:
        with tvm.target.Target(TARGET):
            transform(module)
        return
    built = relax.build(module, TARGET, relax_pipeline=tvm.transform.Sequential([]))
    if ENDS_IN == "run":
        device: Any = tvm.cpu()
        machine = relax.VirtualMachine(built, device)
        machine[ENTRY](*(_argument(item, arrays) for item in ARGUMENTS))


def _transform(name: str) -> Any:
    """Return a pass of apache-tvm by its name, with its default options."""
    import tvm
    from tvm import relax, s_tir, tirx

    scope, _, short = name.rpartition(".")
    scopes = {"": (relax, tirx, s_tir), "relax": (relax,), "tirx": (tirx,), "s_tir": (s_tir,)}
    for module in scopes.get(scope, ()):
        if hasattr(module.transform, short):
            return getattr(module.transform, short)()
    raise ValueError(f"{name} is no pass of apache-tvm {tvm.__version__}: let _transform return it")


def run(module: Any, arrays: "dict[str, np.ndarray[Any, Any]]") -> "list[np.ndarray[Any, Any]]":
    """Build a module with the default pipeline, call the entry function and return the arrays of its result."""
    import tvm
    from tvm import relax

    device: Any = tvm.cpu()
    machine = relax.VirtualMachine(relax.build(module, TARGET), device)
    return list(_leaves(machine[ENTRY](*(_argument(item, arrays) for item in ARGUMENTS))))


def _arrays() -> "dict[str, np.ndarray[Any, Any]]":
    return dict(np.load(io.BytesIO(base64.b64decode(ARRAYS)), allow_pickle=False)) if ARRAYS else {}


def _module(text: str, constants: tuple[str, ...], arrays: "dict[str, np.ndarray[Any, Any]]") -> Any:
    """Read a module; prim funcs without a Relax function are put into the last module that has them."""
    import tvm
    from tvm import relax
    from tvm.script import ir, tirx
    from tvm.script import relax as script

    def read(text: str, constants: tuple[str, ...]) -> Any:
        tensors = [relax.const(arrays[name]) if name else None for name in constants]
        names: dict[str, Any] = {"I": ir, "R": script, "T": tirx, "TypeVar": TypeVar}
        names["metadata"] = dict.fromkeys(("ir.GenericConst", "relax.expr.Constant"), tensors)
        return tvm.script.from_source(text, extra_vars=names, check_well_formed=False)

    module = read(text, constants)
    if not BASE or any(var.name_hint == ENTRY for var in module.functions):
        return module
    whole = read(BASE, BASE_CONSTANTS)
    for var, function in module.functions.items():
        whole[whole.get_global_var(var.name_hint)] = function
    return whole


def _argument(item: Any, arrays: "dict[str, np.ndarray[Any, Any]]") -> Any:
    import tvm
    import tvm_ffi

    match item:
        case str():
            return tvm.runtime.tensor(arrays[item])
        case ("shape", sizes):
            return tvm_ffi.Shape(sizes)
        case ("tuple", *fields):
            return tuple(_argument(field, arrays) for field in fields)
        case _:
            return item


def _leaves(value: Any) -> Any:
    if hasattr(value, "numpy"):
        yield value.numpy()
    elif hasattr(value, "__len__") and not isinstance(value, str):
        for item in value:
            yield from _leaves(item)
    else:
        yield np.asarray(value)


def _order(name: str) -> list[int]:
    return [int(part) for part in name.split("_")[1:] if part.isdecimal()]


def _say_differences(title: str, expected: Any, found: Any) -> bool:
    """Print where results differ, and tell whether they do."""
    if len(expected) != len(found):
        print(f"{title}: {len(found)} results, expected {len(expected)}")
        return True
    is_different = False
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            print(f"{title}: result {number} is {other.dtype} {other.shape}, expected {one.dtype} {one.shape}")
            is_different = True
            continue
        wide, other_wide = one.astype("float64"), other.astype("float64")
        is_exact = one.dtype.kind in "iub"
        relative, absolute = (0.0, 0.0) if is_exact else (RELATIVE, ABSOLUTE)
        unlike = ~np.isclose(other_wide, wide, relative, absolute, equal_nan=True)
        if unlike.any():
            at = tuple(int(index) for index in np.argwhere(unlike)[0])
            count = f"{int(unlike.sum()):,} of {unlike.size:,} elements differ"
            print(f"{title}: result {number}: {count}; the first at {list(at)}: {other[at]}, expected {one[at]}")
            is_different = True
    return is_different


def _words(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1].strip() if lines else ''}"[:400]


look = compare_forms

if __name__ == "__main__":
    sys.exit(main())
