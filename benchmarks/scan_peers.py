"""Other tools for finished crawls, each a program of its own from a file of texts to output files.

    python benchmarks/scan_peers.py TOOL INPUT FOLDER [OPTION=VALUE ...]

`benchmarks/scan.py` starts these and takes their time. INPUT is JSON lines with the fields `id` and
`text` (`html` for what extracts). Each tool is used as its documentation shows, on all cores where
it can use them, and writes what it keeps and what it drops; `clusters.json` in the folder lists the
ids that it takes for copies of one another, after its time is taken where it does not write that.
"""

import json
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

Options = dict[str, Any]
Clusters = list[list[str]]

CORES = os.cpu_count() or 1


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Read JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def shingles(text: str, words: int, characters: int) -> set[bytes]:
    """Cut a text into runs of words or, where `characters` is not 0, of characters."""
    units: Any = "".join(text.split()) if characters else text.lower().split()
    length, glue = (characters, "") if characters else (words, " ")
    places = range(max(len(units) - length + 1, 1))
    return {glue.join(units[place : place + length]).encode() for place in places}


def minhash(line: str, permutations: int, words: int, characters: int) -> Any:
    """Make datasketch's MinHash of a line of the input."""
    from datasketch import MinHash

    made = MinHash(num_perm=permutations)
    made.update_batch(shingles(json.loads(line)["text"], words, characters))
    return made


def datasketch(source: Path, folder: Path, options: Options) -> None:
    """Keep a text if `MinHashLSH` finds no kept one; with `all_cores` a pool makes the MinHashes.

    With `lsh`, a threshold for `MinHashLSH`, what it finds counts only if the MinHashes estimate a
    similarity of `threshold`.
    """
    from datasketch import MinHashLSH

    permutations, threshold = options.get("permutations", 128), options.get("threshold", 0.8)
    make = partial(
        minhash,
        permutations=permutations,
        words=options.get("words", 5),
        characters=options.get("characters", 0),
    )
    index = MinHashLSH(threshold=options.get("lsh", threshold), num_perm=permutations)
    kept: dict[str, Any] = {}
    with (
        Pool(CORES if options.get("all_cores") else 1) as pool,
        source.open(encoding="utf-8") as lines,
        source.open(encoding="utf-8") as again,
        (folder / "kept.jsonl").open("w", encoding="utf-8") as unique,
        (folder / "dropped.jsonl").open("w", encoding="utf-8") as duplicates,
    ):
        made = pool.imap(make, lines, 32) if options.get("all_cores") else map(make, lines)
        for line, signature in zip(again, made, strict=True):
            row = json.loads(line)
            found = index.query(signature)
            if "lsh" in options:
                similar = {other: signature.jaccard(kept[other]) for other in found}
                found = [
                    other
                    for other in sorted(similar, key=lambda other: -similar[other])
                    if similar[other] >= threshold
                ]
            if found:
                duplicates.write(json.dumps(row | {"original": found[0]}) + "\n")
            else:
                index.insert(row["id"], signature)
                kept[row["id"]] = signature
                unique.write(line)


def clusters_of_datasketch(folder: Path, _: list[str]) -> Clusters:
    """Pair each dropped text with its original."""
    return [[row["original"], row["id"]] for row in read(folder / "dropped.jsonl")]


def text_dedup(method: str, source: Path, folder: Path, options: Options) -> None:
    """Run `python -m text_dedup.minhash` or `.simhash`, all processor cores being its default."""
    options = {"column": "text", "output": folder / "kept", "cache_dir": folder / "cache"} | options
    command = [sys.executable, "-m", f"text_dedup.{method}", "--debug", "--path", "json"]
    command += ["--data_files", str(source), "--split", "train"]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    offline = os.environ | {"HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1"}
    subprocess.run(command, check=True, capture_output=True, env=offline)


def clusters_of_text_dedup(folder: Path, ids: list[str]) -> Clusters:
    """Read the union-find that text-dedup leaves; it counts rows."""
    found = pickle.loads((folder / "kept" / "uf.pkl").read_bytes())
    clusters = defaultdict(list)
    for row in sorted(found.parent):
        clusters[found.find(row)].append(ids[row])
    return list(clusters.values())


