# title: MyIRModule with corrected indices
# shows: the prim func of the RFC's example, with the loops and the indices of a matrix product: it gives x @ y
# source: RFC 0089 "Relax Upstreaming", D0
# changes: the loops are (m, k, n) and B is read at [k, j]; indentation restored; the packed functions in front are left out
from tvm.script import relax as R

@tvm.script.ir_module
class MyIRModule:
    # define a PrimFunc to do matrix multiply
    # note TIR PrimFunc is in DPS, here z is the output
    @T.prim_func
    def tir_matmul(x: T.handle, y: T.handle, z: T.handle) -> None:
        m = T.var("int32")
        n = T.var("int32")
        k = T.var("int32")
        A = T.match_buffer(x, (m, n))
        B = T.match_buffer(y, (n, k))
        C = T.match_buffer(z, (m, k))

        for (i0, j0, k0) in T.grid(m, k, n):
            with T.block():
                i, j, k = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    C[i, j] = 0.0
                C[i, j] += A[i, k] * B[k, j]

    @R.function
    def relax_func(x: R.Tensor[(m, n), "float32"], y: R.Tensor[(n, k), "float32"]):
        with R.dataflow():
            # call_tir calls into a PrimFunc, and returns the matrix multiplication result
            gv0 = R.call_tir(tir_matmul, (x, y), (m, k), dtype="float32")
            R.outputs(gv0)

        # call into a PackedFunc to print the value of gv0
        R.call_packed("custom_print", gv0)

        # call the registered "custom_add" non-DPS PackedFunc and return the result
        gv1 = R.call_packed("custom_add", gv0, gv0)

        # call the registered "custom_tile" DPS PackedFunc and return the result
        gv2 = R.call_dps_packed("custom_tile", (gv1), (m, k * 2), dtype="float32")
        return gv2
