"""Reading and measuring pages, the dear part of judging them, here or in worker processes.

    bytes -> page;  page, and how often its host has shown each of its blocks -> profile

A profile depends on what is known of the page's host, which only the crawl's process knows, and it
changes with each page. A worker measures a page as it reads it, with what it expects to be known.
If something else is known when the page is judged, the worker is told, and measures it again. The
profile is the same wherever it is made.

Guarantee: no page is lost with a worker: what a worker cannot do is done in the crawl's process.
"""
