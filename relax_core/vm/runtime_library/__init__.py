"""Functions of TVM's runtime that modules of language models call: caches, sampling, penalties."""
