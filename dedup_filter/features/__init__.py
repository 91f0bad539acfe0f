"""Layer "features": normalised text -> words -> shingles -> weighted features.

Knows languages, not pages: no markup, no URL, no fingerprint.
"""

from dedup_filter.features.analysis import FEATURE_HASHES, Analysis, analyse
from dedup_filter.features.recipes import RECIPES, PartWeights, part_features
from dedup_filter.features.tokens import tokens

__all__ = [
    "FEATURE_HASHES",
    "RECIPES",
    "Analysis",
    "PartWeights",
    "analyse",
    "part_features",
    "tokens",
]
