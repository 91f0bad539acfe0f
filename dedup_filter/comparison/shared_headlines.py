"""Headlines of a page and a candidate, and their shared text -> whether they may be one text.

    the same host      the same headline, see `text.headlines`
    the same menus     one headline stands in the other
    another host       likewise, or the shared text has the words in which the headlines differ

Editors write a headline of their own from the words of the story. So at least half of the words
that one headline has beyond the other must stand in phrases that both pages have. The town in
"Plumber in Thirsk" is not in the text that the page shares with "Plumber in Ely".
"""

import numpy as np

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.features.analysis import hash_words
from dedup_filter.features.languages import function_words
from dedup_filter.features.tokens import tokens_of_parts
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.text.headlines import are_within, headlines, is_headed_alike, never_shown
from dedup_filter.thresholds import HALF


def are_headed_alike(page: PageProfile, candidate: Candidate) -> bool:
    """Whether a page and a candidate may be one text, by their headlines.

    Cost: 0.1 ms for 1,000 words if they differ.
    """
    headline, other, times_shown = page.headline, candidate.headline, page.around.times_shown
    if candidate.is_same_host:
        return is_headed_alike(headline, other, times_shown)
    # Editions of a plain text begin with another date.
    if (page.around.is_plain and not headline.title) or are_within(headline, other, times_shown):
        return True
    return not candidate.has_same_menus and _are_told_by_shared_text(page, candidate)


def _are_told_by_shared_text(page: PageProfile, candidate: Candidate) -> bool:
    mine = _words_of(headlines(page.headline, page.around.times_shown), page)
    theirs = _words_of(headlines(candidate.headline, never_shown), page)
    words = np.array(sorted(set().union(*mine, *theirs)), np.uint64)
    said, lacking = page.passages.said_in(candidate.sketch, words, page.headline.h1)
    for one in mine:
        for other in theirs:
            # Words that stand in no sampled phrase beside the headline cannot be compared.
            for beyond in ((one - other) & (said | lacking), (other - one) & (said | lacking)):
                if beyond & said and len(beyond & said) >= HALF * len(beyond):
                    return True
    return False


def _words_of(parts: set[str], page: PageProfile) -> list[set[int]]:
    """Return the hashes of the words of each part of a headline, without function words."""
    little = function_words(page.language)
    words = (tokens_of_parts([part]).words for part in sorted(parts))
    return [set(hash_words([w for w in each if w not in little]).tolist()) for each in words]
