"""Files with passes of the user's own: Python code of the one who starts the process, imported when it changes.

The paths come from the environment of the process, which its starter sets and no browser reaches. No message between
server and worker, and nothing in a program, names such a file.
"""

import importlib.util
import os
import sys
import traceback
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn

from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic
from relax_core.passes.own import OWN_PASSES, register_pass

PASSES_VARIABLE: Final = "RELAXSCOPE_PASSES"
"""Paths of files with passes, separated as `PATH` is."""
_MODULE_NAME: Final = "relaxscope_own_passes"
_LONGEST: Final = 300


class PassFiles:
    """The files that the environment names, each imported when it is first needed and whenever it is another one."""

    def __init__(self) -> None:
        paths = os.environ.get(PASSES_VARIABLE, "").split(os.pathsep)
        self._stamps: dict[str, tuple[int, int]] = {path: (-1, -1) for path in paths if path}
        self._names: dict[str, tuple[str, ...]] = {}

    def refresh(self) -> bool:
        """Import what is new or changed, and tell whether anything was.

        Raises:
            CompileError: PL011: a file cannot be imported. It is tried again the next time.
        """
        found = False
        for number, path in enumerate(self._stamps):
            stamp = _stamp(path)
            if stamp != self._stamps[path]:
                OWN_PASSES.drop(self._names.pop(path, ()))
                self._names[path] = _loaded(path, f"{_MODULE_NAME}_{number}")
                self._stamps[path] = stamp
                found = True
        return found


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except OSError as error:
        _fail(f"cannot read {path}: {error.strerror}")
    return status.st_mtime_ns, status.st_size


def _loaded(path: str, name: str) -> tuple[str, ...]:
    """Import a file and return the names of the passes that are there since.

    These are what it registers; if it registers nothing, every function that it defines under a public name.
    """
    known = set(OWN_PASSES.names)
    module = imported(path, name)
    if set(OWN_PASSES.names) == known:
        for function in _public_functions(module):
            register_pass(function)
    return tuple(item for item in OWN_PASSES.names if item not in known)


def imported(path: str, name: str) -> ModuleType:
    """Import a file of the user's own as the module `name`.

    Raises:
        CompileError: PL011: it is missing, or its code raised an exception.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        _fail(f"{path} is no Python file: its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    # A dataclass of options looks its module up there.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except DiagnosedError:
        raise
    except (Exception, SystemExit) as error:  # code of the user's own may raise anything
        del sys.modules[name]
        _fail(f"{path} cannot be imported: {_words(error, path)}")
    return module


def _public_functions(module: ModuleType) -> list[Any]:
    return [
        item
        for name, item in vars(module).items()
        if isfunction(item) and item.__module__ == module.__name__ and not name.startswith("_")
    ]


def _words(error: BaseException, path: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    text = " ".join(traceback.format_exception_only(error)[-1].split())[:_LONGEST]
    return f"{text} (line {lines[-1]})" if lines else text


def _fail(message: str) -> NoReturn:
    hint = "the file is imported as Python code, and may `import relax_core as rc`"
    raise CompileError((Diagnostic("PL011", message, hint=hint),))
