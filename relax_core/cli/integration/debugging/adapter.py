"""What the adapter does for each request of an editor: a table from the names of requests to methods."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from relax_core.cli.integration.debugging import messages as dap
from relax_core.cli.integration.debugging.asking import Asking, Emit, RequestError
from relax_core.cli.integration.debugging.breakpoints import Asked, Breakpoints, Kind, address
from relax_core.cli.integration.debugging.debuggee import Debuggee
from relax_core.cli.integration.debugging.moving import THREAD, Mover
from relax_core.cli.integration.debugging.variables import References, named_register
from relax_core.engine.debug.requests import AT_NAN, Step, StopPlace

_ASSIGNMENT: Final = re.compile(r"(?P<place>[^=<>!]+)=(?!=)(?P<value>.+)", re.DOTALL)
_INTERVENTION: Final = re.compile(r"skip\s*(?::.*)?|replace\s+\w.*", re.DOTALL)
_WHOLE_CONTEXTS: Final = ("repl", "clipboard")
_QUIET_CONTEXTS: Final = ("hover", "watch", "variables")
"""Of what has no value here, an editor shows no message."""
_FRAMES: Final = 1_000
"""An editor that names no number of frames gets so many."""


class Adapter:
    """The state of one debugging session."""

    def __init__(self, asking: Asking, emit: Emit) -> None:
        self._asking = asking
        self._emit = emit
        self._client = dap.InitializeArguments()
        self._references = References(has_paging=False)
        self._points = Breakpoints()
        self._launched: dap.LaunchArguments | None = None
        self._mover: Mover | None = None
        self._stops_at_start = False
        self._is_running = False

    @property
    def _debuggee(self) -> Debuggee:
        return self._moves.debuggee

    @property
    def _moves(self) -> Mover:
        if self._mover is None:
            raise RequestError("no program is launched")
        return self._mover

    # A session's begin and end.

    def initialize(self, arguments: dap.InitializeArguments) -> dap.Capabilities:
        """Tell what this adapter can do."""
        self._client = arguments
        self._asking.reports_progress = arguments.supports_progress_reporting
        self._references = References(has_paging=arguments.supports_variable_paging)
        return dap.CAPABILITIES

    def launch(self, arguments: dap.LaunchArguments) -> None:
        """Record the run; the editor sets its breakpoints next."""
        self._record(arguments)
        self._emit("initialized", None)

    def restart(self, arguments: dap.RestartArguments) -> None:
        """Read the program again and record another run, without what was changed in the one before."""
        given = arguments.arguments or self._launched
        if given is None:
            raise RequestError("no program is launched")
        self._record(given)
        self._tell_changed()
        self._begin()

    def _record(self, arguments: dap.LaunchArguments) -> None:
        debuggee = Debuggee(self._asking, arguments, int(self._client.lines_start_at1))
        self._launched, self._stops_at_start = arguments, arguments.stop_on_entry
        self._mover = Mover(debuggee, self._points, self._asking, self._emit, arguments)
        self._references.clear()
        self._emit("process", dap.Process(debuggee.program.name, is_local_process=True, start_method="launch"))
        for words in debuggee.run.interventions:
            self._emit("output", dap.Output("console", f"{words}\n"))

    def configured(self, _: dap.NoArguments) -> None:
        """Start: the breakpoints are set."""
        self._begin()

    def _begin(self) -> None:
        self._is_running = True
        self._references.clear()
        self._moves.start(stops=self._stops_at_start)

    def terminate(self, _: dap.NoArguments) -> None:
        """End the program."""
        self._emit("terminated", None)

    def disconnect(self, _: dap.NoArguments) -> None:
        """End the session; the server stops behind the answer."""

    def threads(self, _: dap.NoArguments) -> dap.Threads:
        """Return the one thread."""
        return dap.Threads((dap.Thread(THREAD, self._mover.debuggee.entry if self._mover is not None else "main"),))

    def pause(self, _: dap.NoArguments) -> None:
        """Stop at the start if the run has not begun; else it stands still already."""
        if self._is_running:
            self._moves.stop("pause")
        else:
            self._stops_at_start = True

    # Breakpoints.

    def set_breakpoints(self, arguments: dap.SetBreakpointsArguments) -> dap.BreakpointList:
        """Replace the breakpoints at lines; one at a line without code stands at the next line that has some."""
        debuggee = self._debuggee
        if not debuggee.is_source(arguments.source):
            words = f"only {debuggee.program.name} is run"
            numbers = range(1, len(arguments.breakpoints) + 1)
            return dap.BreakpointList(tuple(dap.Breakpoint(-n, verified=False, message=words) for n in numbers))
        asked: list[Asked] = []
        for item in arguments.breakpoints:
            line = debuggee.code_line(debuggee.own_line(item.line))
            place = StopPlace(line, condition=item.condition) if line else None
            asked.append(Asked(place, item.hit_condition, item.log_message, "no code stands here or below"))
        return self._put("line", asked)

    def set_function_breakpoints(self, arguments: dap.SetFunctionBreakpointsArguments) -> dap.BreakpointList:
        """Replace the breakpoints at the entry of functions."""
        return self._put(
            "function",
            [
                Asked(StopPlace(function=item.name.strip(), condition=item.condition), item.hit_condition)
                for item in arguments.breakpoints
            ],
        )

    def set_instruction_breakpoints(self, arguments: dap.SetInstructionBreakpointsArguments) -> dap.BreakpointList:
        """Replace the breakpoints at instructions."""
        return self._put(
            "instruction",
            [
                Asked(
                    StopPlace(pc=_pc(item.instruction_reference) + item.offset, condition=item.condition),
                    item.hit_condition,
                )
                for item in arguments.breakpoints
            ],
        )

    def set_data_breakpoints(self, arguments: dap.SetDataBreakpointsArguments) -> dap.BreakpointList:
        """Replace the breakpoints at writes to registers."""
        asked: list[Asked] = []
        for item in arguments.breakpoints:
            function, _, register = item.data_id.rpartition("%")
            if function and register.isdecimal():
                place = StopPlace(function=function, register=int(register), condition=item.condition)
                asked.append(Asked(place, item.hit_condition))
            else:
                asked.append(Asked(None, refusal=f"`{item.data_id}` is no register of a function"))
        return self._put("data", asked)

    def set_exception_breakpoints(self, arguments: dap.SetExceptionBreakpointsArguments) -> None:
        """Choose whether to stop at errors, and behind what writes a NaN."""
        self._points.stops_at_errors = dap.ERRORS in arguments.filters
        self._put("nan", [Asked(StopPlace(condition=AT_NAN))] if dap.NANS in arguments.filters else [])

    def _put(self, kind: Kind, asked: list[Asked]) -> dap.BreakpointList:
        found = self._points.put(kind, asked, self._debuggee, self._asking)
        return dap.BreakpointList(tuple(item.shown(self._debuggee) for item in found))

    def _tell_changed(self) -> None:
        for point in self._points.resolve(self._debuggee, self._asking):
            self._emit("breakpoint", dap.BreakpointChanged("changed", point.shown(self._debuggee)))

    def breakpoint_locations(self, arguments: dap.BreakpointLocationsArguments) -> dap.BreakpointLocations:
        """Return the lines of a range at which the run can stop."""
        debuggee = self._debuggee
        last = arguments.line if arguments.end_line is None else arguments.end_line
        lines = map(debuggee.shown_line, debuggee.lines if debuggee.is_source(arguments.source) else ())
        return dap.BreakpointLocations(
            tuple(dap.BreakpointLocation(line) for line in lines if arguments.line <= line <= last)
        )

    def data_breakpoint_info(self, arguments: dap.DataBreakpointInfoArguments) -> dap.DataBreakpointInfo:
        """Tell under which name writes to a variable are watched."""
        debuggee, name = self._debuggee, arguments.name
        if arguments.variables_reference:
            found = self._references.register(debuggee, arguments.variables_reference, name)
        else:
            depth = self._depth(arguments.frame_id)
            held = named_register(debuggee.frame(depth), name)
            found = None if held is None else (depth, held)
        if found is None:
            return dap.DataBreakpointInfo(None, f"{name}: only writes to variables and registers are watched")
        depth, held = found
        frames = debuggee.stack(0, _FRAMES).frames
        function = next((frame.function for frame in frames if frame.depth == depth), debuggee.entry)
        spoken = f"{held.variable} ({held.name})" if held.variable else held.name
        return dap.DataBreakpointInfo(f"{function}{held.name}", f"{spoken} of {function}", ("write",), can_persist=True)

    # The stack and values.

    def stack_trace(self, arguments: dap.StackTraceArguments) -> dap.StackTrace:
        """Return frames of the stack; behind the last return a line that says what was returned."""
        debuggee = self._debuggee
        found = debuggee.stack(arguments.start_frame, arguments.levels or _FRAMES)
        if not found.count:
            ended = dap.StackFrame(1, debuggee.run.end, 0, 0, presentation_hint="label")
            return dap.StackTrace((ended,), 1)
        frames = tuple(
            dap.StackFrame(
                frame.depth + 1,
                frame.function,
                debuggee.shown_line(frame.line),
                int(self._client.columns_start_at1) if frame.line else 0,
                debuggee.source if frame.line else None,
                address(frame.pc) if frame.pc >= 0 else "",
                "" if frame.line else "subtle",
            )
            for frame in found.frames
        )
        return dap.StackTrace(frames, found.count)

    def scopes(self, arguments: dap.ScopesArguments) -> dap.Scopes:
        """Return what a frame holds, by kind."""
        if not self._debuggee.stack(0, 1).count:
            return dap.Scopes(())
        return dap.Scopes(self._references.scopes(self._debuggee, self._depth(arguments.frame_id)))

    def variables(self, arguments: dap.VariablesArguments) -> dap.Variables:
        """Return the variables of a scope, or the parts of a value."""
        asked = (arguments.variables_reference, arguments.start, arguments.count)
        return dap.Variables(self._references.variables(self._debuggee, *asked))

    def evaluate(self, arguments: dap.EvaluateArguments) -> dap.Evaluated:
        """Evaluate an expression; what is typed at the prompt may change something as well."""
        depth, expression = self._depth(arguments.frame_id), arguments.expression.strip()
        is_prompt = arguments.context == "repl"
        if is_prompt and _INTERVENTION.fullmatch(expression):
            self._change(depth, expression)
            return dap.Evaluated("\n".join(self._debuggee.run.interventions), 0)
        change = _ASSIGNMENT.fullmatch(expression) if is_prompt else None
        if change is not None:
            expression = change["place"].strip()
            self._change(depth, f"{expression} = {change['value'].strip()}")
        try:
            found = self._debuggee.parts(depth, expression)
        except RequestError as error:
            error.is_quiet = arguments.context in _QUIET_CONTEXTS
            raise
        is_whole = arguments.context in _WHOLE_CONTEXTS
        return self._references.evaluated(depth, expression, found, is_whole=is_whole)

    def set_variable(self, arguments: dap.SetVariableArguments) -> dap.Assigned:
        """Set a variable, an element or a field, and record how the run goes on."""
        asked = (arguments.variables_reference, arguments.name)
        return self._assign(*self._references.assigned(self._debuggee, *asked), arguments.value)

    def set_expression(self, arguments: dap.SetExpressionArguments) -> dap.Assigned:
        """Set what an expression stands for, and record how the run goes on."""
        return self._assign(self._depth(arguments.frame_id), arguments.expression.strip(), arguments.value)

    def _assign(self, depth: int, place: str, value: str) -> dap.Assigned:
        self._change(depth, f"{place} = {value.strip()}")
        found = self._references.evaluated(depth, place, self._debuggee.parts(depth, place), is_whole=False)
        return dap.Assigned(found.result, found.type, found.variables_reference, found.indexed_variables)

    def _change(self, depth: int, text: str) -> None:
        self._debuggee.change(depth, text)
        self._tell_changed()
        if self._client.supports_invalidated_event:
            self._emit("invalidated", dap.Invalidated(("all",)))

    def _depth(self, frame: int) -> int:
        return frame - 1 if frame > 0 else self._debuggee.running_depth()

    # Moves.

    def resume(self, _: dap.NoArguments) -> dap.Continued:
        """Go on to the next breakpoint or the end."""
        self._references.clear()
        self._moves.resume()
        return dap.Continued(all_threads_continued=True)

    def resume_back(self, _: dap.NoArguments) -> None:
        """Go back to the breakpoint before, or the start."""
        self._references.clear()
        self._moves.resume_back()

    def next(self, arguments: dap.StepArguments) -> None:
        """Step over calls."""
        self._step("over", arguments)

    def step_in(self, arguments: dap.StepArguments) -> None:
        """Step into a call."""
        self._step("into", arguments)

    def step_out(self, arguments: dap.StepArguments) -> None:
        """Step out of the function."""
        self._step("out", arguments)

    def step_back(self, arguments: dap.StepArguments) -> None:
        """Undo a step over calls."""
        self._step("back_over", arguments)

    def _step(self, step: Step, arguments: dap.StepArguments) -> None:
        self._references.clear()
        self._moves.step(step, is_by_instruction=arguments.granularity == "instruction")

    # The program as it is.

    def exception_info(self, _: dap.NoArguments) -> dap.ExceptionInfo:
        """Tell why it stopped."""
        debuggee = self._debuggee
        problem = debuggee.run.problem
        if problem is not None and debuggee.is_at_end:
            details = dap.ExceptionDetails(problem.message, problem.explanation)
            return dap.ExceptionInfo(problem.code, "unhandled", problem.message, details)
        if any(point.kind == "nan" for point in self._points.at(debuggee.time)):
            return dap.ExceptionInfo("NaN", "always", "A NaN or an infinity was written.")
        raise RequestError("the program has not stopped at an error")

    def disassemble(self, arguments: dap.DisassembleArguments) -> dap.Disassembled:
        """Return instructions of the bytecode, as many as are asked for, whether there are such or not."""
        debuggee = self._debuggee
        start = _pc(arguments.memory_reference) + arguments.offset + arguments.instruction_offset
        found: list[dap.DisassembledInstruction] = []
        for pc in range(start, start + arguments.instruction_count):
            row = debuggee.instructions.get(pc)
            if row is None:
                found.append(dap.DisassembledInstruction(address(pc), "", presentation_hint="invalid"))
                continue
            source, line = (debuggee.source, debuggee.shown_line(row.line)) if row.line else (None, None)
            symbol = debuggee.symbols.get(pc, "")
            found.append(dap.DisassembledInstruction(address(pc), row.text, symbol, source, line))
        return dap.Disassembled(tuple(found))

    def source(self, _: dap.SourceArguments) -> dap.SourceText:
        """Return the text of a program that is in no file of its own."""
        program = self._debuggee.program
        return dap.SourceText(program.text, "text/plain" if program.name.endswith(".relay") else "text/x-python")


def _pc(reference: str) -> int:
    try:
        return int(reference, 0)
    except ValueError:
        raise RequestError(f"`{reference}` is no instruction; such are `{address(0)}` and `{address(1)}`") from None


class Handler(NamedTuple):
    """How a request is carried out, and what its arguments are."""

    arguments: type[msgspec.Struct]
    run: Callable[[Adapter, Any], msgspec.Struct | None]


HANDLERS: Final[Mapping[str, Handler]] = MappingProxyType(
    {
        "initialize": Handler(dap.InitializeArguments, Adapter.initialize),
        "launch": Handler(dap.LaunchArguments, Adapter.launch),
        "restart": Handler(dap.RestartArguments, Adapter.restart),
        "configurationDone": Handler(dap.NoArguments, Adapter.configured),
        "terminate": Handler(dap.NoArguments, Adapter.terminate),
        "disconnect": Handler(dap.NoArguments, Adapter.disconnect),
        "threads": Handler(dap.NoArguments, Adapter.threads),
        "pause": Handler(dap.NoArguments, Adapter.pause),
        "setBreakpoints": Handler(dap.SetBreakpointsArguments, Adapter.set_breakpoints),
        "setFunctionBreakpoints": Handler(dap.SetFunctionBreakpointsArguments, Adapter.set_function_breakpoints),
        "setInstructionBreakpoints": Handler(
            dap.SetInstructionBreakpointsArguments, Adapter.set_instruction_breakpoints
        ),
        "setDataBreakpoints": Handler(dap.SetDataBreakpointsArguments, Adapter.set_data_breakpoints),
        "setExceptionBreakpoints": Handler(dap.SetExceptionBreakpointsArguments, Adapter.set_exception_breakpoints),
        "breakpointLocations": Handler(dap.BreakpointLocationsArguments, Adapter.breakpoint_locations),
        "dataBreakpointInfo": Handler(dap.DataBreakpointInfoArguments, Adapter.data_breakpoint_info),
        "stackTrace": Handler(dap.StackTraceArguments, Adapter.stack_trace),
        "scopes": Handler(dap.ScopesArguments, Adapter.scopes),
        "variables": Handler(dap.VariablesArguments, Adapter.variables),
        "evaluate": Handler(dap.EvaluateArguments, Adapter.evaluate),
        "setVariable": Handler(dap.SetVariableArguments, Adapter.set_variable),
        "setExpression": Handler(dap.SetExpressionArguments, Adapter.set_expression),
        "continue": Handler(dap.NoArguments, Adapter.resume),
        "reverseContinue": Handler(dap.NoArguments, Adapter.resume_back),
        "next": Handler(dap.StepArguments, Adapter.next),
        "stepIn": Handler(dap.StepArguments, Adapter.step_in),
        "stepOut": Handler(dap.StepArguments, Adapter.step_out),
        "stepBack": Handler(dap.StepArguments, Adapter.step_back),
        "exceptionInfo": Handler(dap.NoArguments, Adapter.exception_info),
        "disassemble": Handler(dap.DisassembleArguments, Adapter.disassemble),
        "source": Handler(dap.SourceArguments, Adapter.source),
    }
)
"""The requests; `cancel` is the server's, which hears of it while another one is carried out."""
