// Written by tools/typescript_models.py from the classes of the same names: change those.

export type Form = "tir" | "llvm";
export type Kind =
  | "tensor"
  | "tensor0"
  | "prim"
  | "shape"
  | "tuple"
  | "closure"
  | "adt"
  | "string"
  | "dtype"
  | "object"
  | "void"
  | "unwritten";
export type Lets = "reported" | "values" | "definition" | "uses" | "graph_form";
export type Mark = "added" | "removed" | "changed" | "moved" | "unchanged";
export type NameKind = "function" | "variable" | "dimension";
export type Severity = "error" | "warning" | "note";
export type Side = "before" | "after" | "both";
export type Syntax =
  | ""
  | "synKeyword"
  | "synName"
  | "synString"
  | "synNumber"
  | "synType"
  | "synComment"
  | "synDecor"
  | "text2"
  | "text3";
export type TermKind = "operator" | "type" | "dtype" | "device" | "keyword";
export type Tone =
  | ""
  | "ok"
  | "error"
  | "warning"
  | "accent"
  | "added"
  | "removed"
  | "changed"
  | "moved"
  | "cat0"
  | "code";
export type VisitKind = "enter" | "argument" | "memo hit" | "recursion" | "leave";

/** A load or store: under which condition it is in range, and what that means with the chosen sizes. */
export type AccessRow = readonly [
  access: string,
  condition: string,
  state: "always" | "checked" | "proven",
  part: number,
];

/** It has none. */
export interface AnnouncerAction {
  readonly kind: "none";
}

/** What the page says beside the model. */
export interface AnnouncerProps {
  readonly height: string;
}

/** Names that a component shows and whose meaning is asked for; `text` is the sentence that uses them. */
export interface Asked {
  readonly names: readonly string[];
  readonly text: string;
}

/** Who asks for news: the part that a tab has in a class, and the step of a lesson that it shows. */
export interface Asker {
  readonly role: "member" | "teacher";
  readonly code: string;
  readonly token: string;
  readonly lesson: string;
  readonly step: number;
}

/** A bar of the histogram: elements from `low` on, up to `high`. */
export interface Bin {
  readonly low: string;
  readonly high: string;
  readonly count: number;
}

/** A place to stop at: a line, an instruction, or, with neither, wherever its condition holds. */
export interface Breakpoint {
  readonly line: number;
  readonly pc: number;
  readonly is_on: boolean;
  /** Evaluated by the engine, see `PointHits`; empty: every hit stops. */
  readonly condition: string;
  /** Of a logpoint, which writes it at every hit in place of stopping: `sum is {sum(x)}`; empty: it stops. */
  readonly message: string;
}

/** A value held by a closure. */
export interface Capture {
  readonly name: string;
  readonly value: number;
  /** The register it came from, such as `main %0`. */
  readonly where: string;
  /** When it was bound; -1 if unknown. */
  readonly time: number;
}

/** All operators, and all packed functions that have a schema. */
export interface Catalog {
  readonly operators: readonly Family[];
  readonly packed: readonly Family[];
}

/** What the user did, with what is selected and searched for at that moment. */
export interface CatalogAction {
  readonly kind: "listing" | "open" | "run" | "search" | "select";
  readonly operator: string;
  readonly search: string;
  /** The form of the listing, or the page to open the example in (`source`, `run`). */
  readonly command?: string;
}

/** The page: the list, the sheet of what is selected, and the last run of its example. */
export interface CatalogPage {
  readonly catalog: Catalog;
  readonly sheet: Sheet | null;
  readonly tried: Tried | null;
  /** The name that was asked for and does not exist. */
  readonly unknown: string;
}

/** What the page says beside the model. */
export interface CatalogProps {
  readonly listing: Form;
  readonly height: string;
  /** Operator and search of a component that is there anew. */
  readonly start: readonly [string, string];
}

/** A change that did not fit, and why. */
export interface ChangeFault {
  readonly text: string;
  readonly problem: Problem;
}

/** A small label. */
export type Chip = readonly [text: string, tone: Tone];

/** For the debugger only: the program itself prints `<closure>`. */
export interface Closure {
  readonly function: string;
  readonly line: number;
  readonly captures: readonly Capture[];
}

/** A text with its tokens, nodes and problems. */
export interface Code {
  /** The whole text, exactly; the editor shows `lines` only while they belong to this text. */
  readonly text: string;
  /** One per line of `text`; empty if the text was not tokenised (then the editor does it roughly). */
  readonly lines: readonly CodeLine[];
  readonly ranges: readonly NodeRange[];
  readonly problems: readonly Problem[];
  readonly language: "plain" | "relay" | "tvmscript";
  /** File name or title of the pane. */
  readonly name: string;
  /** What the program defines, for completion and hovers. */
  readonly names: readonly NameFact[];
}

/** One line as shown; a long line may be cut into a numbered one and continuation lines. */
export interface CodeLine {
  readonly tokens: readonly Token[];
  /** Line number in the text; 0 for a continuation line (shown as an arrow) and for a header. */
  readonly number: number;
  /** Not part of the program (skipped), or never executed: shown in `text3`, without syntax colours. */
  readonly is_dim: boolean;
}

/** What the compiler did or did not; `words` has code between backticks, `part` is 0 if no line is meant. */
export type CompilerRemark = readonly [tone: Tone, word: string, words: string, part: number];

/** A copy between devices: the value, both devices, bytes (`None`: known only at run time), and why. */
export interface CopyRow {
  readonly function: string;
  readonly value: string;
  readonly source: string;
  readonly target: string;
  readonly size_bytes: number | null;
  readonly words: string;
  readonly line: number;
  /** The value that is copied. */
  readonly node: string;
  /** The node that wants the copy. */
  readonly user: string;
}

/** The graph of the function that runs, as the graph component is given it; stepping marks what is next. */
export interface Dataflow {
  readonly graph: Graph;
  readonly view: GraphProps;
  readonly selected: string;
}

/** A constraint that cannot hold, with the chains of both sides to what decided them. */
export interface DeviceConflict {
  readonly message: string;
  readonly left: string;
  readonly right: string;
  readonly left_chain: readonly DeviceReason[];
  readonly right_chain: readonly DeviceReason[];
  readonly line: number;
  readonly node: string;
}

/** The device of a node in a graph; "" is drawn grey. */
export type DeviceMark = readonly [node: string, device: string];

/** A link of a chain of reasons: a constraint, or, as the last link, what decides the device. */
export interface DeviceReason {
  readonly words: string;
  readonly line: number;
  readonly column: number;
  readonly node: string;
  /** Of the step of the analysis at which it was found. */
  readonly number: number;
}

/** Devices by function and variable, with copies, conflicts and visits. */
export interface DeviceReport {
  readonly default: string;
  /** In the order of first appearance; the default is among them if it is used. */
  readonly devices: readonly string[];
  readonly functions: readonly FunctionDevices[];
  readonly copies: readonly CopyRow[];
  readonly conflicts: readonly DeviceConflict[];
  /** Empty unless the analysis is the one as reported. */
  readonly visits: readonly VisitRow[];
}

/** A value and its device, "" if the analysis left it unconstrained. */
export interface DeviceRow {
  /** `%x` for a variable, `result` for the function's result. */
  readonly name: string;
  readonly role: "let" | "parameter" | "pattern" | "result";
  readonly device: string;
  readonly line: number;
  readonly node: string;
  /** The chain from the value to what decides; the first and last links of a long one. */
  readonly why: readonly DeviceReason[];
  /** How many links the whole chain has. */
  readonly link_count: number;
}

/** A step of the analysis: a constraint that joined values, fixed a device, or asked for a copy. */
export type DeviceStep = readonly [number: number, words: string, node: string, line: number];

/** What the user did. */
export interface DevicesAction {
  readonly kind: "function" | "select" | "visit";
  readonly node?: string;
  readonly function?: string;
  readonly visit?: number;
}

/** What the page says beside the model. */
export interface DevicesProps {
  readonly why: WhyDevice | null;
  readonly selected: string;
  readonly visit: number;
  readonly function: string;
  readonly height: string;
}

