"""The view models of the life of a part of a recorded program, by their own name."""

from relax_core.present.nodes.origin_models import Confidence, LifeLine, LifeStage, NodeLife

__all__ = ["Confidence", "LifeLine", "LifeStage", "NodeLife"]
