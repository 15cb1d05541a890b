"""Statements and expressions of TIR, each in a prim func with the same parameters."""

HEAD = """\
from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(a: T.handle, B: T.Buffer((128,), "float32"), n: T.int32, p: T.handle("float32", "global"), c: T.handle):
    m = T.int64()
    s = T.int32()
    C = T.match_buffer(c, (m, 4), "float32", strides=(s, 1), elem_offset=s, align=32, offset_factor=4)
    A = T.match_buffer(a, (16, 4), "float32", buffer_type="auto")
"""
# Each comment is the name of the statements below it.
_TEXT = """\
# a block with every part
for i in T.serial(1, 5, annotations={"pragma": 1, "list": [1, "a", {"b": None}]}):
    for j in T.thread_binding(4, thread="threadIdx.x"):
        with T.sblock("block"):
            vi, vj = T.axis.remap("SR", [i, j])
            vk = T.axis.spatial((1, 9), i + 1)
            vl = T.axis.opaque(4, i)
            vm = T.axis.scan(4, i)
            T.where(i < 3)
            T.reads(A[vi, 0:4], [B[vj], B[vj:vj + n], B], A[:, :2])
            T.writes(B[vi])
            T.sblock_attr({"note": "x", "buffers": [A, B], "layout": T.index_map(lambda i, j: (j, i))})
            D = T.sblock_alloc_buffer((4,), "int8", scope="shared")
            V = T.match_buffer(A[vi, 0:4], (4,), "float32", strides=(1,), offset_factor=1)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = V[vj] + T.Cast("float32", D[vj])
# a block without a name
with T.sblock():
    vi = T.axis.S(4, n)
    B[vi] = 1.0
# loops of all kinds
for i in T.serial(n, annotations={'k': True}):
    B[i] = 1.0
for i in T.parallel(n, annotations={'k': True}):
    B[i] = 1.0
for i in T.vectorized(n, annotations={'k': True}):
    B[i] = 1.0
for i in T.unroll(n, annotations={'k': True}):
    B[i] = 1.0
# loops with a step
for i in range(0, n, 2):
    B[i] = 1.0
for i in T.unroll(2, 8, step=3):
    B[i] = 2.0
# a grid with starts
for i, j in T.grid((1, 4), n):
    B[i] = 1.0
# loops over several things
for *i, j in T.grid(2, 8, 4):
    A[i[0] * 8 + i[1], j] = 1.0
for i in T.grid(4, n):
    B[i[0]] = B[i[-1]]
for i, j in T.grid(16, 4, dtype="int64"):
    A[i, j] = 2.0
# names of several things
k, l = T.meta_var((n + 1, B))
l[k] = 1.0
r = T.meta_var([n, n * 2])
B[r[0]] = B[r[1]]
# macros
@T.inline
def put(X, i, *more, scale=2, **others):
    w: T.let[T.int32] = i * scale
    X[w + more[0]] = X[others["at"]]
@T.macro(hygienic=False)
def twice(f, i):
    f(B, i, n, at=i)
    f(B, i, n, scale=n, at=0)
twice(put, 3)
# lets in all spellings
x: T.let[T.int64] = m + 1
y: T.let = n
z = T.bind(n + 1)
B[y + z] = T.Cast('float32', x)
# lets with a scope
with T.LetStmt(n + 1) as x:
    T.evaluate(x)
with T.let(y, n):
    T.evaluate(y)
T.evaluate(0)
# a let expression
T.evaluate(T.Let(n + 1, where={k: 2}))
# variables
x: T.int32 = 5
y = x + 1
while y < 10:
    y += x
    x = y
z: T.int32
z = y
w: T.float32[4]
w[z] = 1.0
# break and continue
while n < 3:
    if n == 1:
        break
    elif n == 2:
        continue
    else:
        pass
T.Break()
# a result
return n + 1
# assertions
assert n > 1, "words"
assert n > 2, ("ValueError", ["a", "b"])
assert n > 3
# attributes
T.attr(B.data, "key", n)
with T.attr(0, "pragma", "x"):
    T.evaluate(1)
T.attr({"k": 3})
T.evaluate(0)
# threads
tx = T.env_thread("threadIdx.x")
with T.launch_thread(tx, 8):
    T.evaluate(tx)
with T.launch_thread(tx, 8):
    T.evaluate(tx)
with T.launch_thread("blockIdx.x", n) as x, T.launch_thread("blockIdx.y", 2) as y:
    T.evaluate(x + y)
bz = T.launch_thread("blockIdx.z", 4)
B[bz] = 1.0
# memory
with T.allocate([n, 4], "float32", "global") as q:
    Q = T.decl_buffer((n,), data=q, scope="global")
    Q[0] = 1.0
with T.realize(A[0:4, 0:4], "shared"):
    T.evaluate(0)
G = T.alloc_buffer((n,), "int8", scope="local")
G[0] = T.int8(1)
H = B.view(64, 2)
H[0, 0] = 1.0
I = T.alloc_local((2,))
I[0] = 1.0
J = H
J[1, 1] = 2.0
K = T.Buffer((4,), "float32")
K[0] = 1.0
# vectors
B[0:4] = T.Broadcast(T.float32(1), 4)
B[T.Ramp(0, 2, 4)] = B[T.Ramp(4, 1, 4)] * 2.0
B[0:8:2] = B[n:n + 4]
T.evaluate(T.Shuffle([T.Broadcast(n, 4), T.Broadcast(n, 4)], [0, 5]))
B[0:4] = 1.0
T.evaluate(T.int32x4(n) < B.vload([0], 'float32x4').astype('int32x4'))
B.vstore([4], T.Broadcast(1.0, 2))
A.vstore([0, n], B.vload([4], 'float32x4'))
# what a buffer tells
T.evaluate(A.offset_of([1, n])[0] + C.elem_offset_of([n, 2])[0] + A.byte_offset_of([1, 0])[0] + len(A.shape))
T.evaluate(A.ptr_to([1, n]))
T.evaluate(C.data_alignment + C.offset_factor + C.byte_offset)
T.evaluate(B.is_scalar())
# calls
T.call_extern("int32", "f", B.data, A.access_ptr("rw", offset=n))
T.call_packed("g", B, None, T.address_of(B[0]), "s")
T.evaluate(T.call_extern("f", n, dtype="float32"))
T.call_cpacked("h", n)
T.tvm_storage_sync("shared")
x: T.let[T.handle] = T.tvm_stack_alloca('array', 1)
y: T.let[T.handle('int8', 'global')] = T.tvm_struct_get(x, 0, 2, T.handle('int8', 'global').ty)
T.tvm_struct_set(x, 0, 1, T.reinterpret(T.handle().ty, T.uint64(0)))
T.anylist_setitem_call_packed(x, 1, 'f', T.anylist_getitem(x, n))
T.evaluate(T.isnullptr(y))
T.assume(n < 4)
# threads that work together
with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), 'reduce_scope', T.reinterpret('handle', T.uint64(0))):
    T.tvm_thread_allreduce(T.uint32(1), B[0], T.bool(True), B.data, n)
T.evaluate(T.ptx.mma('float32', 'm8n8k4', B.data, 0, bit_op='xor'))
T.tvm_mma_sync(B.data, 0, B.data, 0)
T.evaluate(T.tvm_warp_shuffle(T.tvm_warp_activemask(), B[0], 0, 32, 32))
T.ptx_wait_group(0)
# operators
T.evaluate((n << 2 | n >> 1) & ~n ^ -n)
T.evaluate(n // 3 + n % 3 + T.truncdiv(n, 3) + T.truncmod(n, 3))
T.evaluate(T.Div(n, 2) + T.ceildiv(n, 3) + T.floordiv(n, 4) * T.floormod(n, 5))
T.evaluate(n < 3 and n > 0 or not n == 1)
T.evaluate(T.likely(1 < n <= 5))
B[0] = T.Div(B[0], B[1]) ** 2.0
T.evaluate(T.Add(n, 0) + T.Mul(n, 1) + T.Sub(3, 4))
T.evaluate(T.EQ(0, 0))
T.evaluate(n < 1000000000000)
T.evaluate(-2147483648)
B[0] = T.Let(B[k], where={k: n})
x: T.i64 = T.i64(1)
y = T.f32()
T.evaluate(T.And(n < 1, T.bool(True)))
# functions
B[0] = T.exp(B[1]) + T.fma(B[0], B[1], B[2]) + T.float32('inf') - T.infinity('float32')
T.evaluate(T.popcount(n))
T.evaluate(T.q_multiply_shift(n, n, 31, n))
T.evaluate(T.clz(n) + T.abs(n) + T.min_value('int8').astype('int32'))
T.evaluate(T.isnan(B[0]))
B[1] = T.if_then_else(n < 3, T.Select(n < 1, 1.0, B[0]), T.reinterpret('float32', n))
q = T.meta_var(n * 3)
B[q] = T.bfloat16(1.5).astype('float32')
T.evaluate(A.shape[0] + B.shape[-1] + C.strides[0])
"""
STATEMENTS: dict[str, str] = {
    name: statements.rstrip("\n")
    for name, _, statements in (part.partition("\n") for part in _TEXT.removeprefix("# ").split("\n# "))
}


def program(statements: str) -> str:
    """Put statements into the prim func."""
    return HEAD + "".join(f"    {line}\n" for line in statements.split("\n"))
