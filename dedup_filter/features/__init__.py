"""Layer "features": normalised text -> words -> shingles -> weighted features.

Knows languages, not pages: no markup, no URL, no fingerprint.
"""
