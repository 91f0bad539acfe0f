"""Verdict -> a mark on the item (DEDUP_ACTION=tag): the dry run of the filter."""

from typing import Any

from itemadapter import ItemAdapter

from dedup_filter.model import Verdict

__all__ = ["tag"]


def tag(item: Any, field: str, verdict: Verdict) -> bool:
    """Write the verdict into a field of the item; return whether the item has room for it.

    Dicts always have. Other kinds of items need the field, or must allow extra ones (pydantic).
    """
    mark = {
        "outcome": verdict.outcome,
        "original": verdict.original,
        "distance": verdict.distance,
        "similarity": verdict.similarity,
        "reason": verdict.reason,
    }
    try:
        if getattr(item, "model_config", {}).get("extra") == "allow":
            setattr(item, field, mark)
        else:
            ItemAdapter(item)[field] = mark
    except Exception:
        # No such field, no item at all, frozen, or whatever else its class objects to: the
        # caller counts and warns. An item must not be lost because it cannot be marked.
        return False
    return True
