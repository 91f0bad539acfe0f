"""What is kept of pages on servers, for several processes at once: Redis or Redis Cluster.

    page -> event in one log that all processes follow, record in a key of its own
    host -> list of what its first pages have shown

    profile -> replica -> candidates -> their records -> repeats one of them?      compare
            -> appended to the log -> what came before it there -> repeats one?    record

Guarantee, for any number of processes and interleavings, each with the same options (what holds
if they differ is told in docs/formats.md):

A. Of two pages that are like each other at most one is kept. The one that stands second in the
   log has seen the first, at the latest in the answer to its own `append`.
B. What is dropped repeats a page that was kept. While its original is pending, a duplicate's
   fate is open: `see` waits for it, and who claims is told by `fate`.
C. No page is a duplicate of one that is gone. Pages that a dead process had pending are
   released when its lease is over. What a server loses when it fails is forgotten; a page like
   it can be kept again.

Two things can be let through twice: what is kept while the server is unreachable, and what a
process commits after its lease was over. Of frames, what the first pages of each host showed is
shared (`frame_exchange`). Records of dropped pages are not kept.

All calls to servers raise StoreError when these cannot be reached or refuse. Cost: one call for a
page that is new and one for its commit, two on a cluster; two for a duplicate. All the work on
fingerprints is done here.
"""
