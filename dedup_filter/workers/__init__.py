"""Reading and measuring pages, the dear part of judging them, here or in worker processes.

    bytes -> page -> what it shows -> (what its host's pages have shown) -> its profile

A profile depends on what is known of the page's host, which only the crawl's process knows, and it
changes with each page. So a page is read first, and what it shows comes back; with that, the
crawl's process looks up how often each block was shown, and the worker measures the page. If more
was learnt when the page is judged, and it matters to the page, it is measured again. The profile is
the same wherever it is made.

Guarantee: no page is lost with a worker: what a worker cannot do is done in the crawl's process.
"""
