"""Layer "service": pages of any program -> verdicts, over a pipe (`pipe`) or HTTP (`server`).

web           requests -> answers; `web` and `server` alone know Starlette and uvicorn
page_bodies  the body of a request -> a page
claims        claims of clients, each with a time limit -> commits and releases
index_thread  calls of many requests -> one thread
"""
