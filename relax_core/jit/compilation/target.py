"""The host's target machine: optimises LLVM IR, makes machine code and links it. Only this file knows llvmlite."""

import ctypes
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from threading import Lock
from types import MappingProxyType
from typing import Any

from llvmlite import binding  # pyright: ignore[reportMissingTypeStubs]  # llvmlite has no types

from relax_core.jit.compilation.image import is_laid_out, laid_out, load
from relax_core.jit.compilation.llvm_remarks import captured_remarks
from relax_core.jit.compilation.pipelines import PIPELINES, Pipeline

_llvm: Any = binding

_ENTRY_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)

# Functions of vectors, to be called in the loops of which LLVM makes vectors.
_VARIANT = re.compile(r"^define hidden .*?@([\w.]+)\(", re.MULTILINE)

NO_SYMBOLS: Mapping[str, int] = MappingProxyType({})

# To be raised when objects are made in another way from the same LLVM IR, so that no cached one is taken.
OBJECT_VERSION = 4
OPTIMISATION_LEVEL = 1
CODE_GENERATION_LEVEL = 2


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Linked machine code at `address`. `run(slots, record)` takes addresses; the code lives as long as this object."""

    address: int
    run: Callable[[int, int], int]
    library: object


def _host_features() -> str:
    """Return what the processor has, as LLVM writes it.

    LLVM halves the vectors of loops on Intel processors with AVX-512, whose clock once fell. Later ones keep it, and
    what the transformations write has vectors of full width anyway.
    """
    features = _llvm.get_host_cpu_features()
    return f"{features.flatten()},-prefer-256-bit" if features.get("avx512f") else str(features.flatten())


class Target:
    """Compiles for the processor that this runs on. Safe to use from several threads."""

    def __init__(self) -> None:
        _llvm.initialize_native_target()
        _llvm.initialize_native_asmprinter()
        self._machine: Any = self._target_machine(CODE_GENERATION_LEVEL)
        self._quick_machine: Any = None
        self.description = self._describe()
        self._linker: Any = _llvm.create_lljit_compiler(self._machine)
        self._names = count()
        self._lock = Lock()

    def _target_machine(self, level: int) -> Any:
        return _llvm.Target.from_default_triple().create_target_machine(
            cpu=_llvm.get_host_cpu_name(), features=_host_features(), opt=level
        )

    def _machine_of(self, pipeline: Pipeline) -> Any:
        """Return what makes machine code behind a pipeline."""
        if not PIPELINES[pipeline].is_quick:
            return self._machine
        if self._quick_machine is None:
            self._quick_machine = self._target_machine(0)
        return self._quick_machine

    def _describe(self) -> str:
        """Say what an object depends on besides its LLVM IR."""
        machine = self._machine
        levels = (OPTIMISATION_LEVEL, CODE_GENERATION_LEVEL, OBJECT_VERSION, tuple(PIPELINES.items()))
        processor = (_llvm.get_host_cpu_name(), _host_features())
        return repr((machine.triple, str(machine.target_data), processor, _llvm.llvm_version_info, levels))

    @property
    def vector_bits(self) -> int:
        """The width of the processor's vectors."""
        features: Mapping[str, bool] = _llvm.get_host_cpu_features()
        return 512 if features.get("avx512f") else 256 if features.get("avx2") else 128

    def compile(self, text: str, pipeline: Pipeline = "loops") -> bytes:
        """Compile a module of LLVM IR to what `link` takes."""
        with self._lock:
            return laid_out(bytes(self._machine_of(pipeline).emit_object(self._optimised(text, pipeline))))

    def compile_plainly(self, text: str) -> bytes:
        """Compile a module of LLVM IR whose instructions are taken as they stand."""
        with self._lock:
            return laid_out(bytes(self._machine.emit_object(self._parsed(text))))

    def link(self, image: bytes, entry: str, symbols: Mapping[str, int] = NO_SYMBOLS) -> Program:
        """Link what was compiled; `entry` is the function to run, `symbols` are addresses that it leaves open.

        Raises:
            RuntimeError: it leaves something open that is nowhere.
        """
        if is_laid_out(image):
            code, address_of = load(image, symbols)
            return Program(address_of[entry], _ENTRY_TYPE(address_of[entry]), code)
        with self._lock:
            builder = _llvm.JITLibraryBuilder().add_object_img(image).add_current_process().export_symbol(entry)
            for name, address in symbols.items():
                builder.import_symbol(name, address)
            library = builder.link(self._linker, f"kernel{next(self._names)}")
            address = int(library[entry])
        return Program(address, _ENTRY_TYPE(address), library)

    @property
    def processor(self) -> str:
        """LLVM's name of the processor that code is made for, such as `znver5`."""
        return str(_llvm.get_host_cpu_name())

    def optimized_ir(self, text: str, pipeline: Pipeline = "loops") -> str:
        """Return the LLVM IR that `text` becomes before machine code is made of it."""
        with self._lock:
            return str(self._optimised(text, pipeline))

    def explained_ir(self, text: str, pipeline: Pipeline = "loops") -> tuple[str, tuple[tuple[int, str], ...]]:
        """Return what `optimized_ir` does, and the vectoriser's remarks with the lines of their debug locations."""
        with self._lock, captured_remarks(_llvm.set_option) as remarks:
            optimised = str(self._optimised(text, pipeline))
        return optimised, tuple(remarks)

    def assembly(self, text: str, pipeline: Pipeline = "loops") -> str:
        """Return the machine code of `text` in the host's assembly language."""
        with self._lock:
            return str(self._machine_of(pipeline).emit_assembly(self._optimised(text, pipeline)))

    def _parsed(self, text: str) -> Any:
        # A context of its own for every module: LLVM's are not made for several threads.
        module = _llvm.parse_assembly(text, _llvm.create_context())
        module.verify()
        # The vectoriser needs the target's description before it starts.
        module.triple = self._machine.triple
        module.data_layout = str(self._machine.target_data)
        return module

    def _optimised(self, text: str, pipeline: Pipeline) -> Any:
        module, chosen = self._parsed(text), PIPELINES[pipeline]
        options = _llvm.create_pipeline_tuning_options(OPTIMISATION_LEVEL)
        options.loop_vectorization = True
        options.loop_unrolling, options.slp_vectorization = chosen.unrolls, chosen.joins_lanes
        passes = _llvm.create_pass_builder(self._machine, options)
        # A pass manager aborts the process when it runs twice, so every module takes a fresh one.
        manager = _llvm.create_new_module_pass_manager() if chosen.names else passes.getModulePassManager()
        for name in chosen.names:
            getattr(manager, f"add_{name}_pass")()
        manager.run(module, passes)
        if variants := _VARIANT.findall(text):
            self._inline(module, variants)
        return module

    def _inline(self, module: Any, variants: list[str]) -> None:
        """Inline the functions of vectors that the loops came to call; nothing is left to make machine code of them."""
        manager = _llvm.create_new_module_pass_manager()
        manager.add_always_inliner_pass()
        manager.run(module, _llvm.create_pass_builder(self._machine, _llvm.create_pipeline_tuning_options(0)))
        for name in variants:
            module.get_function(name).linkage = "available_externally"