/** The Devices page: marks for the graphs of the source, the report, and the text of the debug print. */
export interface DevicesView {
  readonly report: DeviceReport;
  readonly marks: readonly DeviceMark[];
  readonly steps: readonly DeviceStep[];
  /** Of all steps; `steps` are the first ones. */
  readonly step_count: number;
  /** The module with `<cpu(0)>` behind its values, as TVM's debug print. */
  readonly code: Code;
  /** The pass with the options of the request: its stage is the module with copies. */
  readonly pipeline: string;
  readonly problems: readonly Problem[];
}

/** Two texts side by side, or one alone; whoever shows lines cuts them into tokens. */
export interface Diff {
  /** Such as `Before · Normalize`. */
  readonly before_title: string;
  /** Empty if it is the same text, which stands alone. */
  readonly after_title: string;
  readonly rows: readonly DiffRow[];
  readonly folds: readonly Fold[];
  readonly added_count: number;
  readonly removed_count: number;
  readonly changed_count: number;
  readonly moved_count: number;
  readonly is_unchanged: boolean;
  readonly language: "relay" | "tvmscript";
}

/** What the user did. */
export interface DiffAction {
  /** `line`: a part of the structure was chosen, which is to be shown in the text. */
  readonly kind: "line" | "rewrite" | "select" | "stage" | "tab";
  readonly node?: string;
  readonly line?: number;
  /** The view chosen, for `tab`. */
  readonly command?: "both" | "film" | "graph" | "remarks" | "rewrites" | "structure" | "text" | "values";
  readonly stage?: number;
  /** The rewrite to show, for `rewrite`; 0: the list of all. */
  readonly rewrite?: number;
  readonly is_left_out?: boolean;
}

/** What the page says beside the model. */
export interface DiffProps {
  /** Gives the head and the lists. */
  readonly detail: StageDetail | null;
  readonly tabs: readonly (readonly ["both" | "film" | "graph" | "remarks" | "rewrites" | "structure" | "text" | "values", string])[];
  readonly tab: "both" | "film" | "graph" | "remarks" | "rewrites" | "structure" | "text" | "values";
  /** Number, name, and whether the stage changed anything. */
  readonly stages: readonly (readonly [number, string, boolean])[];
  readonly problems: readonly Problem[];
  readonly stage: number;
  readonly height: string;
  readonly values: readonly ValueRow[];
  readonly values_note: string;
  readonly single: SingleRewrite | null;
  readonly structure: Structure | null;
  readonly max_height: string;
}

/** Two lines beside each other; None is drawn as a hatched filler. */
export type DiffRow = readonly [before: DiffSide | null, after: DiffSide | null];

/** One side of a row. */
export type DiffSide = readonly [
  number: number,
  mark: Mark,
  text: string,
  node: string,
  differing: readonly (readonly [number, number])[],
];

/** A symbolic dimension of a function, and where its types have it. */
export type Dimension = readonly [name: string, places: readonly (readonly [number, number])[]];

/** What the user did; `text` is the whole text at that moment. */
export interface EditorAction {
  readonly kind: "command" | "open" | "select" | "submit" | "tab" | "text";
  readonly text: string;
  readonly node?: string;
  /** The id of the tab or button. */
  readonly command?: string;
  /** The name of a file that was dropped onto the text. */
  readonly name?: string;
}

/** What the page says beside the text. */
export interface EditorProps {
  readonly tabs: readonly (readonly [string, string])[];
  readonly tab: string;
  readonly actions: readonly (readonly [string, string])[];
  readonly is_readonly: boolean;
  readonly height: string;
  /** A command: the line, and a number that is changed to go there again. */
  readonly go_line: readonly [number, number];
  /** Problems are held back: the list says so, and not that there are none. */
  readonly is_withheld: boolean;
  /** What the lines take; None shows nothing of it. */
  readonly heat: LineHeat | null;
  /** What names of this very text held last in a run of it. */
  readonly values: readonly LastValue[];
}

