"""Layer "features": normalised text -> words -> shingles -> weighted features.

Knows languages, not pages: no markup, no URL, no fingerprint.
"""

from dedup_filter.features.analysis import Analysis, analyse, analyse_parts
from dedup_filter.features.feature_hash import FEATURE_HASHES
from dedup_filter.features.page_parts import PartWeights, image_features, joined, shingles_of_kind
from dedup_filter.features.recipes import RECIPES, Features
from dedup_filter.features.tokens import tokens

__all__ = [
    "FEATURE_HASHES",
    "RECIPES",
    "Analysis",
    "Features",
    "PartWeights",
    "analyse",
    "analyse_parts",
    "image_features",
    "joined",
    "shingles_of_kind",
    "tokens",
]
