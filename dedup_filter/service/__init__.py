"""Layer "service": pages of any program -> verdicts, over a pipe (`pipe`) or HTTP (`web`).

`page_bodies` reads requests; `claims` has the claims of clients, each with a time limit.
"""
