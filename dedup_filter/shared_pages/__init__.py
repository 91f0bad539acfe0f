"""What was kept by several processes: profiles in, verdicts out. The counterpart of `kept_pages`.

    profile -> replica -> candidates -> their records -> repeats one of them?      compare
            -> appended to the log -> what came before it there -> repeats one?    record

    followed_log   the log -> the replica, as new as the log; and what is lost is noticed
    comparer       a page, and those in the replica -> which of them it repeats
    claims         pages pending here -> committed, released, or lost and committed anew
    originals      the page that another repeats -> kept, gone or pending, waited for
    page_records   a page, and what was found of it -> its record
    bounds         pages that are too many or too old -> gone
    tally          what was found of pages -> totals of all processes
    shared_pages   all of these as one

Guarantee, for any number of processes and interleavings, each with the same options (what holds
if they differ is told in docs/formats.md):

A. Of two pages that are like each other at most one is kept. The one that stands second in the
   log has seen the first, at the latest in the answer to its own `append`.
B. What is dropped repeats a page that was kept. While its original is pending, a duplicate's
   fate is open: `see` waits for it, and who claims is told by `fate`.
C. No page is a duplicate of one that is gone. Pages that a dead process had pending are
   released when its lease is over. What a server loses when it fails is forgotten; a page like
   it can be kept again.

Two things can be let through twice: what is kept while the server is away, and what a process
commits after its lease was over. Of frames, what the first pages of each host showed is shared
(`frame_exchange`). Records of dropped pages are not kept.

Cost: one call for a page that is new, two where others are at work, and one for its commit, two
on a cluster; two or three for a duplicate. All the work on fingerprints is done here.
"""

from dedup_filter.shared_pages.shared_pages import SharedPages

__all__ = ["SharedPages"]
