"""Layer "service": pages of any program -> verdicts, over a pipe (`pipe`) or HTTP (`web`).

`claims` has the claims of clients, each with a time limit.
"""
