"""An index shared by several processes, on Redis or Redis Cluster.

    page -> its keys -> buckets on any node -> pages that share a key -> repeats one of them?
         -> record, whose head has the state of its claim
    host -> list of frame updates

Guarantees for any number of processes and interleavings, if all processes have the same options
(docs/formats.md says what holds if their options differ):

A. Of two pages that are alike and share a key at most one is kept.
B. Each dropped page repeats a page that was kept. While the original is pending, the fate of the
   duplicate is open: `see` waits for the original, and a process that claims calls `fate`.
C. No page is a duplicate of a page that is gone. When the lease of a dead process is over, its
   pending pages are gone. Pages that a failing server loses are forgotten, and copies of them can
   be kept again.

Two pages that are alike can both be kept if one is kept while the server is unreachable, or if a
process commits one after its lease was over. All calls raise StoreError when a server cannot be
reached or refuses the call.
"""
