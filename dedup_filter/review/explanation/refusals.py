"""Why a page that is near another does not repeat it -> words for people."""

from dedup_filter.model import Refusal, Rule

_WHY: dict[Rule, str] = {
    "similarity": "{found} of the phrases of its text are there, {wanted} are wanted",
    "headline": "they have other headlines",
    "span": "{found} of the phrases of its main content, frame included, are there, {wanted} are "
    "wanted",
    "unread": "{found} of it were not read (hidden parts, script data), more than the {wanted} of "
    "its own text",
    "new_blocks": "it has {found} in blocks that are not there and that its host never showed "
    "before; at most {wanted} may be missing",
    "blocks": "it has {found} in blocks that are not there; at most {wanted} may be missing",
    "own": "{found} of its phrases that its host had not shown are there, {wanted} are wanted",
    "not_frame": "{found} of its phrases that are no frame are there, {wanted} are wanted",
    "story": "they have other headlines, and {found} of its phrases are there, {wanted} are wanted",
}
_IN_WORDS = ("unread", "new_blocks", "blocks")
"""Rules whose figures are words; those of the others are shares."""


def why(refusal: Refusal) -> str:
    """Say which rule a page does not meet; "there" is the other page.

    >>> why(Refusal("similarity", 0.612, 0.8, page=1, distance=3))
    '61.2 % of the phrases of its text are there, 80 % are wanted'
    >>> why(Refusal("blocks", 12, 0, page=1, distance=3))
    'it has 12 words in blocks that are not there; at most 0 words may be missing'
    """

    def shown(figure: float | None) -> str:
        if refusal.rule in _IN_WORDS:
            return f"{figure or 0:,.4g} words"
        return f"{100 * (figure or 0):.3g} %"

    return _WHY[refusal.rule].format(found=shown(refusal.found), wanted=shown(refusal.wanted))
