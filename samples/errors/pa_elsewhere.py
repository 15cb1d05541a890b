# title: A function that stands in another text
# shows: parts of modules of 2022 call prim funcs that they do not hold; each name is taken for a packed function
# source: RelaxScope
@R.function
def main(x: Tensor((2, 3), "float32")):
    y = tile_relu(x)  #! PA038
    return y
