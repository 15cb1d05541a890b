"""Prim funcs with expressions that occur several times, as apache-tvm takes them out."""

from types import MappingProxyType

REPEATED = MappingProxyType(
    {
        "an index": """
B = T.alloc_buffer((200,), "float32")
for i, j in T.grid(6, 20):
    B[i * 20 + j] = A[i, j]
for i, j in T.grid(6, 20):
    C[i, j] = B[i * 20 + j] * B[i * 20 + j] + B[i * 20 + j + 1]
""",
        "statements in a row": """
B = T.alloc_buffer((200,), "float32")
for i, j in T.grid(6, 20):
    B[i * 20 + j] = T.float32(1)
    C[i, j] = B[i * 20 + j] + T.Cast("float32", i * 20 + j)
""",
        "what a loop does not change": """
B = T.alloc_buffer((200,), "float32")
for i in range(6):
    for j in range(20):
        B[i * 20 + j] = A[i, j]
    for j in range(20):
        C[i, j] = B[i * 20 + j] + T.Cast("float32", i * 20)
""",
        "a condition and both branches": """
for i, j in T.grid(6, 20):
    if i * 20 + j < 100:
        C[i, j] = A[(i * 20 + j) // 20, (i * 20 + j) % 20]
    else:
        C[i, j] = T.Cast("float32", i * 20 + j)
""",
        "branches of an expression": """
for i, j in T.grid(6, 20):
    C[i, j] = T.if_then_else(i * 9 + j < 9, T.Cast("float32", (i * 9 + j) * 2), T.Cast("float32", (i * 9 + j) * 2 + 1))
""",
        "one in another": """
for i, j in T.grid(6, 20):
    C[i, j] = T.Cast("float32", (i * 20 + j) * (i * 20 + j) + (i * 20 + j) * (i * 20 + j) * 3 + (i * 20 + j))
""",
        "in each iteration": """
for i in range(6):
    for j in range(20):
        C[i, j] = T.Cast("float32", i * 7)
    for j in range(20):
        C[i, j] = C[i, j] + T.Cast("float32", i * 7 + j)
for i in range(6):
    C[i, 0] = C[i, 0] + T.Cast("float32", i * 7)
""",
        "bounds of loops": """
for i in range(3):
    for j in range(i * 2 + 4):
        C[i, j] = A[i, j]
    for j in range(i * 2 + 4, 20):
        C[i, j] = T.float32(0)
for i, j in T.grid(3, 20):
    C[i + 3, j] = A[i + 3, j]
""",
        "conversions": """
for i, j in T.grid(6, 20):
    C[i, j] = T.Cast("float32", i * 20 + j) * T.Cast("float32", i * 20 + j) + T.Cast("float32", j)+ T.Cast("float32", j)
""",
        "minima and maxima": """
for i, j in T.grid(6, 20):
    C[i, j] = A[T.min(i, j), T.max(i, j)] + A[T.min(i, j), 0] + A[0, T.max(i, j)]
""",
        "operands of calls": """
for i, j in T.grid(6, 20):
    C[i, j] = T.exp(T.Cast("float32", i)) + T.exp(T.Cast("float32", i))
""",
        "bases of vectors": """
B = T.alloc_buffer((200,), "float32")
D = T.alloc_buffer((200,), "float32")
for i in range(6):
    for j in T.vectorized(4):
        B[i * 4 + j] = A[i, j]
    for j in T.vectorized(4):
        D[i * 4 + j] = B[i * 4 + j] + B[i * 4 + j]
for i, j in T.grid(6, 20):
    C[i, j] = D[j]
""",
        "branches": """
for i, j in T.grid(6, 20):
    if A[i, j] < T.float32(0):
        C[i, j] = T.Cast("float32", i * 3 + j)
    else:
        C[i, j] = T.Cast("float32", (i * 3 + j) * 2)
""",
        "divisions": """
for i, j in T.grid(6, 20):
    if j > 0:
        C[i, j] = T.Cast("float32", i // j)
        if i > 0:
            C[i, j] = T.Cast("float32", i // j + i % j)
    else:
        C[i, j] = T.Cast("float32", i // (j + 1) + 20 // (j + 1))
""",
        "a loop without a count": """
k = T.alloc_buffer((1,), "int32")
for i, j in T.grid(6, 20):
    k[0] = 0
    while k[0] < i * 2 + j:
        k[0] = k[0] + i * 2 + j + 1
    C[i, j] = T.Cast("float32", k[0])
""",
        "variables of the text": """
for i, j in T.grid(6, 20):
    x: T.let[T.int32] = i * 3 + j
    C[i, j] = T.Cast("float32", x + 1) + T.Cast("float32", (i * 3 + j) * (x + 1))
""",
        "parts of sums": """
for i, j in T.grid(6, 20):
    C[i, j] = T.Cast("float32", i * 3 + j + 1) + T.Cast("float32", i * 3 + j + 2)+ T.Cast("float32", i * 3 + 7)
""",
        "parallel loops": """
for i in T.parallel(6):
    for j in range(20):
        C[i, j] = A[i, j] + T.Cast("float32", i * 3 + j) * T.Cast("float32", i * 3)
    for j in range(20):
        C[i, j] = C[i, j] + T.Cast("float32", i * 3 + j) * T.Cast("float32", i * 3)
""",
    }
)
"""Bodies of prim funcs of the matrices A and C, (6, 20), that change."""

KEPT = MappingProxyType(
    {
        "loads and calls": """
for i, j in T.grid(6, 20):
    C[i, j] = T.exp(A[i, j]) + T.exp(A[i, j]) * (A[i, j] + T.float32(1)) + (A[i, j] + T.float32(1))
""",
        "operands that are swapped": """
for i, j in T.grid(6, 20):
    C[i, j] = T.Cast("float32", (i + j) * 3 + (j + i) * 5)
""",
        "loads in indices": """
B = T.alloc_buffer((200,), "int32")
for i in range(200):
    B[i] = i
for i, j in T.grid(6, 20):
    C[i, j] = A[B[i] % 6, B[j] % 20] + A[B[i] % 6, 0]
""",
        "comparisons": """
for i, j in T.grid(6, 20):
    C[i, j] = T.if_then_else(i < j, A[i, j], T.float32(0)) + T.if_then_else(i < j, A[i, j], T.float32(1))
""",
        "variables of two loops": """
for i in range(6):
    for j in range(20):
        C[i, j] = A[i, j] + T.Cast("float32", i * 3 + j)
for i in range(6):
    for j in range(20):
        C[i, j] = C[i, j] + T.Cast("float32", i * 3 + j)
""",
    }
)
"""Bodies that stay as they are."""
