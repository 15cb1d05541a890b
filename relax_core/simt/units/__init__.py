"""What units beside the lanes of a warp do: products of small matrices, and copies that go on by themselves."""
