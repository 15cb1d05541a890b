; A Python builtin that checks arguments against tables and runs a kernel, made for METH_FASTCALL.
;
; `self` is a ctypes structure, a Context; builtin.py declares the same structures and fills them. For each variant of
; the kernel there is a table, and the first whose arguments fit is run. If none does, `fallback` is called with the
; same arguments: it finds what is wrong, or makes another variant. A variant fits so many calls only as its patience
; says, behind which `fallback` may think of a better one. A kernel that stopped is not run again; `stopped` gets the
; variant's number and the address of the error record, and raises.
;
; A long kernel runs without the interpreter lock on one of the engine's records, where a cancellation finds it. The
; mask of free records is read and written under the lock only.

%Structure = type { i64, ptr, ptr }                                 ; count, type, memory
%Array = type { i64, ptr, ptr, i32, ptr, ptr, ptr, ptr, i32 }       ; count, type, data, nd, dims, strides, base, descr, flags
%Float = type { i64, ptr, double }                                  ; count, type, value
%Context = type { ptr, ptr, ptr, ptr, ptr, i64 }                    ; variant, fallback, stopped, is_cancelled, records, input_count
%Records = type { i64, i64, [16 x [64 x i64]] }                     ; fuel, free, records
%Variant = type { ptr, ptr, i64, i64, i64, ptr, ptr, i64, i64, ptr, i64, ptr, i64, i64 }
; following, entry, number, is_long, output, arguments, pairs, pair_count, first_word, words, word_count, sizes,
; size_count, patience
%Argument = type { i64, ptr, i64, ptr, i64, i64, i64, i64 }         ; kind, descr, rank, dims, flags, size_bytes, low, high

@array_type = external global i8
@byte_descr = external global i8
@int_type = external global i8
@float_type = external global i8
@false = external global i8
@none = external global i8
@two_numbers = private constant [3 x i8] c"LL\00"

declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallNoArgs(ptr)
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyErr_NoMemory()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @new_array(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare ptr @zero_array(i32, ptr, ptr, i32)
declare i32 @set_base(ptr, ptr)
declare ptr @calloc(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare i64 @llvm.cttz.i64(i64, i1)
declare float @llvm.fabs.f32(float)
declare double @llvm.fabs.f64(double)

define ptr @call(ptr %self, ptr %args, i64 %count) nounwind {
entry:
  %slots = alloca [64 x i64], align 16
  %stack = alloca [64 x i64], align 16
  %overflow = alloca i32, align 4
  %room.dim = alloca i64, align 8
  %context.at = getelementptr %Structure, ptr %self, i64 0, i32 2
  %context = load ptr, ptr %context.at
  %input_count.at = getelementptr %Context, ptr %context, i64 0, i32 5
  %input_count = load i64, ptr %input_count.at
  %records.at = getelementptr %Context, ptr %context, i64 0, i32 4
  %records = load ptr, ptr %records.at
  %free.at = getelementptr %Records, ptr %records, i64 0, i32 1
  %first = load ptr, ptr %context
  %is_full = icmp eq i64 %count, %input_count
  br i1 %is_full, label %try, label %fallback

try:
  %variant = phi ptr [ %first, %entry ], [ %following, %mismatch ]
  %is_none = icmp eq ptr %variant, null
  br i1 %is_none, label %fallback, label %begin

begin:
  %arguments.at = getelementptr %Variant, ptr %variant, i64 0, i32 5
  %arguments = load ptr, ptr %arguments.at
  br label %next_argument

mismatch:
  %following = load ptr, ptr %variant
  br label %try

fallback:
  %fallback.at = getelementptr %Context, ptr %context, i64 0, i32 1
  %fallback.callable = load ptr, ptr %fallback.at
  %fallback.result = call ptr @PyObject_Vectorcall(ptr %fallback.callable, ptr %args, i64 %count, ptr null)
  ret ptr %fallback.result

; The inputs, one after the other, each to the word that the kernel gets.

next_argument:
  %position = phi i64 [ 0, %begin ], [ %position.next, %accept ]
  %is_last = icmp eq i64 %position, %input_count
  br i1 %is_last, label %next_pair, label %look

look:
  %argument = getelementptr %Argument, ptr %arguments, i64 %position
  %object.at = getelementptr ptr, ptr %args, i64 %position
  %object = load ptr, ptr %object.at
  %type.at = getelementptr %Array, ptr %object, i64 0, i32 1
  %type = load ptr, ptr %type.at
  %kind = load i64, ptr %argument
  switch i64 %kind, label %accept [
    i64 0, label %array
    i64 1, label %integer
    i64 2, label %float
    i64 3, label %float
  ]

array:
  %is_array = icmp eq ptr %type, @array_type
  br i1 %is_array, label %array.fields, label %mismatch

array.fields:
  %descr.at = getelementptr %Array, ptr %object, i64 0, i32 7
  %descr = load ptr, ptr %descr.at
  %descr.wanted.at = getelementptr %Argument, ptr %argument, i64 0, i32 1
  %descr.wanted = load ptr, ptr %descr.wanted.at
  %is_dtype = icmp eq ptr %descr, %descr.wanted
  %rank.at = getelementptr %Array, ptr %object, i64 0, i32 3
  %rank.narrow = load i32, ptr %rank.at
  %rank = sext i32 %rank.narrow to i64
  %rank.wanted.at = getelementptr %Argument, ptr %argument, i64 0, i32 2
  %rank.wanted = load i64, ptr %rank.wanted.at
  %is_rank = icmp eq i64 %rank, %rank.wanted
  %flags.at = getelementptr %Array, ptr %object, i64 0, i32 8
  %flags.narrow = load i32, ptr %flags.at
  %flags = sext i32 %flags.narrow to i64
  %flags.wanted.at = getelementptr %Argument, ptr %argument, i64 0, i32 4
  %flags.wanted = load i64, ptr %flags.wanted.at
  %flags.both = and i64 %flags, %flags.wanted
  %has_flags = icmp eq i64 %flags.both, %flags.wanted
  %is_same = and i1 %is_dtype, %is_rank
  %is_fit = and i1 %is_same, %has_flags
  %dims.at = getelementptr %Array, ptr %object, i64 0, i32 4
  %dims = load ptr, ptr %dims.at
  %dims.wanted.at = getelementptr %Argument, ptr %argument, i64 0, i32 3
  %dims.wanted = load ptr, ptr %dims.wanted.at
  br i1 %is_fit, label %next_dim, label %mismatch

next_dim:
  %dim = phi i64 [ 0, %array.fields ], [ %dim.next, %compare_dim ]
  %is_shape = icmp eq i64 %dim, %rank
  br i1 %is_shape, label %array.data, label %compare_dim

compare_dim:
  %extent.at = getelementptr i64, ptr %dims, i64 %dim
  %extent = load i64, ptr %extent.at
  %extent.wanted.at = getelementptr i64, ptr %dims.wanted, i64 %dim
  %extent.wanted = load i64, ptr %extent.wanted.at
  %dim.next = add nuw i64 %dim, 1
  %is_extent = icmp eq i64 %extent, %extent.wanted
  br i1 %is_extent, label %next_dim, label %mismatch

array.data:
  %data.at = getelementptr %Array, ptr %object, i64 0, i32 2
  %data = load i64, ptr %data.at
  br label %accept

integer:
  %is_integer = icmp eq ptr %type, @int_type
  br i1 %is_integer, label %integer.value, label %mismatch

integer.value:
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  %overflowed = load i32, ptr %overflow
  %is_word = icmp eq i32 %overflowed, 0
  %low.at = getelementptr %Argument, ptr %argument, i64 0, i32 6
  %low = load i64, ptr %low.at
  %high.at = getelementptr %Argument, ptr %argument, i64 0, i32 7
  %high = load i64, ptr %high.at
  %is_above = icmp sge i64 %value, %low
  %is_below = icmp sle i64 %value, %high
  %is_between = and i1 %is_above, %is_below
  %is_value = and i1 %is_between, %is_word
  br i1 %is_value, label %accept, label %mismatch

float:
  %is_float = icmp eq ptr %type, @float_type
  br i1 %is_float, label %float.value, label %mismatch

float.value:
  %double.at = getelementptr %Float, ptr %object, i64 0, i32 2
  %double = load double, ptr %double.at
  %double.word = bitcast double %double to i64
  %is_double = icmp eq i64 %kind, 3
  br i1 %is_double, label %accept, label %single

single:
  %single.value = fptrunc double %double to float
  %single.bits = bitcast float %single.value to i32
  %single.word = zext i32 %single.bits to i64
  %single.size = call float @llvm.fabs.f32(float %single.value)
  %double.size = call double @llvm.fabs.f64(double %double)
  %is_single_infinite = fcmp oeq float %single.size, 0x7FF0000000000000
  %is_double_finite = fcmp one double %double.size, 0x7FF0000000000000
  %is_too_large = and i1 %is_single_infinite, %is_double_finite
  br i1 %is_too_large, label %mismatch, label %accept

accept:
  %word = phi i64 [ 0, %look ], [ %data, %array.data ], [ %value, %integer.value ],
                  [ %double.word, %float.value ], [ %single.word, %single ]
  %word.at = getelementptr i64, ptr %slots, i64 %position
  store i64 %word, ptr %word.at
  %position.next = add nuw i64 %position, 1
  br label %next_argument

; Pairs of arrays that the variant takes to be distinct, one of which is written.

next_pair:
  %pair = phi i64 [ 0, %next_argument ], [ %pair.next, %compare_pair ]
  %pair_count.at = getelementptr %Variant, ptr %variant, i64 0, i32 7
  %pair_count = load i64, ptr %pair_count.at
  %is_distinct = icmp eq i64 %pair, %pair_count
  br i1 %is_distinct, label %fits, label %compare_pair

compare_pair:
  %pairs.at = getelementptr %Variant, ptr %variant, i64 0, i32 6
  %pairs = load ptr, ptr %pairs.at
  %one.at = getelementptr [2 x i64], ptr %pairs, i64 %pair, i64 0
  %one = load i64, ptr %one.at
  %other.at = getelementptr [2 x i64], ptr %pairs, i64 %pair, i64 1
  %other = load i64, ptr %other.at
  %one.start.at = getelementptr i64, ptr %slots, i64 %one
  %one.start = load i64, ptr %one.start.at
  %other.start.at = getelementptr i64, ptr %slots, i64 %other
  %other.start = load i64, ptr %other.start.at
  %one.size.at = getelementptr %Argument, ptr %arguments, i64 %one, i32 5
  %one.size = load i64, ptr %one.size.at
  %other.size.at = getelementptr %Argument, ptr %arguments, i64 %other, i32 5
  %other.size = load i64, ptr %other.size.at
  %one.end = add i64 %one.start, %one.size
  %other.end = add i64 %other.start, %other.size
  %starts_before = icmp ult i64 %one.start, %other.end
  %ends_behind = icmp ult i64 %other.start, %one.end
  %is_overlap = and i1 %starts_before, %ends_behind
  %pair.next = add nuw i64 %pair, 1
  br i1 %is_overlap, label %mismatch, label %next_pair

fits:
  %patience.at = getelementptr %Variant, ptr %variant, i64 0, i32 13
  %patience = load i64, ptr %patience.at
  %is_patient = icmp ne i64 %patience, 0
  br i1 %is_patient, label %ready, label %mismatch

; A long kernel asks whether it is cancelled before it starts, and takes a record.

ready:
  %patience.left = sub i64 %patience, 1
  store i64 %patience.left, ptr %patience.at
  %is_long.at = getelementptr %Variant, ptr %variant, i64 0, i32 3
  %is_long.word = load i64, ptr %is_long.at
  %is_long = icmp ne i64 %is_long.word, 0
  br i1 %is_long, label %ask, label %allocate

ask:
  %is_cancelled.at = getelementptr %Context, ptr %context, i64 0, i32 3
  %is_cancelled = load ptr, ptr %is_cancelled.at
  %answer = call ptr @PyObject_CallNoArgs(ptr %is_cancelled)
  %is_failure = icmp eq ptr %answer, null
  br i1 %is_failure, label %failed, label %answered

failed:
  ret ptr null

answered:
  call void @Py_DecRef(ptr %answer)
  %is_false = icmp eq ptr %answer, @false
  %free = load i64, ptr %free.at
  %has_free = icmp ne i64 %free, 0
  %may_run = and i1 %is_false, %has_free
  br i1 %may_run, label %take, label %fallback

take:
  %number = call i64 @llvm.cttz.i64(i64 %free, i1 false)
  %free.but_one = sub i64 %free, 1
  %free.left = and i64 %free, %free.but_one
  store i64 %free.left, ptr %free.at
  %taken = getelementptr %Records, ptr %records, i64 0, i32 2, i64 %number
  br label %allocate

; The output, if the caller does not give it: 1 an array of any content, 2 of zeros.

allocate:
  %record = phi ptr [ %stack, %ready ], [ %taken, %take ]
  %held = phi i64 [ 0, %ready ], [ %number, %take ]
  %output.at = getelementptr %Variant, ptr %variant, i64 0, i32 4
  %output.kind = load i64, ptr %output.at
  %is_given = icmp eq i64 %output.kind, 0
  br i1 %is_given, label %words, label %make

make:
  %made.descr.at = getelementptr %Argument, ptr %arguments, i64 %input_count, i32 1
  %made.descr = load ptr, ptr %made.descr.at
  %made.rank.at = getelementptr %Argument, ptr %arguments, i64 %input_count, i32 2
  %made.rank.wide = load i64, ptr %made.rank.at
  %made.rank = trunc i64 %made.rank.wide to i32
  %made.dims.at = getelementptr %Argument, ptr %arguments, i64 %input_count, i32 3
  %made.dims = load ptr, ptr %made.dims.at
  call void @Py_IncRef(ptr %made.descr)
  %is_zeroed = icmp eq i64 %output.kind, 2
  br i1 %is_zeroed, label %make_zeros, label %make_empty

make_zeros:
  %zeros = call ptr @zero_array(i32 %made.rank, ptr %made.dims, ptr %made.descr, i32 0)
  br label %made_one

make_empty:
  %made.size.at = getelementptr %Argument, ptr %arguments, i64 %input_count, i32 5
  %made.size = load i64, ptr %made.size.at
  %is_large = icmp uge i64 %made.size, 65536
  br i1 %is_large, label %make_room, label %make_small

; A large one starts where a line of the cache does: stores of whole lines are faster. It lies in an array of bytes.

make_room:
  %room.size = add i64 %made.size, 64
  store i64 %room.size, ptr %room.dim
  call void @Py_IncRef(ptr @byte_descr)
  %room = call ptr @new_array(ptr @array_type, ptr @byte_descr, i32 1, ptr %room.dim, ptr null, ptr null, i32 0, ptr null)
  %has_no_room = icmp eq ptr %room, null
  br i1 %has_no_room, label %drop_descr, label %make_aligned

drop_descr:
  call void @Py_DecRef(ptr %made.descr)
  br label %made_one

make_aligned:
  %room.data.at = getelementptr %Array, ptr %room, i64 0, i32 2
  %room.data = load i64, ptr %room.data.at
  %room.behind = add i64 %room.data, 63
  %room.line = and i64 %room.behind, -64
  %room.start = inttoptr i64 %room.line to ptr
  %aligned = call ptr @new_array(ptr @array_type, ptr %made.descr, i32 %made.rank, ptr %made.dims, ptr null, ptr %room.start, i32 1281, ptr null)
  %is_not_aligned = icmp eq ptr %aligned, null
  br i1 %is_not_aligned, label %drop_room, label %keep_room

drop_room:
  call void @Py_DecRef(ptr %room)
  br label %made_one

keep_room:
  %failure = call i32 @set_base(ptr %aligned, ptr %room)
  %is_kept = icmp eq i32 %failure, 0
  br i1 %is_kept, label %made_one, label %drop_aligned

drop_aligned:
  call void @Py_DecRef(ptr %aligned)
  br label %made_one

make_small:
  %empty = call ptr @new_array(ptr @array_type, ptr %made.descr, i32 %made.rank, ptr %made.dims, ptr null, ptr null, i32 0, ptr null)
  br label %made_one

made_one:
  %made = phi ptr [ %zeros, %make_zeros ], [ %empty, %make_small ], [ %aligned, %keep_room ],
                  [ null, %drop_descr ], [ null, %drop_room ], [ null, %drop_aligned ]
  %is_unmade = icmp eq ptr %made, null
  br i1 %is_unmade, label %finish, label %pass

pass:
  %made.data.at = getelementptr %Array, ptr %made, i64 0, i32 2
  %made.data = load i64, ptr %made.data.at
  %made.word.at = getelementptr i64, ptr %slots, i64 %input_count
  store i64 %made.data, ptr %made.word.at
  br label %words

; The values of the symbols, and the workspace: a size below zero is that of memory of any content.

words:
  %output = phi ptr [ null, %allocate ], [ %made, %pass ]
  %first_word.at = getelementptr %Variant, ptr %variant, i64 0, i32 8
  %first_word = load i64, ptr %first_word.at
  %words.at = getelementptr %Variant, ptr %variant, i64 0, i32 9
  %words.values = load ptr, ptr %words.at
  %word_count.at = getelementptr %Variant, ptr %variant, i64 0, i32 10
  %word_count = load i64, ptr %word_count.at
  %words.to = getelementptr i64, ptr %slots, i64 %first_word
  br label %next_word

next_word:
  %constant = phi i64 [ 0, %words ], [ %constant.next, %copy_word ]
  %is_copied = icmp eq i64 %constant, %word_count
  br i1 %is_copied, label %workspace, label %copy_word

copy_word:
  %constant.at = getelementptr i64, ptr %words.values, i64 %constant
  %constant.value = load i64, ptr %constant.at
  %constant.to = getelementptr i64, ptr %words.to, i64 %constant
  store i64 %constant.value, ptr %constant.to
  %constant.next = add nuw i64 %constant, 1
  br label %next_word

workspace:
  %sizes.at = getelementptr %Variant, ptr %variant, i64 0, i32 11
  %sizes = load ptr, ptr %sizes.at
  %size_count.at = getelementptr %Variant, ptr %variant, i64 0, i32 12
  %size_count = load i64, ptr %size_count.at
  %buffers = getelementptr i64, ptr %words.to, i64 %word_count
  br label %next_buffer

next_buffer:
  %buffer = phi i64 [ 0, %workspace ], [ %buffer.next, %reserved ]
  %is_reserved = icmp eq i64 %buffer, %size_count
  br i1 %is_reserved, label %start, label %reserve

reserve:
  %size.at = getelementptr i64, ptr %sizes, i64 %buffer
  %size = load i64, ptr %size.at
  %has_zeros = icmp sgt i64 %size, 0
  br i1 %has_zeros, label %reserve_zeros, label %reserve_any

reserve_zeros:
  %cleared = call ptr @calloc(i64 1, i64 %size)
  br label %reserved_one

reserve_any:
  %size.any = sub i64 0, %size
  %uncleared = call ptr @malloc(i64 %size.any)
  br label %reserved_one

reserved_one:
  %memory = phi ptr [ %cleared, %reserve_zeros ], [ %uncleared, %reserve_any ]
  %is_exhausted = icmp eq ptr %memory, null
  br i1 %is_exhausted, label %exhausted, label %reserved

reserved:
  %buffer.at = getelementptr ptr, ptr %buffers, i64 %buffer
  store ptr %memory, ptr %buffer.at
  %buffer.next = add nuw i64 %buffer, 1
  br label %next_buffer

exhausted:
  %no_memory = call ptr @PyErr_NoMemory()
  br label %release

; The run.

start:
  %fuel = load i64, ptr %records
  store i64 %fuel, ptr %record
  %entry.at = getelementptr %Variant, ptr %variant, i64 0, i32 1
  %kernel = load ptr, ptr %entry.at
  br i1 %is_long, label %run_long, label %run_short

run_short:
  %short.code = call i32 %kernel(ptr %slots, ptr %record)
  br label %ran

run_long:
  %thread = call ptr @PyEval_SaveThread()
  %long.code = call i32 %kernel(ptr %slots, ptr %record)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %ran

ran:
  %code = phi i32 [ %short.code, %run_short ], [ %long.code, %run_long ]
  %is_ended = icmp eq i32 %code, 0
  br i1 %is_ended, label %release, label %stop

stop:
  %stopped.at = getelementptr %Context, ptr %context, i64 0, i32 2
  %stopped = load ptr, ptr %stopped.at
  %variant.number.at = getelementptr %Variant, ptr %variant, i64 0, i32 2
  %variant.number = load i64, ptr %variant.number.at
  %raised = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %stopped, ptr @two_numbers, i64 %variant.number, ptr %record)
  br label %release

release:
  %kept = phi i64 [ %buffer, %exhausted ], [ %size_count, %ran ], [ %size_count, %stop ]
  %is_success = phi i1 [ false, %exhausted ], [ true, %ran ], [ false, %stop ]
  br label %next_release

next_release:
  %release.index = phi i64 [ %kept, %release ], [ %release.before, %release_one ]
  %is_released = icmp eq i64 %release.index, 0
  br i1 %is_released, label %choose, label %release_one

release_one:
  %release.before = sub i64 %release.index, 1
  %release.at = getelementptr ptr, ptr %buffers, i64 %release.before
  %release.memory = load ptr, ptr %release.at
  call void @free(ptr %release.memory)
  br label %next_release

choose:
  br i1 %is_success, label %succeed, label %drop

succeed:
  %has_output = icmp ne ptr %output, null
  br i1 %has_output, label %finish, label %give_none

give_none:
  call void @Py_IncRef(ptr @none)
  br label %finish

drop:
  %has_dropped = icmp ne ptr %output, null
  br i1 %has_dropped, label %drop_output, label %finish

drop_output:
  call void @Py_DecRef(ptr %output)
  br label %finish

finish:
  %result = phi ptr [ null, %made_one ], [ %output, %succeed ], [ @none, %give_none ],
                    [ null, %drop ], [ null, %drop_output ]
  br i1 %is_long, label %give_back, label %leave

give_back:
  %bit = shl i64 1, %held
  %free.now = load i64, ptr %free.at
  %free.more = or i64 %free.now, %bit
  store i64 %free.more, ptr %free.at
  br label %leave

leave:
  ret ptr %result
}
