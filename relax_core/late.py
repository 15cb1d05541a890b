"""Which modules are loaded when they are first used, and how.

Loading all of the package takes over a second, and most processes need a part of it: a worker that checks a text needs
neither passes nor a compiler. A module in `LATE` is imported like any other, with `from relax_core.engine import
toolchain`. What that binds is empty until an attribute of it is asked for; then the module is loaded as usual, once.
`from relax_core.engine.toolchain import Toolchain` asks for an attribute, and so loads the module at once.
"""

import gc
import sys
from _thread import RLock
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from os.path import exists
from types import ModuleType
from typing import Literal, TypeGuard

LATE = frozenset(
    (
        "relax_core.analysis.lint.regions",
        "relax_core.check.relay.infer",
        "relax_core.check.relay.noted",
        "relax_core.check.relay.well_formed",
        "relax_core.check.rules.remedies",
        "relax_core.cli.archives",
        "relax_core.cli.debugging",
        "relax_core.cli.in_process",
        "relax_core.cli.inside",
        "relax_core.cli.integration.app",
        "relax_core.cli.integration.completion",
        "relax_core.cli.integration.debugging.server",
        "relax_core.cli.integration.language.server",
        "relax_core.cli.integration.mending",
        "relax_core.cli.integration.pdf",
        "relax_core.cli.integration.progress",
        "relax_core.cli.integration.serving.server",
        "relax_core.cli.integration.watching",
        "relax_core.cli.opening",
        "relax_core.cli.patches",
        "relax_core.cli.programs",
        "relax_core.cli.recordings",
        "relax_core.cli.reports",
        "relax_core.cli.review.batch",
        "relax_core.cli.review.modules",
        "relax_core.cli.review.named",
        "relax_core.cli.review.report",
        "relax_core.cli.run_files",
        "relax_core.cli.stand_ins",
        "relax_core.cli.teaching.lessons",
        "relax_core.cli.two_workers",
        "relax_core.codes",
        "relax_core.engine.api.notebooks",
        "relax_core.engine.api.patterns",
        "relax_core.engine.api.pipelines",
        "relax_core.engine.api.reports",
        "relax_core.engine.api.runs",
        "relax_core.engine.api.texts",
        "relax_core.engine.documents.meanings",
        "relax_core.engine.input_files.reading",
        "relax_core.engine.input_files.safetensors",
        "relax_core.engine.inside.stepping",
        "relax_core.engine.moments.answers",
        "relax_core.engine.moments.tensors",
        "relax_core.engine.moments.timing",
        "relax_core.engine.notebook.widget",
        "relax_core.engine.pipelines.calls.comparison",
        "relax_core.engine.pipelines.calls.results",
        "relax_core.engine.pipelines.constants",
        "relax_core.engine.pipelines.crashes.explain",
        "relax_core.engine.pipelines.matching.line_origins",
        "relax_core.engine.pipelines.matching.lives",
        "relax_core.engine.pipelines.parcel",
        "relax_core.engine.pipelines.pipeline",
        "relax_core.engine.pipelines.recorded",
        "relax_core.engine.pipelines.reproducers.reproducing",
        "relax_core.engine.pipelines.run_files.reading",
        "relax_core.engine.pipelines.sources",
        "relax_core.engine.pipelines.trace.writer",
        "relax_core.engine.process.sandbox",
        "relax_core.engine.properties.measures",
        "relax_core.engine.reporting.measuring",
        "relax_core.engine.reporting.reports",
        "relax_core.engine.scheduling.beside_tvm",
        "relax_core.engine.scheduling.scheduling",
        "relax_core.engine.screens.catalog_view",
        "relax_core.engine.screens.cost_views",
        "relax_core.engine.screens.devices_view",
        "relax_core.engine.screens.effect_views",
        "relax_core.engine.screens.kernel_view",
        "relax_core.engine.screens.listings",
        "relax_core.engine.screens.origins_view",
        "relax_core.engine.screens.partition_view",
        "relax_core.engine.screens.pipeline_form",
        "relax_core.engine.screens.recorded.costs",
        "relax_core.engine.screens.recorded.graphs",
        "relax_core.engine.screens.recorded.programs",
        "relax_core.engine.screens.recorded.stages",
        "relax_core.engine.screens.rewrite_views",
        "relax_core.engine.screens.run_views",
        "relax_core.engine.screens.source_view",
        "relax_core.engine.screens.stage_views",
        "relax_core.engine.simulation.simulating",
        "relax_core.engine.toolchain",
        "relax_core.fleet.cluster",
        "relax_core.frontend.relay.module",
        "relax_core.frontend.tvmscript.literal.python_values",
        "relax_core.frontend.tvmscript.plain.plain_patterns",
        "relax_core.frontend.tvmscript.remedies",
        "relax_core.frontend.tvmscript.te.functions",
        "relax_core.frontend.tvmscript.text",
        "relax_core.jit.compilation.cache",
        "relax_core.jit.compilation.compile_process",
        "relax_core.jit.lowering.known.ranges",
        "relax_core.lessons.checking",
        "relax_core.lessons.explaining",
        "relax_core.lessons.handout",
        "relax_core.lessons.library",
        "relax_core.lessons.progress",
        "relax_core.lessons.slides",
        "relax_core.ops.special_values",
        "relax_core.passes.library",
        "relax_core.passes.relax.byoc.link_reference_backend",
        "relax_core.passes.relax.closures.lambda_lift",
        "relax_core.passes.relay.to_relax.relay_to_relax",
        "relax_core.present.catalog_of.operator_docs",
        "relax_core.present.catalog_of.ops",
        "relax_core.present.catalog_of.packed",
        "relax_core.vm.external.torch_operators",
    )
)
# What Python itself reads of a module that it finds imported already.
_OF_PYTHON = frozenset(
    ("__cached__", "__class__", "__dict__", "__file__", "__loader__", "__name__", "__package__", "__path__", "__spec__")
)


