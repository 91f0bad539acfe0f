"""Layer "service": pages of any program -> verdicts, over a pipe or over HTTP.

    pipe          lines on standard input -> lines on standard output
    web           requests -> answers; the only modules that know Starlette and uvicorn are
                  `web` and `server`
    page_bodies   the body of a request -> a page
    claims        claims of clients, each with a time limit -> commits and releases
    index_thread  calls of many requests -> one thread

The filter is called as a crawl calls it (`crawl_filter`). Nothing here knows commands.
"""
