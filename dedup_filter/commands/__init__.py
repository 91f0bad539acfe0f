"""Layer "commands": the arguments of one subcommand -> calls -> lines of JSON, or a table.

Each command is `command` in the module of its name (`index stats`: `index_stats`), with no logic
that a program could want: that is in the layers below. They are listed in `dedup_filter.cli`,
which tells how they end. Common to them: how fingerprints are read and how results are written.
"""
