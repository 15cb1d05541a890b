"""Making nodes from nodes: rewriting that records itself, substitution, builders."""
