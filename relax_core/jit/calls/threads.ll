; Threads that run the chunks of a kernel beside its caller, made for Linux.
;
; A chunk is claimed by taking one off `ticket`, by whoever comes first: the caller, or a worker. What the chunk is of
; is read behind the claim only, as the caller changes it when all chunks have ended. A kernel that finds the threads
; at work for another, or none, runs its chunks itself. So do the kernels behind one that was hardly faster than its
; chunks one after the other, as it is where other programs keep the processors busy: twice as many each time.
;
; The words of @pool are written by threads.py too: `workers`, `stop` and `futex`, the number of that system call.
; Each of those that several threads write has a cache line of its own.

%Pool = type {
  [8 x i64],  ; 0 busy
  [8 x i64],  ; 1 ticket: the chunks that nobody claimed
  [8 x i64],  ; 2 left: the chunks that did not end
  [8 x i64],  ; 3 sequence: counts the kernels; idle workers sleep on it
  [8 x i64],  ; 4 sleepers
  [8 x i64],  ; 5 is_waiting: the caller sleeps on `left`
  [8 x i64],  ; 6 result: what the first chunk returned that stopped
  { ptr, ptr, ptr, i64, i64 },  ; 7 entry, slots, record, word_count, chunk_count
  { i64, i64, i64, ptr },       ; 8 workers, stop, futex, run_chunks
  { i64, i64, i64 }             ; 9 penalty, skips, shortest: how many kernels run alone next time, and how many
                                ;   still do; the cycles of the shortest chunk but the last
}

@pool = external global %Pool

declare i64 @syscall(i64, ...)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.x86.sse2.pause()
declare i64 @llvm.readcyclecounter()
declare i64 @llvm.umin.i64(i64, i64)

; The caller: 0, or what a chunk returned that stopped. The first to stop leaves `word_count` words in the record.

define internal i32 @run_chunks(ptr %entry, ptr %slots, ptr %record, i64 %word_count, i64 %chunk_count) nounwind {
start:
  %workers = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 8, i32 0) monotonic, align 8
  %has_workers = icmp ne i64 %workers, 0
  br i1 %has_workers, label %ask, label %alone

ask:
  %asked = cmpxchg ptr @pool, i64 0, i64 1 acquire monotonic
  %is_free = extractvalue { i64, i1 } %asked, 1
  br i1 %is_free, label %consider, label %alone

consider:
  %skips = load i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 1)
  %is_fair = icmp eq i64 %skips, 0
  br i1 %is_fair, label %publish, label %skip

skip:
  %skips.left = sub i64 %skips, 1
  store i64 %skips.left, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 1)
  store atomic i64 0, ptr @pool release, align 8
  br label %alone

alone:
  %number = phi i64 [ 0, %start ], [ 0, %ask ], [ 0, %skip ], [ %number.next, %go_on ]
  %is_last = icmp eq i64 %number, %chunk_count
  br i1 %is_last, label %ended, label %run

run:
  %alone.code = call i32 %entry(ptr %slots, ptr %record, ptr %record, i64 %number)
  %is_ended = icmp eq i32 %alone.code, 0
  br i1 %is_ended, label %go_on, label %stopped

go_on:
  %number.next = add nuw i64 %number, 1
  br label %alone

ended:
  ret i32 0

stopped:
  ret i32 %alone.code

publish:
  %begun = call i64 @llvm.readcyclecounter()
  store ptr %entry, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 0)
  store ptr %slots, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 1)
  store ptr %record, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 2)
  store i64 %word_count, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 3)
  store i64 %chunk_count, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 4)
  store atomic i64 0, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 6) monotonic, align 8
  store atomic i64 -1, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 2) monotonic, align 8
  store atomic i64 %chunk_count, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 2) monotonic, align 8
  store atomic i64 %chunk_count, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 1) release, align 8
  %before = atomicrmw add ptr getelementptr (%Pool, ptr @pool, i64 0, i32 3), i64 1 seq_cst
  %sleepers = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 4) seq_cst, align 8
  %has_sleepers = icmp ne i64 %sleepers, 0
  br i1 %has_sleepers, label %wake, label %take_part

