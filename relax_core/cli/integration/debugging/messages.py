"""Arguments and bodies of the messages of the Debug Adapter Protocol, as far as this adapter knows them.

Of an argument that an editor sends and that is not named here nothing is made, as the protocol has it.
"""

from typing import Final, Literal

import msgspec

Granularity = Literal["statement", "line", "instruction"]
Reason = Literal["entry", "step", "breakpoint", "function breakpoint", "data breakpoint", "exception", "pause"]


class _Wire(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The base: names as the protocol writes them."""


class NoArguments(_Wire, frozen=True):
    """Of requests that need none, or of which none is looked at."""


class Source(_Wire, frozen=True):
    name: str | None = None
    path: str | None = None
    source_reference: int = 0


class InitializeArguments(_Wire, frozen=True):
    lines_start_at1: bool = True
    columns_start_at1: bool = True
    supports_variable_paging: bool = False
    supports_progress_reporting: bool = False
    supports_invalidated_event: bool = False


class LaunchArguments(_Wire, frozen=True):
    """What an editor's configuration says of a run; docs/guides/debug_in_an_editor.md explains it."""

    program: str
    entry: str = ""
    passes: str | None = None
    inputs: str | None = None
    constants: str | None = None
    table: str | None = None
    rules: str | None = None
    seed: int = 0
    sizes: dict[str, int] = {}
    skip: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    stop_on_entry: bool = False
    stop_at_end: bool = False
    no_debug: bool = False


class RestartArguments(_Wire, frozen=True):
    arguments: LaunchArguments | None = None


class SourceBreakpoint(_Wire, frozen=True):
    line: int
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""


class SetBreakpointsArguments(_Wire, frozen=True):
    source: Source
    breakpoints: tuple[SourceBreakpoint, ...] = ()


class FunctionBreakpoint(_Wire, frozen=True):
    name: str
    condition: str = ""
    hit_condition: str = ""


class SetFunctionBreakpointsArguments(_Wire, frozen=True):
    breakpoints: tuple[FunctionBreakpoint, ...]


class InstructionBreakpoint(_Wire, frozen=True):
    instruction_reference: str
    offset: int = 0
    condition: str = ""
    hit_condition: str = ""


class SetInstructionBreakpointsArguments(_Wire, frozen=True):
    breakpoints: tuple[InstructionBreakpoint, ...]


class DataBreakpoint(_Wire, frozen=True):
    data_id: str
    condition: str = ""
    hit_condition: str = ""


class SetDataBreakpointsArguments(_Wire, frozen=True):
    breakpoints: tuple[DataBreakpoint, ...]


class SetExceptionBreakpointsArguments(_Wire, frozen=True):
    filters: tuple[str, ...]


class DataBreakpointInfoArguments(_Wire, frozen=True):
    name: str
    variables_reference: int = 0
    frame_id: int = 0


class DataBreakpointInfo(_Wire, frozen=True):
    data_id: str | None
    description: str
    access_types: tuple[str, ...] = ()
    can_persist: bool = False


class Breakpoint(_Wire, frozen=True):
    id: int
    verified: bool
    message: str = ""
    source: Source | None = None
    line: int | None = None
    instruction_reference: str = ""


class BreakpointList(_Wire, frozen=True):
    breakpoints: tuple[Breakpoint, ...]


class BreakpointLocationsArguments(_Wire, frozen=True):
    source: Source
    line: int
    end_line: int | None = None


class BreakpointLocation(_Wire, frozen=True):
    line: int


class BreakpointLocations(_Wire, frozen=True):
    breakpoints: tuple[BreakpointLocation, ...]


class Thread(_Wire, frozen=True):
    id: int
    name: str


class Threads(_Wire, frozen=True):
    threads: tuple[Thread, ...]


class StackTraceArguments(_Wire, frozen=True):
    start_frame: int = 0
    levels: int = 0


class StackFrame(_Wire, frozen=True):
    id: int
    name: str
    line: int
    column: int
    source: Source | None = None
    instruction_pointer_reference: str = ""
    presentation_hint: str = ""


class StackTrace(_Wire, frozen=True):
    stack_frames: tuple[StackFrame, ...]
    total_frames: int


class ScopesArguments(_Wire, frozen=True):
    frame_id: int


class Scope(_Wire, frozen=True):
    name: str
    variables_reference: int
    expensive: bool
    presentation_hint: str = ""


class Scopes(_Wire, frozen=True):
    scopes: tuple[Scope, ...]


class VariablesArguments(_Wire, frozen=True):
    variables_reference: int
    start: int = 0
    count: int = 0


class Variable(_Wire, frozen=True):
    name: str
    value: str
    variables_reference: int
    type: str = ""
    evaluate_name: str = ""
    indexed_variables: int = 0


class Variables(_Wire, frozen=True):
    variables: tuple[Variable, ...]


class EvaluateArguments(_Wire, frozen=True):
    expression: str
    frame_id: int = 0
    context: str = ""


class Evaluated(_Wire, frozen=True):
    result: str
    variables_reference: int
    type: str = ""
    indexed_variables: int = 0


class SetVariableArguments(_Wire, frozen=True):
    variables_reference: int
    name: str
    value: str


class SetExpressionArguments(_Wire, frozen=True):
    expression: str
    value: str
    frame_id: int = 0


class Assigned(_Wire, frozen=True):
    value: str
    type: str = ""
    variables_reference: int = 0
    indexed_variables: int = 0


class StepArguments(_Wire, frozen=True):
    granularity: Granularity = "statement"


class Continued(_Wire, frozen=True):
    all_threads_continued: bool


class DisassembleArguments(_Wire, frozen=True):
    memory_reference: str
    instruction_count: int
    instruction_offset: int = 0
    offset: int = 0


class DisassembledInstruction(_Wire, frozen=True):
    address: str
    instruction: str
    symbol: str = ""
    location: Source | None = None
    line: int | None = None
    presentation_hint: str = ""


class Disassembled(_Wire, frozen=True):
    instructions: tuple[DisassembledInstruction, ...]


class SourceArguments(_Wire, frozen=True):
    source_reference: int = 0


class SourceText(_Wire, frozen=True):
    content: str
    mime_type: str


class ExceptionDetails(_Wire, frozen=True):
    message: str
    stack_trace: str = ""


class ExceptionInfo(_Wire, frozen=True):
    exception_id: str
    break_mode: str
    description: str = ""
    details: ExceptionDetails | None = None


class CancelArguments(_Wire, frozen=True):
    request_id: int = -1
    progress_id: str = ""


class Stopped(_Wire, frozen=True):
    reason: Reason
    thread_id: int
    all_threads_stopped: bool
    description: str = ""
    text: str = ""
    hit_breakpoint_ids: tuple[int, ...] = ()


class Output(_Wire, frozen=True):
    category: Literal["console", "stdout", "stderr"]
    output: str
    source: Source | None = None
    line: int | None = None


class Exited(_Wire, frozen=True):
    exit_code: int


class Process(_Wire, frozen=True):
    name: str
    is_local_process: bool
    start_method: str


class BreakpointChanged(_Wire, frozen=True):
    reason: Literal["changed"]
    breakpoint: Breakpoint


class Invalidated(_Wire, frozen=True):
    areas: tuple[str, ...]


class ProgressStart(_Wire, frozen=True):
    progress_id: str
    title: str
    request_id: int
    cancellable: bool


class ProgressUpdate(_Wire, frozen=True):
    progress_id: str
    message: str
    percentage: float | None = None


class ProgressEnd(_Wire, frozen=True):
    progress_id: str


class ExceptionFilter(_Wire, frozen=True):
    filter: str
    label: str
    description: str
    default: bool


class ErrorMessage(_Wire, frozen=True):
    id: int
    format: str
    show_user: bool


class ErrorBody(_Wire, frozen=True):
    error: ErrorMessage


class Capabilities(_Wire, frozen=True):
    exception_breakpoint_filters: tuple[ExceptionFilter, ...]
    supports_configuration_done_request: bool
    supports_function_breakpoints: bool
    supports_conditional_breakpoints: bool
    supports_hit_conditional_breakpoints: bool
    supports_log_points: bool
    supports_data_breakpoints: bool
    supports_instruction_breakpoints: bool
    supports_breakpoint_locations_request: bool
    supports_evaluate_for_hovers: bool
    supports_set_variable: bool
    supports_set_expression: bool
    supports_step_back: bool
    supports_stepping_granularity: bool
    supports_disassemble_request: bool
    supports_exception_info_request: bool
    supports_delayed_stack_trace_loading: bool
    supports_restart_request: bool
    supports_terminate_request: bool
    supports_cancel_request: bool
    supports_clipboard_context: bool


ERRORS, NANS = "error", "nan"
EXCEPTION_FILTERS: Final = (
    ExceptionFilter(ERRORS, "Errors of the run", "Stop where the run ends with an error", default=True),
    ExceptionFilter(NANS, "NaN or infinity is written", "Stop behind every instruction that writes one", default=False),
)
CAPABILITIES: Final = Capabilities(EXCEPTION_FILTERS, *(True for _ in msgspec.structs.fields(Capabilities)[1:]))
