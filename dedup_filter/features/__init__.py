"""Layer "features": normalised text -> words -> shingles -> weighted features.

Knows languages, not pages: no markup, no URL, no fingerprint.
"""

from dedup_filter.features.analysis import Analysis, analyse_parts
from dedup_filter.features.recipes import (
    RECIPES,
    Features,
    PartWeights,
    image_features,
    joined,
    shingles_of_kind,
)
from dedup_filter.features.tokens import tokens
from dedup_filter.features.vocabulary import FEATURE_HASHES

__all__ = [
    "FEATURE_HASHES",
    "RECIPES",
    "Analysis",
    "Features",
    "PartWeights",
    "analyse_parts",
    "image_features",
    "joined",
    "shingles_of_kind",
    "tokens",
]
