# title: A vector with too many lanes
# shows: lanes are counted in 16 bits
# source: RelaxScope
@I.ir_module
class Module:
    @T.prim_func
    def main(a: T.Buffer((4,), "float32")):
        a[0] = T.Shuffle([T.broadcast(T.float32(0), 99999999999)], [0])  #! PA058