wake:
  call void @wake_all(ptr getelementptr (%Pool, ptr @pool, i64 0, i32 3))
  br label %take_part

take_part:
  call void @claim()
  br label %look

; Others may still run what they claimed: look for a while, then sleep until the last of them ends.

look:
  %looks = phi i64 [ 0, %take_part ], [ %looks.next, %pause ]
  %left = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 2) acquire, align 8
  %is_done = icmp eq i64 %left, 0
  br i1 %is_done, label %done, label %still

still:
  %is_patient = icmp ult i64 %looks, 1000
  br i1 %is_patient, label %pause, label %wait

pause:
  call void @llvm.x86.sse2.pause()
  %looks.next = add nuw i64 %looks, 1
  br label %look

wait:
  store atomic i64 1, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 5) seq_cst, align 8
  %left.now = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 2) seq_cst, align 8
  %is_done.now = icmp eq i64 %left.now, 0
  br i1 %is_done.now, label %waited, label %sleep

sleep:
  call void @sleep_on(ptr getelementptr (%Pool, ptr @pool, i64 0, i32 2), i64 %left.now)
  br label %wait

waited:
  store atomic i64 0, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 5) seq_cst, align 8
  br label %done

; The shortest chunk tells how long all of them take, one after the other, if nothing else runs: less than an eighth
; of that is no gain. The rest at the end may be shorter, and is no measure.

done:
  %finished = call i64 @llvm.readcyclecounter()
  %time = sub i64 %finished, %begun
  %shortest = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 2) monotonic, align 8
  %one = lshr i64 %shortest, 3
  %most = mul i64 %one, 7
  %time.alone = mul i64 %most, %chunk_count
  %has_measure = icmp ne i64 %shortest, -1
  %is_slow = icmp ugt i64 %time, %time.alone
  %is_late = and i1 %has_measure, %is_slow
  %penalty = load i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 0)
  %penalty.twice = shl i64 %penalty, 1
  %penalty.more = add i64 %penalty.twice, 1
  %penalty.most = call i64 @llvm.umin.i64(i64 %penalty.more, i64 255)
  %penalty.less = lshr i64 %penalty, 1
  %penalty.next = select i1 %is_late, i64 %penalty.most, i64 %penalty.less
  %skips.next = select i1 %is_late, i64 %penalty.most, i64 0
  store i64 %penalty.next, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 0)
  store i64 %skips.next, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 1)
  %result = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 6) acquire, align 8
  store atomic i64 0, ptr @pool release, align 8
  %code = trunc i64 %result to i32
  ret i32 %code
}

; Run chunks as long as there are some that nobody claimed.

define internal void @claim() noinline nounwind {
start:
  %own = alloca [64 x i64], align 64
  br label %look

look:
  %ticket = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 1) acquire, align 8
  %has_more = icmp sgt i64 %ticket, 0
  br i1 %has_more, label %take, label %leave

take:
  %ticket.left = sub nsw i64 %ticket, 1
  %taken = cmpxchg ptr getelementptr (%Pool, ptr @pool, i64 0, i32 1), i64 %ticket, i64 %ticket.left acq_rel monotonic
  %is_taken = extractvalue { i64, i1 } %taken, 1
  br i1 %is_taken, label %run, label %look

run:
  %entry = load ptr, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 0)
  %slots = load ptr, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 1)
  %record = load ptr, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 2)
  %chunk_count = load i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 4)
  %number = sub nuw i64 %chunk_count, %ticket
  %begun = call i64 @llvm.readcyclecounter()
  %code = call i32 %entry(ptr %slots, ptr %record, ptr %own, i64 %number)
  %ended = call i64 @llvm.readcyclecounter()
  %time = sub i64 %ended, %begun
  %is_end = icmp eq i64 %ticket, 1
  %measure = select i1 %is_end, i64 -1, i64 %time
  %shortest = atomicrmw umin ptr getelementptr (%Pool, ptr @pool, i64 0, i32 9, i32 2), i64 %measure monotonic
  %is_ended = icmp eq i32 %code, 0
  br i1 %is_ended, label %finish, label %stopped