def datatrove(source: Path, folder: Path, options: Options) -> None:
    """Run datatrove's four stages of MinHash with the local executor, a worker for each core."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    language = options.pop("language", "eng")
    config = MinhashConfig(**options)
    # Its unit of work is a file.
    shards = split(source, folder / "shards", CORES)

    def run(pipeline: list[Any], tasks: int) -> None:
        logs = inside(f"log-{len(list(folder.iterdir()))}")
        LocalPipelineExecutor(pipeline, tasks, workers=CORES, logging_dir=logs).run()

    def inside(name: str) -> str:
        return str(folder / name)

    signatures = MinhashDedupSignature(inside("signatures"), config, language)
    run([JsonlReader(shards), signatures], CORES)
    buckets = MinhashDedupBuckets(inside("signatures"), inside("buckets"), config=config)
    run([buckets], config.num_buckets)
    clusters = MinhashDedupCluster(inside("buckets"), inside("remove"), config, True)
    run([clusters], 1)
    dropped = JsonlWriter(inside("dropped"), compression=None)
    chosen = MinhashDedupFilter(inside("remove"), dropped, load_cluster_ids=True)
    run([JsonlReader(shards), chosen, JsonlWriter(inside("kept"), compression=None)], CORES)


def split(source: Path, folder: Path, count: int) -> str:
    """Write the lines of a file to so many."""
    folder.mkdir()
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    size = -(-len(lines) // count)
    for number in range(count):
        part = folder / f"{number:05}.jsonl"
        part.write_text("".join(lines[number * size : (number + 1) * size]), encoding="utf-8")
    return str(folder)


def clusters_of_datatrove(folder: Path, ids: list[str]) -> Clusters:
    """Read the numbers of clusters that datatrove writes beside each text."""
    clusters = defaultdict(list)
    for path in [*(folder / "kept").iterdir(), *(folder / "dropped").iterdir()]:
        for row in read(path):
            clusters[row["metadata"]["minhash_cluster_id"]].append(row["id"])
    clusters.pop(-1, None)
    place = {name: number for number, name in enumerate(ids)}
    return [sorted(cluster, key=place.__getitem__) for cluster in clusters.values()]


def extract(source: Path, folder: Path, options: Options) -> None:
    """Replace the HTML of each line by its main text, a process on each core."""
    by = {"trafilatura": by_trafilatura, "resiliparse": by_resiliparse}[options["by"]]
    with (
        Pool(CORES) as pool,
        source.open(encoding="utf-8") as lines,
        (folder / "texts.jsonl").open("w", encoding="utf-8") as texts,
    ):
        texts.writelines(pool.imap(partial(without_html, by), lines, 8))


def without_html(text_of: Callable[[str], str], line: str) -> str:
    """Replace the HTML of a line by its main text."""
    row = json.loads(line)
    row["text"] = text_of(row.pop("html"))
    return json.dumps(row, ensure_ascii=False) + "\n"


def by_trafilatura(html: str) -> str:
    """Extract as datatrove's step does, without its limit of a second."""
    from trafilatura import extract

    return extract(html, favor_precision=True, include_comments=False, deduplicate=True) or ""


def by_resiliparse(html: str) -> str:
    """Extract by resiliparse."""
    from resiliparse.extract.html2text import extract_plain_text

    text: str = extract_plain_text(html, main_content=True)
    return text


TOOLS: dict[str, Callable[[Path, Path, Options], None]] = {
    "datasketch": datasketch,
    "text-dedup minhash": partial(text_dedup, "minhash"),
    "text-dedup simhash": partial(text_dedup, "simhash"),
    "datatrove": datatrove,
    "extract": extract,
}
CLUSTERS: dict[str, Callable[[Path, list[str]], Clusters]] = {
    "datasketch": clusters_of_datasketch,
    "text-dedup minhash": clusters_of_text_dedup,
    "text-dedup simhash": clusters_of_text_dedup,
    "datatrove": clusters_of_datatrove,
}


def number(value: str) -> Any:
    """Read a number; anything else is a word."""
    return json.loads(value) if value[0].isdigit() else value


def main() -> None:
    """Run one tool."""
    tool, source, folder, *options = sys.argv[1:]
    named = dict(option.split("=") for option in options)
    values = {name: number(value) for name, value in named.items()}
    TOOLS[tool](Path(source), Path(folder), values)


if __name__ == "__main__":
    main()
