# title: MyIRModule, the guide-level example, spelled as in 2026
# shows: symbolic shapes, match_cast, a prim func and a packed function in one module
# source: RFC 0089 "Relax Upstreaming", user-facing interface
# changes: written in the spelling of 2026: pure=False, `cls`, declared dimensions, match_cast for match_shape, matmul for dot, the result's shape written out in call_tir; packed functions that return nothing are declared so; the lines around the module are left out
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.script import relax as R

@I.ir_module
class MyIRModule:
    # This is a TIR PrimFunc which calls the TIR intrinsic T.exp
    @T.prim_func(s_tir=True)
    def tir_exp_func(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = T.exp(X[i])

    # This is a Relax function which contains a dataflow block representing a computational graph, as well as a
    # call to an opaque packed function which performs an in-place update to the data in variable gv0.
    @R.function(pure=False)
    def relax_func(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(dtype="float32")):
        cls = MyIRModule
        n = T.int64()
        k = T.int64()
        m = T.int64()
        with R.dataflow():
            lv0 = R.match_cast(w, R.Tensor((k, m), "float32"))
            lv1: R.Tensor((n, m), "float32") = R.matmul(x, lv0)
            lv2: R.Tensor((n * m,), "float32") = R.flatten(lv1)
            lv3: R.Shape([n * m]) = R.shape([n * m])
            gv0 = R.call_tir(cls.tir_exp_func, (lv2,), out_ty=R.Tensor((n * m,), "float32"))
            R.output(gv0)

        R.call_packed("custom_inplace_update", gv0, ty_args=(R.Tuple,))
        return gv0
