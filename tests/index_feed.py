"""A feed of pages for tests of the commands, and what an index made of it holds."""

import json
import sqlite3

from command_line import lines, run

from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.upkeep import index_at

PARAGRAPHS = [
    f"Paragraph {n} of the harbour report tells that ship {n * 7} came from port {n * 13} with "
    f"cargo {n * 5}, and that crane {n * 3} was at work on quay {n * 11} until hour {n * 17}."
    for n in range(400)
]


def article(number, changed=0):
    """A text of 180 words that no other number has; with a change near to its own."""
    start = number * 6
    return " ".join([*PARAGRAPHS[start : start + 6], f"edition {changed} of many" * bool(changed)])


def item(number, **fields):
    return {"url": f"https://www.example.com/{number}", "text": article(number), **fields}


ITEMS = [item(n) for n in range(20)] + [item(90 + n, text=article(n, 1)) for n in range(5)]


def write_jsonl(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return str(path)


def contents(folder):
    """What a folder holds; of the record, the rows: opening it to read touches the log's files."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def tamper(index, sql):
    connection = sqlite3.connect(index / "pages.sqlite3")
    connection.executescript(sql)
    connection.close()


def records(index):
    with SqliteStore.open_to_read(index) as reader:
        return list(reader.records())


def kept(location):
    """The pages that later ones are compared with, without their numbers: kinds differ in those."""
    with index_at(str(location)).recorded() as recorded:
        records = list(recorded.records())
    return [record._replace(page=0, original=None) for record in records if record.is_kept]


def stats(index, run=run):
    (found,) = lines("index", "stats", str(index), "--json", run=run)
    return found
