"""Buffers that share memory, as in apache-tvm where that is right."""

from types import MappingProxyType

PROGRAMS = MappingProxyType(
    {
        "a chain": """
B = T.alloc_buffer((120,), "float32")
D = T.alloc_buffer((120,), "float32")
E = T.alloc_buffer((120,), "float32")
for i in range(120):
    B[i] = A[i // 20, i % 20]
for i in range(120):
    D[i] = B[i] * T.float32(2)
for i in range(120):
    E[i] = D[119 - i] + T.float32(2)
for i in range(120):
    C[i // 20, i % 20] = E[i]
""",
        "sizes that differ": """
B = T.alloc_buffer((120,), "float32")
D = T.alloc_buffer((60,), "float32")
E = T.alloc_buffer((30,), "float32")
F = T.alloc_buffer((240,), "float32")
for i in range(120):
    B[i] = A[i // 20, i % 20]
for i in range(60):
    D[i] = B[i] * T.float32(2)
for i in range(30):
    E[i] = D[59 - i] + T.float32(2)
for i in range(240):
    F[i] = E[i // 8] + T.float32(2)
for i in range(120):
    C[i // 20, i % 20] = F[i] + F[i + 120]
""",
        "rows in a loop": """
for i in range(6):
    B = T.alloc_buffer((20,), "float32")
    D = T.alloc_buffer((20,), "float32")
    E = T.alloc_buffer((20,), "float32")
    for j in range(20):
        B[j] = A[i, j]
    for j in range(20):
        D[j] = B[19 - j] * T.float32(2)
    for j in range(20):
        E[j] = D[19 - j] + T.float32(2)
    for j in range(20):
        C[i, j] = E[j]
""",
        "a value from iteration to iteration": """
B = T.alloc_buffer((20,), "float32")
D = T.alloc_buffer((20,), "float32")
for j in range(20):
    B[j] = T.float32(0)
for i in range(6):
    for j in range(20):
        B[j] = B[j] + A[i, j]
    for j in range(20):
        D[j] = B[19 - j] * T.float32(2)
    for j in range(20):
        C[i, j] = D[j]
""",
        "dtypes that differ": """
B = T.alloc_buffer((120,), "int32")
D = T.alloc_buffer((120,), "float32")
E = T.alloc_buffer((120,), "int32")
F = T.alloc_buffer((120,), "float16")
for i in range(120):
    B[i] = T.Cast("int32", A[i // 20, i % 20])
for i in range(120):
    D[i] = T.Cast("float32", B[119 - i]) * T.float32(2)
for i in range(120):
    E[i] = T.Cast("int32", D[119 - i])
for i in range(120):
    F[i] = T.Cast("float16", E[119 - i])
for i in range(120):
    C[i // 20, i % 20] = T.Cast("float32", F[i])
""",
        "registers": """
for i in range(6):
    B = T.alloc_buffer((1,), "float32")
    D = T.alloc_buffer((1,), "float32")
    for j in range(20):
        B[0] = A[i, j]
        D[0] = B[0] * T.float32(2)
        C[i, j] = D[0]
""",
        "two branches": """
for i in range(6):
    if i < 3:
        B = T.alloc_buffer((20,), "float32")
        for j in range(20):
            B[j] = A[i, j]
        for j in range(20):
            C[i, j] = B[19 - j]
    else:
        D = T.alloc_buffer((20,), "float32")
        for j in range(20):
            D[j] = A[i, j] * T.float32(2)
        for j in range(20):
            C[i, j] = D[19 - j]
""",
        "rows of threads": """
for i in T.parallel(6):
    B = T.alloc_buffer((20,), "float32")
    D = T.alloc_buffer((20,), "float32")
    E = T.alloc_buffer((20,), "float32")
    for j in range(20):
        B[j] = A[i, j]
    for j in range(20):
        D[j] = B[19 - j] * T.float32(2)
    for j in range(20):
        E[j] = D[19 - j] * T.float32(2)
    for j in range(20):
        C[i, j] = E[j]
""",
        "kinds of memory": """
B = T.alloc_buffer((120,), "float32", scope="global")
D = T.alloc_buffer((120,), "float32", scope="shared")
E = T.alloc_buffer((120,), "float32", scope="global")
F = T.alloc_buffer((120,), "float32", scope="shared")
for i in range(120):
    B[i] = A[i // 20, i % 20]
for i in range(120):
    D[i] = B[119 - i] * T.float32(2)
for i in range(120):
    E[i] = D[119 - i] + T.float32(2)
for i in range(120):
    F[i] = E[119 - i] + T.float32(2)
for i in range(120):
    C[i // 20, i % 20] = F[i]
""",
        "a buffer without uses": """
B = T.alloc_buffer((120,), "float32")
D = T.alloc_buffer((120,), "float32")
for i in range(120):
    B[i] = A[i // 20, i % 20]
for i in range(120):
    C[i // 20, i % 20] = A[i // 20, i % 20]
""",
        "another order of uses": """
B = T.alloc_buffer((120,), "float32")
D = T.alloc_buffer((120,), "float32")
for i in range(120):
    D[i] = A[i // 20, i % 20]
for i in range(120):
    B[i] = D[119 - i] * T.float32(2)
for i in range(120):
    C[i // 20, i % 20] = B[i]
""",
        "registers written over": """
for i in range(6):
    for j in range(20):
        B = T.alloc_buffer((1,), "float32")
        D = T.alloc_buffer((1,), "float32")
        E = T.alloc_buffer((2,), "float32")
        F = T.alloc_buffer((2,), "float32")
        B[0] = A[i, j]
        D[0] = B[0] * T.float32(2)
        for k in range(2):
            E[k] = D[0]
        for k in range(2):
            F[k] = E[k] + T.float32(1)
        C[i, j] = F[0] + F[1]
""",
        "a condition": """
B = T.alloc_buffer((120,), "float32")
D = T.alloc_buffer((120,), "float32")
for i in range(120):
    B[i] = A[i // 20, i % 20]
for i in range(120):
    if i < 100:
        D[i] = B[i] * T.float32(2)
for i in range(100):
    C[i // 20, i % 20] = D[i]
for i in range(20):
    C[5, i] = T.float32(0)
""",
        "loops beside a function": """
B = T.alloc_buffer((20,), "float32")
F = T.alloc_buffer((20,), "float32")
for i in range(20):
    B[i] = A[0, i]
for i in range(20):
    F[i] = B[19 - i]
for i in range(6):
    D = T.alloc_buffer((20,), "float32")
    E = T.alloc_buffer((20,), "float32")
    for j in range(20):
        D[j] = A[i, j] + F[j]
    for j in range(20):
        E[j] = D[19 - j]
    for j in range(20):
        C[i, j] = E[j]
""",
        "two loops": """
for i in range(6):
    for r in range(2):
        B = T.alloc_buffer((20,), "float32")
        D = T.alloc_buffer((20,), "float32")
        for j in range(20):
            B[j] = A[i, j]
        for j in range(20):
            D[j] = B[19 - j]
        for j in range(20):
            C[i, j] = D[j]
    for r in range(2):
        E = T.alloc_buffer((20,), "float32")
        F = T.alloc_buffer((20,), "float32")
        for j in range(20):
            E[j] = A[i, j]
        for j in range(20):
            F[j] = E[19 - j]
        for j in range(20):
            C[i, j] = C[i, j] + F[j]
""",
        "two loops over one row": """
B = T.alloc_buffer((120,), "float32")
D = T.alloc_buffer((120,), "float32")
for i, j in T.grid(6, 20):
    B[i * 20 + j] = A[i, j]
for i, j in T.grid(6, 20):
    D[i * 20 + j] = B[i * 20 + j] * B[i * 20 + j]
for i in range(120):
    C[i // 20, i % 20] = D[i]
""",
        "the nearest size": """
B = T.alloc_buffer((100,), "float32")
D = T.alloc_buffer((200,), "float32")
E = T.alloc_buffer((40,), "float32")
F = T.alloc_buffer((120,), "float32")
G = T.alloc_buffer((60,), "float32")
for i in range(100):
    B[i] = A[i // 20, i % 20]
for i in range(200):
    D[i] = A[i // 40, i % 20]
for i in range(40):
    E[i] = A[i // 20, i % 20]
for i in range(100):
    C[i // 20, i % 20] = B[i] + D[i + 100] + E[i // 3]
for i in range(20):
    C[5, i] = T.float32(0)
for i in range(120):
    F[i] = A[i // 20, i % 20]
for i in range(60):
    G[i] = A[i // 20, i % 20]
for i in range(60):
    C[i // 20, i % 20] = C[i // 20, i % 20] + F[i + 60] * G[59 - i]
""",
        "sizes too far apart": """
B = T.alloc_buffer((20,), "float32")
D = T.alloc_buffer((400,), "float32")
for i in range(20):
    B[i] = A[0, i]
for i in range(120):
    C[i // 20, i % 20] = B[i % 20]
for i in range(400):
    D[i] = A[0, i % 20]
for i in range(120):
    C[i // 20, i % 20] = C[i // 20, i % 20] + D[399 - i]
""",
        "a transposed matrix": """
B = T.alloc_buffer((6, 20), "float32")
D = T.alloc_buffer((20, 6), "float32")
for i, j in T.grid(6, 20):
    B[i, j] = A[i, j]
for i, j in T.grid(6, 20):
    D[j, i] = B[i, j]
for i, j in T.grid(6, 20):
    C[i, j] = D[j, i]
""",
    }
)
"""Bodies of prim funcs of the matrices A and C, (6, 20)."""
