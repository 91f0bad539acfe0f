"""An index shared by several processes, on Redis or Redis Cluster.

    page -> event in one log that all processes follow, record in a key of its own
    host -> list of frame updates from its first pages

    profile -> replica -> candidates -> their records -> repeats one of them?      compare
            -> appended to the log -> events before it in the log -> repeats one?  record

Guarantees for any number of processes and interleavings, if all processes have the same options
(docs/formats.md says what holds if their options differ):

A. Of two pages that are alike at most one is kept. The process of the later page in the
   log has read the earlier page, at the latest in the answer to its own `append`.
B. Each dropped page repeats a page that was kept. While the original is pending, the fate of the
   duplicate is open: `see` waits for the original, and a process that claims calls `fate`.
C. No page is a duplicate of a page that is gone. When the lease of a dead process is over, its
   pending pages are released. Pages that a failing server loses are forgotten, and copies of them
   can be kept again.

Two pages that are alike can both be kept if one is kept while the server is unreachable, or if a
process commits one after its lease was over. Processes share the frame updates of the first
pages of each host (`frame_exchange`).

All calls raise StoreError when a server cannot be reached or refuses the call. Cost: one call for a
new page and one for its commit, two on a cluster; two for a duplicate. Fingerprints are compared in
this process, not on the server.
"""
