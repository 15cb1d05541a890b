# title: MyIRModule, as it was posted
# shows: a kernel, a graph, and three kinds of calls in one module
# source: RFC 0089 "Relax Upstreaming", D0
# changes: written in the spelling of 2026; packed functions that return nothing are declared so
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.script import relax as R

@I.ir_module
class MyIRModule:
    # define a PrimFunc to do matrix multiply
    # note TIR PrimFunc is in DPS, here z is the output
    @T.prim_func(s_tir=True)
    def tir_matmul(x: T.handle, y: T.handle, z: T.handle):
        m = T.int32()
        n = T.int32()
        k = T.int32()
        A = T.match_buffer(x, (m, n))
        B = T.match_buffer(y, (n, k))
        C = T.match_buffer(z, (m, k))

        for i0, j0, k0 in T.grid(m, n, k):
            with T.sblock("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]

    @R.function(pure=False)
    def relax_func(x: R.Tensor(("m", "n"), "float32"), y: R.Tensor(("n", "k"), "float32")):
        cls = MyIRModule
        m = T.int64()
        n = T.int64()
        k = T.int64()
        with R.dataflow():
            # call_tir calls into a PrimFunc, and returns the matrix multiplication result
            gv0 = R.call_tir(cls.tir_matmul, (x, y), out_ty=R.Tensor((m, k), "float32"))
            R.output(gv0)

        # call into a PackedFunc to print the value of gv0
        R.call_packed("custom_print", gv0, ty_args=(R.Tuple,))

        # call the registered "custom_add" non-DPS PackedFunc and return the result
        gv1 = R.call_packed("custom_add", gv0, gv0, ty_args=(R.Tensor((m, k), "float32"),))

        # call the registered "custom_tile" DPS PackedFunc and return the result
        gv2 = R.call_dps_packed("custom_tile", (gv1,), out_ty=R.Tensor((m, k * 2), "float32"))
        return gv2