/** A further place of a diagnostic, with what is to be said of it. */
export interface Elsewhere {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** A line of the list; `id` names it in the address. */
export interface Entry {
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  readonly relay_name: string;
  readonly realized_by: string;
}

/** A retired instruction: where it stood, and what it did. */
export type Event = readonly [
  function: number,
  pc: number,
  line: number,
  depth: number,
  is_start: boolean,
  now: string,
  changes: readonly (Push | Pop | Write)[],
];

/** A label and its text; parts between backticks are code. */
export interface FactRow {
  readonly label: string;
  readonly text: string;
}

/** Entries of one subject. */
export interface Family {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** A field of a tuple or of a data value. */
export type Field = readonly [name: string, value: number];

/** A graph through all stages, laid out once. */
export interface Film {
  /** The union of all stages; without a picture it says why there is none. */
  readonly graph: Graph;
  readonly stages: readonly FilmStage[];
  readonly frames: readonly FilmFrame[];
  /** For each of the graph's nodes the number of its place; what a pass changes where it stands has several looks. */
  readonly places: readonly number[];
}

/** What the user did: selected a node, stays at a stage, or asks for the graph of one pass in place of the film. */
export interface FilmAction {
  readonly kind: "graph" | "select" | "stage";
  /** The stage that is shown. */
  readonly stage: number;
  /** The selected node as it is at that stage; empty if there is none. */
  readonly node?: string;
}

/** What the picture shows at a stage, and at those behind it that leave the graph as it is. */
export interface FilmFrame {
  readonly items: readonly FilmItem[];
}

/** A group of the picture that a frame shows: a node, an edge or a box. */
export type FilmItem = readonly [id: string, node: string, mark: Mark, is_gone: boolean];

/** What the page says beside the model. */
export interface FilmProps {
  readonly height: string;
}

/** A stage of the pipeline, the source being number 0. */
export type FilmStage = readonly [name: string, frame: number, is_changed: boolean, words: string];

/** A call on the time axis: from the event that enters it to the time after it returns. */
export type FlameSpan = readonly [label: string, start: number, end: number, depth: number, category: string];

/** A value that crosses the border of a region. */
export interface Flow {
  /** The parameter that takes it, such as `dnnl_0_i0`; for an output `0`, `1`, ... */
  readonly name: string;
  /** What gives it: a variable, an operator, a region; for an output the operator inside. */
  readonly source: string;
  readonly type: string;
  /** `None` if the size is known only at run time. */
  readonly size_bytes: number | null;
}

/** A long run of unchanged rows, shown as one line that expands: `rows[first : first + count]`. */
export type Fold = readonly [first: number, count: number];

/** A frame at the start of the window. */
export interface Frame {
  readonly function: number;
  readonly pc: number;
  readonly line: number;
  /** Index in `Run.values` per register; -1 or missing: not yet written. */
  readonly registers: readonly number[];
  readonly through: string;
}

/** A variable that PartitionGraph leaves unbound: the begin that it stands for has no end. */
export interface FreeVariable {
  readonly name: string;
  /** Empty if the begin is of no region. */
  readonly region: string;
  /** The begin, in the stage after MergeCompilerRegions. */
  readonly node: string;
  readonly line: number;
}

/** The devices of a function. One that is not `is_visited` was never reached, `hidden_by` says why. */
export interface FunctionDevices {
  readonly name: string;
  readonly rows: readonly DeviceRow[];
  readonly is_visited: boolean;
  readonly hidden_by: string;
  /** The number of the visit that was a memo hit. */
  readonly hidden_at: number;
  readonly line: number;
  readonly node: string;
}

/** A function of the executable. */
export interface FunctionInfo {
  readonly name: string;
  readonly line: number;
  /** Position i is register i. */
  readonly registers: readonly Register[];
  readonly dimensions: readonly Dimension[];
  /** The function of the source that it is, or was lifted out of; empty if a pass made it of nothing there. */
  readonly home: string;
}

/** An option that a pipeline gives. */
export interface GivenOption {
  readonly name: string;
  /** As its field shows it. */
  readonly shown: string;
  /** As the pipeline has it. */
  readonly literal: string;
}

/** A pass of a pipeline; `name` is as it is written there. */
export interface GivenPass {
  readonly name: string;
  /** The place of its pass among those that may be added. */
  readonly known: number;
  readonly given: readonly GivenOption[];
}

/** A laid-out graph. */
export interface Graph {
  readonly svg: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly legend: readonly LegendEntry[];
  /** Such as `@relax_func`; the aria label of the picture. */
  readonly title: string;
  /** Of the whole graph, folded nodes counted. */
  readonly node_count: number;
  readonly is_folded: boolean;
  readonly is_compare: boolean;
  /** The DOT text, for export; empty if there is none. */
  readonly dot: string;
  readonly empty_title: string;
  /** Shown with `empty_title` in place of the picture while `svg` is empty. */
  readonly empty_text: string;
  /** The groups that were opened, each with what it is called: they can be closed. */
  readonly opened: readonly (readonly [string, string])[];
  /** How many weights, constants and nodes that compute shapes there are outside folded groups. */
  readonly small_count: number;
  /** They are not drawn, but counted at their users. */
  readonly is_bare: boolean;
  /** The nodes that are not drawn; those of one box are in the order of the program. */
  readonly unseen: readonly UnseenNode[];
  readonly ways: readonly (readonly string[])[];
}

/** What the user did. */
export interface GraphAction {
  /** To reach is to select a node that is not drawn, and to have it drawn. */
  readonly kind: "close" | "command" | "open" | "reach" | "select" | "side" | "step" | "tab";
  /** The selected node, empty after Esc. */
  readonly node?: string;
  /** The id of the tab, step or button, or the name of the group to open or to fold. */
  readonly command?: string;
  readonly side?: Side;
  /** To be open for the node that is reached. */
  readonly groups?: readonly string[];
}

/** An edge between two `GraphNode.id`, for neighbours and keyboard moves. */
export type GraphEdge = readonly [source: string, target: string, kind: string, side: Side];

/** What the graph component knows of a node beside its picture. */
export interface GraphNode {
  /** The `id` attribute of the node's group in the SVG. */
  readonly id: string;
  /** Whole name, for the hover, the search and the aria label. */
  readonly title: string;
  readonly subtitle: string;
  /** Node selected by a click; in a compare graph the one after the pass, if there is one. */
  readonly node: string;
  /** Compare graph: the node before the pass. */
  readonly before_node: string;
  readonly line: number;
  readonly function: string;
  readonly side: Side;
  readonly mark: Mark;
  /** Name of the folded group that Enter opens; empty for a plain node. */
  readonly group: string;
  /** The error that the program has here, with its code; empty if there is none. */
  readonly fault: string;
  /** Of the variable that is bound here; empty if there is none. */
  readonly name: string;
  /** The title is the operator or the function that is called. */
  readonly is_call: boolean;
}

/** What the page says beside the picture; `Head` and `Marks` tell what each is. */
export interface GraphProps {
  readonly title: string;
  readonly note: string;
  readonly highlight: readonly string[];
  readonly current: string;
  readonly tabs: readonly (readonly [string, string])[];
  readonly tab: string;
  readonly steps: readonly (readonly [string, string])[];
  readonly step: string;
  readonly step_keys: boolean;
  readonly path: readonly (readonly string[])[];
  readonly colours: Readonly<Record<string, string>>;
  readonly colour_names: readonly (readonly [string, string])[];
  readonly actions: readonly (readonly [string, string])[];
  readonly can_be_bare: boolean;
  readonly height: string;
  readonly heat: LineHeat | null;
}

/** What a line takes, and so the node that it computes. */
export type HeatMark = readonly [level: number, short: string, words: string];

/** A window of two axes of a buffer: counts, ages or values, with where each cell is in five steps of colour. */
export interface HeatView {
  readonly buffer: string;
  readonly shape: readonly number[];
  /** The axis of the rows, and that of the columns; -1 where a buffer has no such axis. */
  readonly axes: readonly [number, number];
  /** The index in every axis, which counts in the axes that are not shown. */
  readonly fixed: readonly number[];
  readonly top: number;
  readonly left: number;
  readonly rows: number;
  /** How many rows and columns the window has. */
  readonly columns: number;
  /** What stands in each cell, row by row; none where the window has more cells than have room for text. */
  readonly texts: readonly string[];
  /** A step for each cell of the window, row by row: digits from 0 to 5. */
  readonly levels: string;
  /** What the steps from 1 to 5 mean. */
  readonly legend: readonly string[];
  readonly overview: string;
  readonly overview_rows: number;
  /** The whole plane, its steps taken together in blocks. */
  readonly overview_columns: number;
  readonly row_count: number;
  readonly column_count: number;
  /** How many elements of the whole buffer are touched. */
  readonly touched: number;
  /** How often, all together. */
  readonly counted: number;
  /** The greatest count, if counts are shown. */
  readonly most: number;
  /** The statement from which on is counted: not 0 only behind very many. */
  readonly since: number;
}

/** The histories of some expressions. */
export interface Histories {
  readonly rows: readonly History[];
  /** Of a long run every so many times are looked at, from the first on, and the last; 1: all of them. */
  readonly step: number;
}

/** An expression over a run: a reading for each time at which it changes. */
export interface History {
  readonly expression: string;
  readonly readings: readonly Reading[];
}

/** An element that the statement reads or writes. */
export interface InsideAccess {
  readonly buffer: string;
  readonly indices: readonly number[];
  readonly is_write: boolean;
  readonly is_inside: boolean;
  /** What it holds before the statement runs; empty if that is not known. */
  readonly value: string;
  /** What a write leaves there. */
  readonly after: string;
  /** The number of the element in memory, if it is out of range but inside of the memory. */
  readonly flat: number;
  readonly range_start: number;
  readonly range_end: number;
  /** The elements that the other lanes of the warp touch with it, counted as one row. */
  readonly others: readonly number[];
}

/** What the user did: `clock` is where the run stands; sent 250 ms after the last step. */
export interface InsideAction {
  readonly kind: "look" | "move" | "out" | "state" | "window";
  readonly clock: number;
  readonly text?: string;
  readonly name?: string;
}

/** An axis of the block around the statement. */
export interface InsideAxis {
  readonly name: string;
  readonly kind: string;
  readonly binding: string;
  readonly value: number;
  readonly extent: string;
}

/** A buffer of the kernel with memory of its own. */
export interface InsideBuffer {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly scope: string;
  readonly size_bytes: number;
  readonly is_parameter: boolean;
  readonly is_written: boolean;
}

/** A loop or a block of the kernel, in the order of the text; `depth` is how many are around it. */
export interface InsideLoop {
  readonly number: number;
  readonly name: string;
  /** `for`, `while` or `block`. */
  readonly kind: string;
  readonly depth: number;
  readonly line: number;
  /** Whether the statement that runs next is in it. */
  readonly is_around: boolean;
  readonly value: number;
  readonly start: number;
  /** Its values are from `start` to before `end`; equal if that is not known here. */
  readonly end: number;
  readonly step: number;
  readonly range_start: number;
  /** Where its text is. */
  readonly range_end: number;
}

/** What the page says beside the view. */
export interface InsideProps {
  /** Where the kernel is called, such as `main, time 3`. */
  readonly way: string;
  readonly heats: readonly HeatView[];
  readonly what: string;
  readonly spell: string;
  readonly loop: number;
  /** The line whose accesses are counted alone, 0 for all. */
  readonly line: number;
  readonly report: InsideReport | null;
  /** The GPU that was given for the report of a launch; empty for the default one. */
  readonly machine: string;
  /** The expressions that are watched, separated by semicolons. */
  readonly watch: string;
  /** Why the last move was none; empty if it was one. */
  readonly fault: string;
  readonly height: string;
}

/** What a kernel does to memory, access by access. */
export interface InsideReport {
  readonly kernel: string;
  readonly rows: readonly ReportRow[];
  readonly operations: number;
  /** Of all buffers, each element once. */
  readonly footprint_bytes: number;
  readonly moved_bytes: number;
  /** Accesses from the start among which reuse was looked for. */
  readonly looked_at: number;
  /** Whether all statements were counted, and not only the first ones of very many. */
  readonly is_whole: boolean;
  /** Of a kernel that launches threads, in place of the rows. */
  readonly launched: LaunchReport | null;
  /** Operations a second that this machine was measured to do; 0 if it was not. */
  readonly peak_operations: number;
  /** Bytes a second that it was measured to move behind its caches. */
  readonly peak_bytes: number;
}

/** What stands at one statement of a window. */
export interface InsideStop {
  readonly clock: number;
  readonly line: number;
  readonly range_start: number;
  readonly range_end: number;
  readonly phase: string;
  /** The number of the block around it among the loops and blocks, -1 if there is none. */
  readonly block: number;
  /** For each loop and block: its value, first value and end if the statement is in it and they are known, or none. */
  readonly loops: readonly (readonly number[])[];
  readonly axes: readonly InsideAxis[];
  readonly where: string;
  readonly lets: readonly (readonly [string, string])[];
  readonly accesses: readonly InsideAccess[];
  readonly sentence: string;
  readonly threads: ThreadsHere | null;
  /** The values of the expressions that are watched, in their order. */
  readonly watched: readonly string[];
}

/** The launch whose threads are stepped through, and what is chosen in it. */
export interface InsideThreads {
  /** How many blocks and threads it has. */
  readonly grid: string;
  readonly block: number;
  readonly block_count: number;
  readonly thread: number;
  readonly thread_count: number;
  readonly launch: number;
  readonly order: string;
  readonly here: ThreadsHere;
  /** The numbers of the statements with which something is wrong, as far as the run was followed. */
  readonly reported: readonly number[];
}

/** Where a run inside a kernel is: before statement `clock` of `total`, which is -1 if they are not counted. */
export interface InsideView {
  readonly kernel: string;
  readonly text: string;
  /** The line of the statement, 0 at the end. */
  readonly line: number;
  readonly range_start: number;
  readonly range_end: number;
  readonly clock: number;
  readonly total: number;
  readonly is_ended: boolean;
  /** Whether the move found what it looked for. */
  readonly is_found: boolean;
  readonly kind: string;
  readonly phase: string;
  readonly block: string;
  readonly loops: readonly InsideLoop[];
  readonly axes: readonly InsideAxis[];
  /** The predicate of the block, empty if it has none; it holds where a statement runs. */
  readonly where: string;
  readonly lets: readonly (readonly [string, string])[];
  readonly accesses: readonly InsideAccess[];
  readonly buffers: readonly InsideBuffer[];
  readonly sentence: string;
  /** The lines with statements. */
  readonly statement_lines: readonly number[];
  /** Why the run stops here. */
  readonly problem: string;
  readonly checkpoints: readonly number[];
  /** How long the move took. */
  readonly milliseconds: number;
  /** The text with its tokens, for a page, which then needs no `text`. */
  readonly lines: readonly CodeLine[];
  /** The statements before and behind this one, if they were asked for. */
  readonly stops: readonly InsideStop[];
  /** Of a launch: where its threads are. */
  readonly threads: InsideThreads | null;
  /** Expressions with their values before the statement runs; `-` where one of their names says nothing. */
  readonly watched: readonly (readonly [string, string])[];
}

/** All that is known of the selected node. */
export interface Inspector {
  readonly title: string;
  /** Draws the badge of this kind of value. */
  readonly kind: Kind | null;
  readonly chips: readonly Chip[];
  /** The first one has no title: Type, Device, Defined. */
  readonly sections: readonly Section[];
}

/** A link that the user followed, or a button. */
export interface InspectorAction {
  readonly kind: "command" | "go" | "line" | "select";
  readonly node?: string;
  readonly line?: number;
  readonly command?: string;
}

/** What the page says beside the model. */
export interface InspectorProps {
  readonly actions: readonly (readonly [string, string])[];
  readonly height: string;
  readonly is_drawer: boolean;
}

/** Label and value; `mark` and `detail` where the section's layout shows them. */
export interface InspectorRow {
  readonly label: string;
  readonly value: readonly Part[];
  /** Muted text at the right (table) or after the label (life). */
  readonly detail: string;
  /** Life: the sign of the step; None is a bullet. */
  readonly mark: Mark | null;
}

/** A line of the listing: a header such as `@main:`, an empty line, or an instruction. */
export type InstructionLine = readonly [text: string, pc: number, line: number];

/** Where each command leads: entry `t - first_event` is the time after the command at time `t`. */
export interface Jumps {
  readonly into: readonly number[];
  readonly over: readonly number[];
  readonly out: readonly number[];
  /** Undoes `into`. */
  readonly back: readonly number[];
  /** Undoes `over`: to the previous step of this frame or its caller. */
  readonly back_over: readonly number[];
}

/** What the browser had kept. */
export interface KeeperAction {
  readonly kind: "kept";
  readonly text?: string;
}

/** What the page says beside the model. */
export interface KeeperProps {
  readonly height: string;
}

/** What the browser is to keep; empty while the page does not know what it has. */
export interface Kept {
  readonly text: string;
  readonly name: "class" | "progress";
  /** Whether it is kept for this tab alone, and no longer than that is open. */
  readonly is_of_tab: boolean;
}

/** A line of one of the forms; `part` is the number of the part that it belongs to, 0 if there is none. */
export type KernelLine = readonly [tokens: readonly Token[], number: number, part: number, others: readonly number[]];

/** Statements of one line of TIR, or the checks of its accesses; `words` has code between backticks. */
export type KernelPart = readonly [
  number: number,
  words: string,
  line: number,
  colour: string,
  origins: readonly number[],
];

/** A symbol of the kernel's shapes; `value` is -1 while it may be anything. */
export type KernelSize = readonly [name: string, value: number];

/** A transformation that took part in a kernel, or is switched off. */
export type KernelStep = readonly [name: string, summary: string, is_off: boolean];

/** One form of the kernel. */
export interface KernelText {
  readonly title: string;
  readonly lines: readonly KernelLine[];
  /** All of it, for copying. */
  readonly text: string;
  readonly instruction_count: number;
}

/** All that the page shows of a kernel; `kernels` are those of the program. */
export interface KernelView {
  readonly name: string;
  readonly kernels: readonly string[];
  readonly tir: KernelText;
  readonly lowered: KernelText;
  readonly optimised: KernelText;
  readonly assembly: KernelText;
  readonly parts: readonly KernelPart[];
  readonly remarks: readonly CompilerRemark[];
  readonly accesses: readonly AccessRow[];
  readonly sizes: readonly KernelSize[];
  readonly seconds: number;
  /** The processor that the machine code is for. */
  readonly target: string;
  readonly steps: readonly KernelStep[];
  /** The lines whose operators the kernel computes, fused ones included, or that call it. */
  readonly origins: readonly SourceLine[];
}

/** What the user did: selected a part, 0 for none, or another form of the IR, or asked for a line. */
export interface KernelsAction {
  readonly kind: "form" | "line" | "part";
  readonly part?: number;
  readonly form?: "lowered" | "optimised";
  readonly line?: number;
}

/** What the page says beside the model. */
export interface KernelsProps {
  readonly part: number;
  readonly form: "lowered" | "optimised";
  readonly height: string;
}

/** A pass that a pipeline may have. */
export interface KnownPass {
  readonly name: string;
  readonly dialect: string;
  readonly summary: string;
  readonly options: readonly PassOption[];
}

/** What a variable was given last in a run. */
export type LastValue = readonly [
  variable: string,
  line: number,
  type: string,
  short: string,
  summary: string,
  function: string,
  time: number,
];

/** What all launches of a kernel do to memory, access by access. */
export interface LaunchReport {
  readonly kernel: string;
  /** The grids, such as `2 blocks of 256 threads`. */
  readonly launches: readonly string[];
  readonly rows: readonly LaunchRow[];
  /** Of global memory, each element once. */
  readonly footprint_bytes: number;
  readonly roofline: RooflineOf;
}

/** The accesses of one statement to one memory in one direction, by all threads. */
export interface LaunchRow {
  readonly buffer: string;
  /** `global`, `shared` or `warp`. */
  readonly scope: string;
  readonly line: number;
  readonly text: string;
  readonly is_write: boolean;
  readonly count: number;
  /** Different elements; of shared memory one block has them. */
  readonly footprint: number;
  readonly asked_bytes: number;
  /** Whole sectors of global memory; bytes of shared memory as often as banks are asked for them. */
  readonly moved_bytes: number;
  /** Of global memory: how many sectors of 32 bytes a warp moves in the mean. */
  readonly sectors: number;
  /** Of global memory: which part of the bytes that are moved was asked for. */
  readonly used: number;
  /** Of shared memory: the largest number of words that lanes wanted of one bank at once; 1 is none. */
  readonly conflict: number;
}

/** A sign and what it means. */
export interface LegendEntry {
  /** A token of a category (`cat0`, `catNone`: its symbol in its colour), a `Mark` or `error` (its sign), or a line: `line`, `dash`, `dot`. */
  readonly sign: string;
  readonly text: string;
}

/** One way to treat lets, tried on the same program. */
export interface LetsWay {
  readonly lets: Lets;
  readonly region_count: number;
  readonly open_begin_count: number;
  /** Such as `2 functions`, `2 free variables`. */
  readonly result: string;
  /** What it keeps or loses, or the names of the free variables. */
  readonly detail: string;
  readonly tone: Tone;
  readonly free_variables: readonly string[];
  readonly is_current: boolean;
}

/** What the lines of a program take of a quantity; a line without a mark has no figure. */
export interface LineHeat {
  /** The quantity with its unit, such as `Time, µs`. */
  readonly title: string;
  /** What the levels are, such as `linear, to 48.2 µs`. */
  readonly scale: string;
  /** What is counted how, and what is blank. */
  readonly note: string;
  readonly lines: readonly (readonly [number, HeatMark])[];
  /** Of each line the binding, or the call, that begins in it first. */
  readonly nodes: readonly (readonly [string, HeatMark])[];
}

/** A message of a logpoint. */
export interface Logged {
  readonly time: number;
  /** Line of the source that is about to run; 0 for none. */
  readonly line: number;
  /** With values in place of its expressions; of one that has none, why not, in `<>`. */
  readonly text: string;
  /** An expression has no value then. */
  readonly is_fault: boolean;
}

/** What logpoints write over a run, in the order of time. */
export interface Logs {
  readonly messages: readonly Logged[];
  /** Of all messages: those behind the first 1,000 are left out. */
  readonly count: number;
  /** Why they are not known, if so. */
  readonly fault: string;
}

/** A tensor: held from time `start` to time `end`. `first_write` and `last_use` are events, -1 for none. */
export type MemoryBox = readonly [
  label: string,
  start: number,
  end: number,
  first_write: number,
  last_use: number,
  size_bytes: number,
  offset: number,
  line: number,
  note: string,
  is_faulty: boolean,
];

/** A tensor that was used after its storage had been reused. */
export interface MemoryFault {
  readonly message: string;
  /** The event that overwrote its bytes. */
  readonly write: number;
  /** The later event that read them. */
  readonly read: number;
  readonly line: number;
}

/** A storage, or the memory of a tensor that is in none. */
export type MemoryRow = readonly [
  label: string,
  kind: string,
  size_bytes: number,
  start: number,
  end: number,
  boxes: readonly MemoryBox[],
  note: string,
];

/** The memory of a run; `sizes[i]` bytes are taken from `times[i]` on. */
export interface MemoryView {
  readonly rows: readonly MemoryRow[];
  readonly times: readonly number[];
  readonly sizes: readonly number[];
  readonly peak_bytes: number;
  readonly peak_time: number;
  /** Events of the run. */
  readonly total: number;
  readonly summary: string;
  readonly faults: readonly MemoryFault[];
  /** What is left out. */
  readonly note: string;
}

/** A text in the place of another one, after which a problem is no more; in place of nothing it is inserted. */
export interface Mend {
  readonly text: string;
  /** What is offered, such as `Replace with R.nn.relu`. */
  readonly title: string;
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  readonly end_column: number;
}

/** A name that a program defines, as it is written there (`x`, `%x`, `@main`). */
export type NameFact = readonly [
  name: string,
  kind: NameKind,
  type: string,
  line: number,
  column: number,
  first: number,
  last: number,
];

/** What a browser hears of its class. */
export interface News {
  readonly words: string;
  /** Differs when a page that shows the class has to be made anew; empty when there is no class any more. */
  readonly mark: string;
}

/** There are news; hearing of it has the page made anew. */
export interface NewsAction {
  readonly kind: "news";
}

/** What the page knew when it was made, and whom it asks as. */
export interface NewsModel {
  readonly asker: Asker;
  readonly news: News;
  /** How often it asks. */
  readonly seconds: number;
}

/** What the page says beside the model. */
export interface NewsProps {
  readonly height: string;
}

/** The text of one node; ranges nest, and the smallest one around the caret is selected. */
export type NodeRange = readonly [node: string, line: number, column: number, end_line: number, end_column: number];

/** A call of an operator that a region holds or leaves out, and the line of the user's text that it stems from. */
export interface OperatorCall {
  readonly operator: string;
  /** 0 if it stems from no line. */
  readonly line: number;
  /** The call, or the composite that it stands in. */
  readonly node: string;
}

/** A line that the program printed. */
export type OutputLine = readonly [time: number, text: string, line: number];

/** Two neighbouring regions of one target that stayed apart, and the one reason. */
export interface PairRow {
  readonly function: string;
  readonly target: string;
  readonly producer: string;
  readonly user: string;
  readonly kind: "another target" | "blocking path" | "branch" | "effect" | "failed pattern" | "let" | "multi-output rule" | "not merged yet" | "predicate" | "unsupported operator";
  readonly message: string;
  /** Names along the way, both regions included: `dnnl 0`, `tanh`, `dnnl 4`. */
  readonly path: readonly string[];
  /** What stands between, to be marked as the blocking path. */
  readonly nodes: readonly string[];
}

/** The user chose somewhere to go. */
export interface PaletteAction {
  readonly kind: "document" | "lesson" | "page" | "sample";
  readonly name: string;
}

/** What the page says beside the model. */
export interface PaletteProps {
  readonly height: string;
}

/** Somewhere to go: a page by its noun, a sample by its path, a lesson by its name, a document by its path. */
export type PaletteTarget = readonly [kind: "document" | "lesson" | "page" | "sample", name: string, label: string];

/** Where the palette leads; what can be done on the page it reads off the page. */
export interface PaletteTargets {
  readonly targets: readonly PaletteTarget[];
}

/** A piece of an inspector's text; with a target it is a link. */
export interface Part {
  readonly text: string;
  readonly style: "" | "code" | "muted" | "strong";
  readonly syntax: Syntax;
  /** Link: selects this node. */
  readonly node: string;
  /** Link: goes to this line of the source. */
  readonly line: number;
  /** Link to another page: `run/PC` to the first time of an instruction, `kernel/LINE/NAME` to what it computes. */
  readonly go: string;
  /** Draws the symbol of this category (`cat0`) before the text. */
  readonly category: string;
}

/** One of the four passes: a step of the scrubber. `stage` is its number in the program's pipeline. */
export interface PartitionStage {
  readonly stage: number;
  readonly name: string;
  readonly is_changed: boolean;
  /** Such as `2 regions · 7 begins · 2 ends`, `2 composites`, `2 external functions`. */
  readonly summary: string;
  readonly regions: readonly RegionMark[];
  readonly remarks: readonly string[];
  readonly problems: readonly Problem[];
  readonly seconds: number;
}

/** The Partition page: four stages, and the tables beside the graph. */
export interface PartitionView {
  /** The four passes with their options: with it in `Program.pipeline`, `GraphOf` and `StageOf` show the stages. */
  readonly pipeline: string;
  /** In the order of first appearance. */
  readonly targets: readonly string[];
  readonly stages: readonly PartitionStage[];
  /** Of the module after MergeCompilerRegions; ids are of that stage. */
  readonly report: RegionReport;
  readonly ways: readonly LetsWay[];
  readonly patterns: readonly PatternRow[];
  readonly markdown: string;
  readonly json: string;
  /** Of the result: free variables among them. */
  readonly problems: readonly Problem[];
  /** Of the result, each with the region whose begin it stands for. */
  readonly free_variables: readonly FreeVariable[];
  /** Without lets the five ways are one. */
  readonly has_lets: boolean;
}

/** An option of a pass, from the table of its pass. */
export interface PassOption {
  readonly name: string;
  readonly kind: "choice" | "flag" | "list" | "literal" | "number" | "text";
  /** As its field shows it. */
  readonly default: string;
  readonly choices: readonly string[];
}

/** A place where a pattern fits, or came far and does not. */
export interface PatternMatch {
  readonly is_match: boolean;
  /** The operator or callee. */
  readonly what: string;
  readonly arguments: string;
  /** `4 of 6` for a pattern that is a choice. */
  readonly alternative: string;
  /** Of a miss. */
  readonly reason: string;
  /** Ids in the source (stage 0), the root first. */
  readonly nodes: readonly string[];
  readonly line: number;
}

/** A pattern of the table with its matches; the nearest miss if there is none. */
export interface PatternRow {
  readonly name: string;
  readonly text: string;
  readonly match_count: number;
  readonly places: readonly PatternMatch[];
}

/** The stages, the source being number 0. */
export interface Pipeline {
  readonly stages: readonly Stage[];
  readonly seconds: number;
  /** The pipeline as a user writes it. */
  readonly text: string;
}

/** What the user did. */
export interface PipelineAction {
  readonly kind: "command" | "stage";
  readonly stage?: number;
  /** The id of a button; `view` for the key `d`: next of text, graph, both. */
  readonly command?: string;
}

/** A pipeline as a list; with problems its text cannot be read, and the list is empty. */
export interface PipelineForm {
  readonly text: string;
  readonly steps: readonly GivenPass[];
  readonly passes: readonly KnownPass[];
  readonly problems: readonly Problem[];
}

/** What the page says beside the model; `has_views` tells whether it shows a stage as text, graph or both. */
export interface PipelineProps {
  readonly actions: readonly (readonly [string, string])[];
  readonly verdicts: readonly StageVerdict[];
  readonly suspects: readonly number[];
  readonly conclusion: string;
  readonly height: string;
  readonly has_views: boolean;
  readonly has_sides: boolean;
}

/** Where a breakpoint with a condition stops. */
export interface PointHits {
  readonly point: Breakpoint;
  /** How often the run comes by its place. */
  readonly met: number;
  /** How often the condition holds there. */
  readonly stops: number;
  /** The first time that it stops; -1 for none. */
  readonly first: number;
  /** When it stops, within the window that was asked for. */
  readonly times: readonly number[];
  /** Why the condition cannot be read, or had no value at a hit; its columns are those of the condition. */
  readonly problem: Problem | null;
  /** At how many hits it had no value. */
  readonly problem_count: number;
}

/** The top frame is left. */
export type Pop = readonly [tag: "pop"];

/** A diagnostic with its place in the text. */
export interface Problem {
  readonly severity: Severity;
  /** Such as `TY012`. */
  readonly code: string;
  /** One sentence; parts between backticks are shown as code. */
  readonly message: string;
  readonly hint: string;
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  readonly end_column: number;
  /** The paragraph of `codes.py`, shown on demand. */
  readonly explanation: string;
  readonly node: string;
  /** The line of another text than the program's that the place is in: of the pipeline. */
  readonly excerpt: string;
  readonly related: readonly Elsewhere[];
  /** What mends the program, if that is known. */
  readonly mend: Mend | null;
}

/** A frame is entered; its registers are unwritten until the writes that follow. */
export type Push = readonly [tag: "push", function: number, through: string];

/** What an expression is from a time on, until the next reading. */
export interface Reading {
  readonly time: number;
  readonly text: string;
  /** Of a truth value, a number or a tensor of one element, if it is finite. */
  readonly number: number | null;
  /** It has no value then; the text says why. */
  readonly is_fault: boolean;
}

/** A region as a graph shows it: a cluster, with begin and end ports. */
export interface RegionMark {
  readonly name: string;
  readonly function: string;
  readonly target: string;
  readonly number: number;
  /** What it holds, annotations left out. */
  readonly nodes: readonly string[];
  readonly begins: readonly string[];
  readonly ends: readonly string[];
  readonly is_open: boolean;
}

/** What a module's regions are, what crosses their borders, and what is left out. */
export interface RegionReport {
  readonly regions: readonly RegionRow[];
  readonly pairs: readonly PairRow[];
  readonly unsupported: readonly Unsupported[];
  readonly operator_count: number;
  readonly offloaded_count: number;
  /** What is odd about the table, in sentences. */
  readonly notes: readonly string[];
}

/** A region, or the external function that it became. */
export interface RegionRow {
  /** `dnnl 0`, or the external function's name; pairs name it so. */
  readonly name: string;
  readonly function: string;
  readonly target: string;
  /** In the order of evaluation; a composite by its name, with what it holds: `dnnl.conv_relu: nn.conv2d nn.relu`. */
  readonly operators: readonly string[];
  readonly operator_count: number;
  readonly inputs: readonly Flow[];
  readonly outputs: readonly Flow[];
  /** Literals that stand inside: they do not cross at run time. */
  readonly constants: readonly Flow[];
  /** Of the inputs whose size is known. */
  readonly input_bytes: number;
  readonly output_bytes: number;
  /** The function that PartitionGraph makes of it, empty if that is not known. */
  readonly external: string;
  /** A begin has no end. */
  readonly is_open: boolean;
  readonly nodes: readonly string[];
  /** Of the operators, those inside composites included. */
  readonly places: readonly OperatorCall[];
}

/** What the user did. */
export interface RegionsAction {
  readonly kind: "add" | "lets" | "line" | "match" | "pattern" | "remove" | "revert" | "select" | "show" | "support" | "through" | "unsupport";
  /** The pair to show, -1 for none; the pattern; the line of the text. */
  readonly index?: number;
  /** The way to treat lets; the name of the pattern; the target that is to take an operator, or not to. */
  readonly command?: string;
  readonly node?: string;
  readonly function?: string;
  /** The pattern as it is to be; operators, separated by commas. */
  readonly text?: string;
}

/** What the page says beside the model; `regions` tells what each is. */
export interface RegionsProps {
  readonly shown: number;
  readonly selected: string;
  readonly patterns: readonly (readonly [string, string])[];
  readonly supported: readonly (readonly [string, readonly string[]])[];
  readonly problems: readonly Problem[];
  readonly edited: boolean;
  readonly height: string;
}

/** A register of a function, written or not. */
export interface Register {
  /** Such as `%3`. */
  readonly name: string;
  /** The variable it holds, such as `v`; empty for a temporary. */
  readonly variable: string;
  /** Shown while it is not yet written. */
  readonly type: string;
  /** Line that binds the variable (of the `def` for a parameter); its value is shown after that line. */
  readonly line: number;
  readonly node: string;
  readonly is_parameter: boolean;
  /** A temporary that is shown only when stepping by instruction. */
  readonly is_hidden: boolean;
}

/** What a pass says about itself. */
export interface Remark {
  readonly number: number;
  readonly kind: "applied" | "missed" | "note";
  readonly message: string;
  readonly nodes: readonly string[];
  readonly line: number;
}

/** The accesses of one statement to one buffer in one direction, over the whole run. */
export interface ReportRow {
  readonly buffer: string;
  readonly line: number;
  readonly phase: string;
  readonly is_write: boolean;
  readonly count: number;
  /** Different elements. */
  readonly footprint: number;
  /** Different elements in one iteration of each loop, from the outermost: its first one. */
  readonly per_loop: readonly (readonly [string, number])[];
  /** How far apart in memory neighbours in the innermost loop are, in elements. */
  readonly stride: string;
  /** How many other elements are touched between two touches of one: the median, of what was looked at. */
  readonly reuse: string;
  /** Bytes that are moved, were there no cache. */
  readonly size_bytes: number;
  readonly footprint_bytes: number;
  /** Different lines of a cache, of 64 bytes. */
  readonly lines: number;
}

/** A replacement that a pass made. */
export interface Rewrite {
  readonly number: number;
  readonly before: string;
  readonly after: string;
  readonly rule: string;
  readonly node: string;
  readonly before_node: string;
  readonly line: number;
  /** It is the application of a rule, and can be made, or left out, on its own. */
  readonly is_single: boolean;
}

/** What simulated launches are bound by on a machine, in operations and bytes. */
export interface RooflineOf {
  readonly machine: string;
  readonly operations: number;
  readonly global_bytes: number;
  readonly moved_bytes: number;
  readonly shared_bytes: number;
  readonly intensity: number;
  /** `operations`, `global memory` or `shared memory`. */
  readonly bound: string;
  /** Operations a second at most. */
  readonly attainable: number;
  /** What they take at least, with its unit. */
  readonly least_time: string;
  readonly text: string;
  /** How many seconds each part takes at least. */
  readonly parts: readonly (readonly [string, number])[];
  /** Operations a second of the machine. */
  readonly peak: number;
}

/** A window of at most 5,000 events of a recorded run. */
export interface Run {
  /** Identifies the run (module, inputs, window): the component keeps its state while this stays. */
  readonly revision: string;
  /** What the source shows, such as `module after LambdaLift`. */
  readonly title: string;
  readonly source: readonly CodeLine[];
  readonly instructions: readonly InstructionLine[];
  readonly functions: readonly FunctionInfo[];
  readonly first_event: number;
  /** Events of the whole run (so far, if it was stopped by a limit); times go from 0 to `total`. */
  readonly total: number;
  /** The stack at time `first_event`, oldest first; frames far below all that run in the window have no registers. */
  readonly frames: readonly Frame[];
  readonly events: readonly Event[];
  readonly values: readonly Value[];
  readonly by_binding: Jumps;
  readonly by_instruction: Jumps;
  /** Over the whole run; presenters cut to the 500 longest. */
  readonly flame: readonly FlameSpan[];
  /** Of the whole run, in order. */
  readonly output: readonly OutputLine[];
  /** Executed before `first_event`. */
  readonly executed_lines: readonly number[];
  readonly executed_pcs: readonly number[];
  readonly outcome: "error" | "limit" | "returned";
  /** The sentence after `Now:` at time `total`, such as "`main` returned `z`, void.". */
  readonly end: string;
  /** Why the run ended, if it did not return; it belongs to time `total`. */
  readonly problem: Problem | null;
  /** The instruction that did not retire, if the run did not return. */
  readonly stop_pc: number;
  readonly stop_line: number;
  /** The instructions that call a kernel, which a step may go into. */
  readonly kernel_pcs: readonly number[];
  /** What the host did besides setting values: which calls were not made, and which functions were replaced. */
  readonly interventions: readonly string[];
}

/** A parameter: type, default as text (empty: none), and further constraints. */
export interface SchemaRow {
  readonly name: string;
  readonly type: string;
  readonly default: string;
  readonly notes: readonly string[];
}

/** A titled part of the inspector, such as Dimensions, Used by, Why, Life of this node, Text. */
export interface Section {
  readonly title: string;
  /** pairs: label and value; table: value and detail; life: mark, label, detail; text and code: values only. */
  readonly layout: "code" | "life" | "pairs" | "table" | "text";
  readonly rows: readonly InspectorRow[];
}

/** All that is known of an operator or a packed function. */
export interface Sheet {
  readonly id: string;
  readonly name: string;
  readonly summary: string;
  readonly call: Code;
  readonly chips: readonly string[];
  readonly params: readonly SchemaRow[];
  readonly facts: readonly FactRow[];
  readonly example: Code | null;
  /** Path of the sample that `example` is; empty if it is made for the operator. */
  readonly sample: string;
  readonly has_listing: boolean;
  /** What the example is lowered to; without one, `listing_note` says why. */
  readonly listing: Code | null;
  readonly listing_note: string;
}

/** A value as text. */
export interface Shown {
  readonly name: string;
  readonly kind: Kind;
  readonly type: string;
  readonly text: string;
}

/** The rewrite whose texts are shown, and the `numbers` of those that can be. */
export interface SingleRewrite {
  readonly number: number;
  readonly rule: string;
  readonly numbers: readonly number[];
  readonly problems: readonly Problem[];
  readonly is_left_out: boolean;
}

/** A line of the user's text that a kernel computes a part of. */
export type SourceLine = readonly [number: number, text: string];

/** A line of the pipeline list. */
export interface Stage {
  readonly index: number;
  readonly name: string;
  readonly is_changed: boolean;
  readonly added_count: number;
  readonly removed_count: number;
  /** Replaces the counts, such as `attrs`; empty otherwise. */
  readonly change: string;
  /** Negative if there is no time to show (the source itself). */
  readonly seconds: number;
  readonly remark_count: number;
  readonly rewrite_count: number;
  readonly node_count: number;
  readonly problems: readonly Problem[];
  /** How many passes it ran inside of. */
  readonly depth: number;
  /** The number to show, if its recording counts otherwise than `index` does. */
  readonly label: string;
  /** What its problems come to, in two words; empty: the pass failed. */
  readonly mark: string;
}

/** The middle and the right of the Passes page for one stage. */
export interface StageDetail {
  readonly name: string;
  /** Such as `1 function lifted, 1 value captured`. */
  readonly summary: string;
  /** The first of them, if there are very many. */
  readonly rewrites: readonly Rewrite[];
  readonly remarks: readonly Remark[];
  /** How many there are. */
  readonly rewrite_count: number;
}

/** What came of running the module after a stage; `follows` is the stage that it only repeats, or -1. */
export type StageVerdict = readonly [
  stage: number,
  verdict: "reference" | "different" | "not comparable" | "same" | "stops alike",
  words: string,
  follows: number,
];

/** A number about a tensor: of the plane that is shown, and of all its elements. */
export interface Statistic {
  readonly name: string;
  readonly plane: string;
  readonly whole: string;
}

/** Where the user is; sent 250 ms after the last step. */
export interface StepperAction {
  readonly kind: "change" | "explain" | "graph" | "inside" | "need" | "select" | "state" | "tab" | "tensor" | "watch";
  readonly at: number;
  readonly by: "binding" | "instruction";
  readonly breakpoints?: readonly Breakpoint[];
  /** The cursor: a line that was clicked. */
  readonly line?: number;
  readonly node?: string;
  readonly command?: string;
  readonly to?: number;
  /** A change, such as `x[0] = 0.5`, of the frame at `depth`; `content` is its file in base64. */
  readonly text?: string;
  readonly depth?: number;
  readonly is_in_place?: boolean;
  readonly content?: string;
  readonly names?: readonly string[];
  /** What `tensor` asks to see of a tensor. */
  readonly tensor?: TensorAsked | null;
  /** What the user did in the graph. */
  readonly graph?: GraphAction | null;
}

/** What the page says beside the run. */
export interface StepperProps {
  readonly tabs: readonly (readonly [string, string])[];
  readonly tab: string;
  readonly height: string;
  readonly hits: readonly PointHits[];
  readonly fault: ChangeFault | null;
  /** Why no value can be changed; empty if one can. */
  readonly fixed: string;
  readonly memory: MemoryView | null;
  readonly tensor: TensorShown | null;
  readonly watched: Watched | null;
  /** What the logpoints write over the run; None if there are none. */
  readonly logs: Logs | null;
  /** The last time that may be shown; -1 if all may. */
  readonly until: number;
  /** What the lines take; None shows nothing of it. */
  readonly heat: LineHeat | null;
  /** What the tab `graph` shows. */
  readonly dataflow: Dataflow | null;
}

/** The user changed the pipeline: it is now this text. */
export interface StepsAction {
  readonly kind: "text";
  readonly text: string;
}

/** What the page says beside the model. */
export interface StepsProps {
  readonly max_height: string;
}

/** What became of the parts of a module. */
export interface Structure {
  /** The first of them, if there are very many. */
  readonly rows: readonly StructureRow[];
  /** How many rows there are of each kind that there is. */
  readonly counts: readonly (readonly [string, number])[];
  /** Such as `no structural change: only names differ` or `1 changed, 2 added`. */
  readonly conclusion: string;
  /** Nothing but names of variables differs. */
  readonly is_same: boolean;
}

/** What became of a part of a module. */
export interface StructureRow {
  readonly kind: "added" | "changed" | "moved" | "removed" | "renamed";
  /** Such as `binding` or `loop`. */
  readonly part: string;
  readonly function: string;
  /** Its name behind, or before if it is gone: `lv → y` where that is another one; what it computes if it has none. */
  readonly name: string;
  /** What of it changed, or where it moved. */
  readonly details: readonly string[];
  /** Its line in the text before, 0 if it has none. */
  readonly before_line: number;
  readonly line: number;
  readonly node: string;
  readonly before_node: string;
  /** How well founded it is that the two are the same part. */
  readonly confidence: "guess" | "likely" | "sure";
}

/** A heat table of a tensor, or of its first part. */
export interface Tensor {
  readonly row_count: number;
  readonly column_count: number;
  /** Row by row, `row_count * column_count` formatted numbers; presenters cut to at most 12 by 12. */
  readonly cells: readonly string[];
  /** 0 to 100 per cell, place between minimum and maximum; -1 for NaN and infinities. */
  readonly heat: readonly number[];
  readonly minimum: string;
  readonly maximum: string;
  readonly nan_count: number;
  /** Such as `first 12 x 12 of (1024, 1024)`; empty if all cells are shown. */
  readonly cut: string;
}

/** The part of a tensor that is looked at, as in `TensorOf`. */
export interface TensorAsked {
  readonly expression: string;
  readonly depth: number;
  readonly axes: readonly number[];
  readonly fixed: readonly number[];
  readonly top: number;
  readonly left: number;
  /** What it is compared with: a time, or one of `TensorShown.choices`; empty for nothing. */
  readonly other: string;
  readonly measure: "absolute" | "relative" | "ulp" | "value";
  readonly search: string;
}

/** How the elements of a tensor differ from those of another one. */
export interface TensorDifference {
  /** When the other one was looked at; -1 for one that is of no time. */
  readonly time: number;
  /** Such as `3 of 6 elements differ`, or why the two cannot be compared. */
  readonly words: string;
  /** The largest differences, each with its measure. */
  readonly rows: readonly (readonly [string, string])[];
  /** How many elements are how many units in the last place apart. */
  readonly bands: readonly (readonly [string, number])[];
  /** Where the largest absolute difference is; empty if none differs. */
  readonly largest: readonly number[];
  /** What the other one is; empty for the same name at another time of the run. */
  readonly name: string;
}

/** A tensor as it was asked for, or why there is none. */
export interface TensorShown {
  readonly asked: TensorAsked;
  readonly view: TensorView | null;
  readonly fault: string;
  /** What it can be compared with besides times, each with its name. */
  readonly choices: readonly (readonly [string, string])[];
}

/** A window of the plane that two axes of a tensor span, at a time of a run. */
export interface TensorView {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly time: number;
  readonly size_bytes: number;
  /** The axes of the rows and of the columns: none of a tensor of rank 0, only that of the columns of a vector. */
  readonly axes: readonly number[];
  /** The index in every axis; those in `axes` do not count. */
  readonly fixed: readonly number[];
  readonly top: number;
  readonly left: number;
  readonly rows: number;
  readonly columns: number;
  readonly row_count: number;
  readonly column_count: number;
  /** What the cells of the window show, row by row. */
  readonly cells: readonly string[];
  /** How far each is between the least and the largest number that is shown, in per cent; -1 for no finite number. */
  readonly heat: readonly number[];
  /** A letter for each cell: `n` NaN, `i` infinity, `d` denormal, `z` zero, `.` any other number. */
  readonly marks: string;
  /** The window as an expression in NumPy that has the same bits, but for those of NaN. */
  readonly numpy: string;
  /** The whole plane in small, as in `marks`: a letter says the rarest kind in its block, in that order. */
  readonly map: string;
  readonly map_rows: number;
  readonly map_columns: number;
  readonly statistics: readonly Statistic[];
  readonly histogram: readonly Bin[];
  /** Which elements were looked at, of a tensor that is too large for all; empty for all. */
  readonly sampling: string;
  readonly measure: "absolute" | "relative" | "ulp" | "value";
  readonly difference: TensorDifference | null;
  /** The element that a search came to; empty if it found none. */
  readonly found: readonly number[];
  /** What the search came to, in words; empty if nothing was searched for. */
  readonly search: string;
}

/** A word: how it is written, and what it means. */
export interface Term {
  readonly name: string;
  readonly kind: TermKind;
  /** Of an operator: how it is called. */
  readonly signature: string;
  /** Parts between backticks are code. */
  readonly summary: string;
  /** What a call may give by name, each with its default (`axis=-1`). */
  readonly keywords: readonly string[];
}

/** Threads that stand at one place in one way. */
export interface ThreadGroup {
  /** `runs` the statement that is next, is `ready` for one of its own, `waits` at a barrier, is `off` while others of its warp take a branch, or has `ended`. */
  readonly state: string;
  /** Their numbers in the block, such as `0-31, 64-95`. */
  readonly threads: string;
  readonly count: number;
  /** The line of what they run next, of the barrier, or of the condition; 0 at the end. */
  readonly line: number;
  readonly text: string;
}

/** Where the threads of a block are, before one of its warps runs a statement. */
export interface ThreadsHere {
  /** A letter for each thread: r runs, g ready, w waits, o off, e ended. */
  readonly states: string;
  readonly groups: readonly ThreadGroup[];
  /** The warp that runs the statement. */
  readonly warp: number;
  /** The thread of the block whose loops, variables and accesses are told: the chosen one if it takes part. */
  readonly shown: number;
  /** What is wrong with the statement. */
  readonly told: readonly string[];
  /** What its accesses of memory cost the warp. */
  readonly costs: readonly string[];
}

/** A run of characters of one line with one look. */
export type Token = readonly [text: string, syntax: Syntax];

/** The inputs and the result of a run of an example. */
export interface Tried {
  readonly inputs: readonly Shown[];
  readonly results: readonly Shown[];
  readonly output: readonly string[];
  readonly problems: readonly Problem[];
}

/** What a node is searched by that is folded into a group, or counted at a user; the fields of a `GraphNode`. */
export type UnseenNode = readonly [
  box: string,
  title: string,
  subtitle: string,
  node: string,
  name: string,
  is_call: boolean,
  way: number,
  line: number,
];

/** An operator that stays with the compiler itself, how often, and why. */
export interface Unsupported {
  readonly operator: string;
  readonly count: number;
  readonly reason: string;
  readonly nodes: readonly string[];
  readonly places: readonly OperatorCall[];
}

/** A value as it was at the times that refer to it. */
export interface Value {
  readonly kind: Kind;
  /** Such as `(2, 3) f32`, `Object`, `Tuple()`. */
  readonly type: string;
  /** At most 40 columns, for the register row, such as `[[0.55 0.72 0.60] …]`. */
  readonly short: string;
  readonly device: string;
  /** The device's category, such as `cat0`; empty if the value is on no device. */
  readonly category: string;
  /** Head of the value's pane, such as `float32, min 0.42, max 0.72, 0 NaN`. */
  readonly summary: string;
  /** Whole text of a string, shape or dtype; may be cut with `…` at 4,000 characters. */
  readonly long: string;
  readonly tensor: Tensor | null;
  readonly closure: Closure | null;
  readonly fields: readonly Field[];
  /** The sizes of a tensor or a shape along its axes, and an integer as one of its own. */
  readonly sizes: readonly number[];
}

/** A binding of two runs, or of one of them; or what both runs came to. */
export interface ValueRow {
  readonly name: string;
  readonly line: number;
  readonly verdict: "different" | "not comparable" | "same" | "stops alike";
  readonly type: string;
  readonly words: string;
  /** The largest distance of close numbers. */
  readonly largest: number;
}

/** One step of the order in which the analysis of 2020 visits functions; replayed like a rewrite log. */
export interface VisitRow {
  readonly number: number;
  readonly kind: VisitKind;
  readonly function: string;
  readonly words: string;
  readonly depth: number;
  readonly path: readonly string[];
  readonly passed: readonly string[];
  readonly line: number;
  /** The call. */
  readonly node: string;
}

/** The words of a language. Operators of TVMScript stand behind `R.` or `relax.`. */
export interface Vocabulary {
  readonly terms: readonly Term[];
}

/** The size that a view would like to have, in pixels. */
export interface Wanted {
  readonly view: string;
  /** Of what stands above and below the picture, or of the whole view if that has no picture. */
  readonly height: number;
  /** In place of `height` where the frame is so narrow that panes stand below each other; 0 for the same. */
  readonly stacked_height: number;
  /** Of a picture that is drawn smaller where the frame is narrower; 0 for none. */
  readonly picture_width: number;
  readonly picture_height: number;
}

/** The expressions that are watched, and why their values are not known, if so. */
export interface Watched {
  readonly expressions: readonly string[];
  readonly histories: Histories | null;
  /** Of a run of which some times are looked at: the time that `now` is of; -1 where the histories say all. */
  readonly time: number;
  readonly now: readonly string[];
  readonly fault: string;
}

/** The whole chain of one value. */
export interface WhyDevice {
  readonly node: string;
  readonly text: string;
  readonly device: string;
  readonly why: readonly DeviceReason[];
  /** The nodes on the way, to highlight. */
  readonly path: readonly string[];
}

/** A register shows another value: assigned, or changed in place by a kernel or a packed function. */
export type Write = readonly [tag: "write", depth: number, register: number, value: number, note: string];
