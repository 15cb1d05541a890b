"""One program as the user wrote it: its module, what is wrong with it, and what it asks to be done."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import msgspec

from relax_core.check.check import check, combined
from relax_core.diagnostics import CompileError, Diagnostic, RunError
from relax_core.engine.inputs import can_be_made_up, generate, kept_positive, read_archive, symbol_sizes
from relax_core.engine.programs import prim_entry
from relax_core.engine.programs.program import with_rules_stage
from relax_core.engine.programs.spelling import guess_spelling
from relax_core.engine.programs.stand_ins import stand_ins_of
from relax_core.engine.protocol import Program
from relax_core.frontend.parse import Parsed
from relax_core.ir.dialect import Dialect, dialect_of
from relax_core.ir.expr import Function, Var
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc
from relax_core.passes.core import ABSENT_DATA
from relax_core.passes.historic import as_reported
from relax_core.passes.pipeline import Step, default_pipeline, read_steps, tolerated_codes
from relax_core.passes.relax import apply_rules
from relax_core.pattern.partition.tables import NO_TABLES, Tables, read_tables
from relax_core.printer.spelling import Spelling
from relax_core.vm.external.stand_ins import StandIn


class ProgramSource:
    """The facts about the text of one `Program`, and its choices of pipeline, tables, entry function and inputs."""

    def __init__(self, program: Program, parsed: Parsed) -> None:
        self.program = program
        self.parsed = parsed

    @property
    def hash(self) -> str:
        """Eight characters that name the text."""
        return sha256(self.program.text.encode("utf-8", "replace")).hexdigest()[:8]

    @property
    def revision(self) -> str:
        """Characters that name text, pipeline and inputs together."""
        program = self.program
        if program.run_file:
            # Megabytes are not printed for each answer.
            own = sha256(program.run_file).digest()
            program = msgspec.structs.replace(program, run_file=own)
        return sha256(repr(program).encode("utf-8", "replace")).hexdigest()[:16]

    @cached_property
    def spelling(self) -> Spelling:
        """The year of the text's spelling."""
        return guess_spelling(self.program.text)

    @cached_property
    def dialect(self) -> Dialect:
        """The language of the module."""
        return dialect_of(self.module)

    @cached_property
    def stand_ins(self) -> Mapping[str, StandIn]:
        """What answers for packed functions.

        Raises:
            CompileError: it cannot be made.
        """
        return stand_ins_of(self.program)

    @property
    def module(self) -> IRModule:
        """The module of the program.

        Raises:
            CompileError: the text has none, or the program names another one.
        """
        modules = self.parsed.modules
        name = self.program.module
        found = next((item for item in modules if not name or item.name == name), None)
        if found is None:
            errors = tuple(item for item in self.parsed.diagnostics if item.severity == "error")
            names = ", ".join(item.name for item in modules)
            missing = Diagnostic("EN005", f"the text has no module `{name}`", hint=f"modules: {names}" if names else "")
            raise CompileError(errors or (missing,))
        return found

    @cached_property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors of the text, but for those in functions of its other modules.

        Raises:
            CompileError: the text has no such module.
        """
        module = self.module
        others = [
            span for other in self.parsed.modules if other is not module for item in other
            if (span := item.function.span) is not None
        ]  # fmt: skip
        found = (item for item in combined(self.parsed.diagnostics, check(module)) if item.severity == "error")
        return tuple(item for item in found if not any(span.holds(item.span) for span in others))

    def require_sound(self, *, reads_data: bool = True) -> None:
        """Raise the errors of the text, if there are any.

        Data that the text lacks is none where the pipeline begins with a pass that does without, or if what is about
        to be done does (`reads_data`).
        """
        module = self.module
        errors = [item for item in self.parsed.diagnostics if item.severity == "error"]
        found = [item for item in check(module) if item.severity == "error"]
        tolerated = tolerated_codes(self.program.pipeline, self.dialect) if found else ()
        tolerated = tolerated if reads_data else (*tolerated, ABSENT_DATA)
        errors += [item for item in found if item.code not in tolerated]
        if errors:
            raise CompileError(errors)

    @property
    def pipeline(self) -> str:
        """The pipeline as text."""
        is_reported, given = self.program.as_in == "reported", self.program.pipeline
        if given is not None:
            return as_reported(given) if is_reported else given
        # A text of 2022 gets that year's LambdaLift, which keeps `closure = lifted_func_0`: the closure has a register.
        pipeline = default_pipeline(self.module)
        pipeline = as_reported(pipeline) if is_reported or self.spelling == "2022" else pipeline
        return with_rules_stage(pipeline) if self.program.rules.strip() else pipeline

    @property
    def steps(self) -> tuple[Step, ...]:
        """The passes of the pipeline that run, with the rules that the program brings.

        Raises:
            CompileError: the text of the pipeline has errors.
        """
        steps = read_steps(self.pipeline, self.dialect)[: self.program.pass_count]
        if not any(step.pass_ is apply_rules.PASS for step in steps):
            return steps
        bound = apply_rules.pass_for(self.program.rules)
        return tuple(replace(step, pass_=bound) if step.pass_ is apply_rules.PASS else step for step in steps)

    @cached_property
    def tables(self) -> Tables:
        """The patterns and supported operators that the program brings."""
        return read_tables(self.program.tables, "the table") if self.program.tables.strip() else NO_TABLES

    def entry(self) -> tuple[str, Function]:
        """Return the function that runs: the one that is named, `main`, or the first that can be entered.

        Of a module of prim funcs alone it is the Relax function around one of them.
        """
        found = self.prim_entry()
        if found is not None:
            return prim_entry.entry_name(self.module, found[0]), prim_entry.declared(found[1])
        functions = {var.name: function for var, function in self.module.relax_functions}
        wanted = self.program.entry or ("main" if "main" in functions else "")
        if wanted:
            if wanted not in functions:
                hint = f"functions: {', '.join(self.module.names)}" if functions else ""
                raise RunError((Diagnostic("EN005", f"there is no function `{wanted}`", hint=hint),))
            return wanted, functions[wanted]
        names = self.entries()
        if not names:
            message = "the module has no function that can be run on made-up arguments"
            hint = "add a function main without parameters, or run it with an archive of inputs"
            raise RunError((Diagnostic("EN009", message, hint=hint),))
        return names[0], functions[names[0]]

    def prim_entry(self) -> tuple[str, PrimFunc] | None:
        """Return the prim func that runs, `None` if it is a Relax function: with such, one that is named only."""
        functions = {var.name: function for var, function in self.module.prim_funcs}
        if not functions or (self.module.relax_functions and self.program.entry not in functions):
            return None
        wanted = self.program.entry or ("main" if "main" in functions else "")
        if wanted and wanted not in functions:
            hint = f"functions: {', '.join(functions)}"
            raise RunError((Diagnostic("EN005", f"there is no function `{wanted}`", hint=hint),))
        names = [wanted] if wanted else [name for name, item in functions.items() if prim_entry.can_run(item)]
        if not names or not prim_entry.can_run(functions[names[0]]):
            message = "the module has no prim func whose parameters are all buffers and scalars"
            raise RunError((Diagnostic("EN009", message, hint="name a function that has such parameters"),))
        return names[0], functions[names[0]]

    def entries(self) -> tuple[str, ...]:
        """Names of the functions that arguments can be made up for; private ones only if there are no others."""
        functions = tuple(item for item in self.module.relax_functions if can_be_made_up(item[1]))
        public = tuple(var.name for var, function in functions if not function.is_private)
        return public or tuple(var.name for var, _ in functions)

    def call(self, *, is_signed: bool = False, below: int = 10) -> tuple[str, tuple[Any, ...]]:
        """Return the function that runs and its arguments: those of the program's archive, or made-up ones.

        Made-up floats are positive unless `is_signed`, and made-up integers `below` a number. A program whose inputs
        are signed has them where no operator wants them positive.
        """
        name, function = self.entry()
        inputs, sizes, own = self.program.inputs, dict(self.program.sizes), self.program.is_signed
        found = self.prim_entry()
        if found is not None:
            return name, prim_entry.arguments(
                found[1], inputs, self.program.seed, sizes, is_signed=is_signed or own, below=below
            )
        if inputs is not None:
            return name, read_archive(inputs, function)
        positive = kept_positive(function) if own and not is_signed else frozenset[Var]()
        return name, generate(
            function, self.program.seed, sizes, is_signed=is_signed or own, below=below, positive=positive
        )

    def dimensions(self) -> tuple[str, ...]:
        """Names of the symbolic dimensions that made-up arguments have, none if nothing can be run."""
        try:
            _, function = self.entry()
        except RunError:
            return ()
        return tuple(dict.fromkeys(var.name for var in symbol_sizes(function, {})))