stopped:
  %result = zext i32 %code to i64
  %told = cmpxchg ptr getelementptr (%Pool, ptr @pool, i64 0, i32 6), i64 0, i64 %result acq_rel monotonic
  %is_first = extractvalue { i64, i1 } %told, 1
  br i1 %is_first, label %tell, label %finish

tell:
  %word_count = load i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 7, i32 3)
  %size = mul nuw i64 %word_count, 8
  %to = getelementptr i64, ptr %record, i64 1
  %from = getelementptr i64, ptr %own, i64 1
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %size, i1 false)
  br label %finish

finish:
  %left = atomicrmw sub ptr getelementptr (%Pool, ptr @pool, i64 0, i32 2), i64 1 seq_cst
  %is_last = icmp eq i64 %left, 1
  br i1 %is_last, label %last, label %look

last:
  %is_waiting = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 5) seq_cst, align 8
  %has_waiting = icmp ne i64 %is_waiting, 0
  br i1 %has_waiting, label %wake, label %look

wake:
  call void @wake_all(ptr getelementptr (%Pool, ptr @pool, i64 0, i32 2))
  br label %look

leave:
  ret void
}

; A worker: it runs what it can claim, spins, sleeps until the next kernel, and returns when it is to stop. Called
; with 0, it only says where @run_chunks is.

define i32 @work(ptr %is_worker, ptr %unused) nounwind {
start:
  store ptr @run_chunks, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 8, i32 3)
  %is_asked = icmp eq ptr %is_worker, null
  br i1 %is_asked, label %leave, label %again

again:
  %sequence = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 3) seq_cst, align 8
  call void @claim()
  br label %spin

spin:
  %spins = phi i64 [ 0, %again ], [ %spins.next, %idle ]
  %stop = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 8, i32 1) seq_cst, align 8
  %is_over = icmp ne i64 %stop, 0
  br i1 %is_over, label %leave, label %look

look:
  %sequence.now = load atomic i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 3) seq_cst, align 8
  %is_same = icmp eq i64 %sequence, %sequence.now
  br i1 %is_same, label %still, label %again

still:
  %is_patient = icmp ult i64 %spins, 1000
  br i1 %is_patient, label %idle, label %sleep

idle:
  call void @llvm.x86.sse2.pause()
  %spins.next = add nuw i64 %spins, 1
  br label %spin

sleep:
  %entering = atomicrmw add ptr getelementptr (%Pool, ptr @pool, i64 0, i32 4), i64 1 seq_cst
  call void @sleep_on(ptr getelementptr (%Pool, ptr @pool, i64 0, i32 3), i64 %sequence)
  %leaving = atomicrmw sub ptr getelementptr (%Pool, ptr @pool, i64 0, i32 4), i64 1 seq_cst
  br label %again

leave:
  ret i32 0
}

; Sleep as long as the low half of a word is what it was; 128 is FUTEX_WAIT_PRIVATE.

define internal void @sleep_on(ptr %word, i64 %value) noinline nounwind {
  %futex = load i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 8, i32 2)
  %low = trunc i64 %value to i32
  %code = call i64 (i64, ...) @syscall(i64 %futex, ptr %word, i32 128, i32 %low, ptr null, ptr null, i32 0)
  ret void
}

; 129 is FUTEX_WAKE_PRIVATE.

define internal void @wake_all(ptr %word) noinline nounwind {
  %futex = load i64, ptr getelementptr (%Pool, ptr @pool, i64 0, i32 8, i32 2)
  %code = call i64 (i64, ...) @syscall(i64 %futex, ptr %word, i32 129, i32 2147483647, ptr null, ptr null, i32 0)
  ret void
}
