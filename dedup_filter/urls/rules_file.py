"""Proven rules <-> a file in the format of duplicate-url-discarder, a Scrapy add-on.

The file is a list of JSON objects. The add-on reads `order`, `urlPattern`, `processor` and `args`;
this package reads `args` and `evidence`. The processor is in `urls/discarder.py`.

The add-on looks up the rules of a URL as it is requested. So the pattern of a rule also names the
origins that earlier rules change into its origin.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dedup_filter.errors import ConfigError
from dedup_filter.upkeep.whole_file import require_free, whole_file
from dedup_filter.urls.mining import Evidence, Proven
from dedup_filter.urls.rule import Rule

IN_FOLDER = "url_rules.json"
"""The file with the rules of its crawls, in the folder of an index or of a job."""
PROCESSOR = "dedupFilter"
_FIRST = 1_000
"""The priority of the first rule; the add-on applies rules of high priority first."""


def write_rules(path: str | Path, proven: Iterable[Proven], *, force: bool = False) -> None:
    """Write rules to a file.

    Raises:
        ConfigError: the path exists and `force` is not given, or no file can be there.
        OSError: the file cannot be written; nothing was changed.
    """
    require_free(path, may_replace=lambda _: force)
    with whole_file(Path(path)) as file:
        text = json.dumps(as_objects(proven), indent=1, ensure_ascii=True)
        file.write(text.encode("ascii") + b"\n")


def as_objects(proven: Iterable[Proven]) -> list[dict[str, Any]]:
    """Return the objects of the file."""
    origins: dict[str, set[str]] = {}
    objects = []
    for order, (rule, evidence) in enumerate(proven):
        taken_for = {rule.origin, *origins.get(rule.origin, ())}
        if rule.kind == "origin":
            origins.setdefault(rule.arguments[0], set()).update(taken_for)
        urls = sorted(f"{origin}/" for origin in taken_for)
        objects.append(
            {
                "order": order,
                "urlPattern": {"include": urls, "priority": max(_FIRST - order, 1)},
                "processor": PROCESSOR,
                "args": [rule.origin, rule.kind, *rule.arguments],
                "evidence": {
                    "support": evidence.support,
                    "precision": round(evidence.precision, 4),
                    "examples": evidence.examples,
                },
            }
        )
    return objects


def read_rules(path: str | Path) -> list[Proven]:
    """Read the rules of a file that `write_rules` wrote; the user may have removed some.

    Raises:
        ConfigError: the file cannot be read, or holds no such rules.
    """
    file = Path(path)
    try:
        if file.exists() and not file.is_file():  # a device, for instance, may have no end
            raise ValueError("it is not a file")  # noqa: TRY301 - a reason like the others
        values = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{str(path)!r} holds no rules: {error}") from error
    if not isinstance(values, list):
        raise ConfigError(f"{str(path)!r} holds no rules: it is not a list")
    return [_proven(value, f"{str(path)!r}: rule {number}") for number, value in enumerate(values)]


def _proven(value: object, where: str) -> Proven:
    try:
        evidence = value["evidence"]  # type: ignore[index] # TypeError: see below
        origin, kind, *arguments = value["args"]  # type: ignore[index]
        support = int(evidence["support"])
        examples = [(str(one), str(other)) for one, other in evidence["examples"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ConfigError(
            f"{where} is not as dedup-filter writes it: an object with args (origin, kind, "
            "arguments) and evidence (support, examples)"
        ) from None
    rule = Rule(origin, kind, tuple(arguments))
    if not rule.is_well_formed:
        raise ConfigError(f"{where} has no known kind with its arguments")
    parts = urlsplit(rule.origin)
    if not (parts.scheme and parts.netloc and rule.origin == f"{parts.scheme}://{parts.netloc}"):
        raise ConfigError(f"{where} has no origin such as https://example.com")
    if support < 0:
        raise ConfigError(f"{where} has evidence below 0")
    return Proven(rule, Evidence(support, examples))