class NotLoadedError(ImportError, MemoryError):
    """A late module cannot be loaded where it is used, as a rule for a limit on the memory or the files of a process.

    So it is both: whoever does without what is missing goes on, and whoever lets no process go on that is out of memory
    ends it.
    """


def publish(package: str, module_of: Mapping[str, ModuleType]) -> None:
    """Give a package names that are looked up in other modules, late ones as a rule, when they are first used."""

    class Public(ModuleType):
        def __getattr__(self, name: str) -> object:
            if name not in module_of:
                raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=self)
            value = getattr(module_of[name], name)
            super().__setattr__(name, value)
            return value

        def __setattr__(self, name: str, value: object) -> None:
            # Python binds a submodule to its name here once it is imported: a public name stays what it is.
            if name not in module_of or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

        def __dir__(self) -> list[str]:
            return sorted({*super().__dir__(), *module_of})

    sys.modules[package].__dict__["__all__"] = sorted(module_of)
    sys.modules[package].__class__ = Public


def load(module: ModuleType) -> None:
    """Load a late module at once, if it has not been."""
    loader = module.__loader__
    if isinstance(loader, WaitingLoader):
        loader.load(module)


def load_uncompiled() -> None:
    """Load those late modules of which no bytecode is kept, so that Python writes it.

    For a process that is about to lose the right to write files: it, and each one after it, would otherwise compile
    those modules from source when they are first used.
    """
    if not sys.dont_write_bytecode:
        _load_while(lambda module: _is_uncompiled(module.__spec__))


def load_imported() -> None:
    """Load all late modules that an import statement has named so far, and those that these name."""
    _load_while(lambda _: True)


def _load_while(is_wanted: Callable[[ModuleType], bool]) -> None:
    """Load those named late modules that are wanted, until none is left: each may name others."""
    while waiting := [module for name in LATE if _waits(module := sys.modules.get(name)) and is_wanted(module)]:
        for module in waiting:
            load(module)


def _is_uncompiled(spec: ModuleSpec | None) -> bool:
    return spec is not None and spec.cached is not None and not exists(spec.cached)


def _waits(module: ModuleType | None) -> TypeGuard[ModuleType]:
    return isinstance(module, _LateModule)


class _Finder:
    """Finds the modules in `LATE` where Python does, and gives them a loader that waits."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in LATE else None
        # Elsewhere than in a folder of sources, as in an archive, a module is loaded at once.
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = WaitingLoader(spec.loader.name, spec.loader.path)
        return spec


class WaitingLoader(SourceFileLoader):
    """Loads a module when it is used."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, path)
        self._lock = RLock()
        self._state: Literal["waiting", "loading", "loaded"] = "waiting"

    def exec_module(self, module: ModuleType) -> None:
        """Do what an import statement does: leave the module empty."""
        module.__class__ = _LateModule

    def load(self, module: ModuleType) -> None:
        """Load a module that has not been; another thread waits until it is.

        Once a module is loaded it is an ordinary one, whose attributes take no lock. While it is being loaded, the
        functions that it calls may use what it has defined so far.

        Raises:
            NotLoadedError: something that it imports is missing, or cannot be read or held.
        """
        with self._lock:
            if self._state != "waiting":
                return
            self._state = "loading"
            # What is loaded stays: the collector would look through it time and again, and find nothing.
            is_collecting = gc.isenabled()
            gc.disable()
            try:
                super().exec_module(module)
                module.__class__ = ModuleType
                self._state = "loaded"
            except (ImportError, OSError, MemoryError) as error:
                if isinstance(error, NotLoadedError):
                    raise
                raise NotLoadedError(f"{type(error).__name__}: {error}") from error
            finally:
                if is_collecting:
                    gc.enable()
                if self._state == "loading":
                    self._state = "waiting"


class _LateModule(ModuleType):
    """A module that has not been loaded."""

    def __getattribute__(self, name: str) -> object:
        if name not in _OF_PYTHON:
            load(self)
        return ModuleType.__getattribute__(self, name)


# Before any import of a module in `LATE`, hence not in a function that somebody would have to call first.
sys.meta_path.insert(0, _Finder)
