"""`dedup-filter serve`: an index -> a server that any crawler can call."""

from importlib import import_module
from typing import Any

import click

from dedup_filter.commands import location_argument, say
from dedup_filter.commands.options import (
    filter_option,
    given_settings,
    number_option,
    workers_option,
)
from dedup_filter.errors import ConfigError, DedupError, needs_extra
from dedup_filter.filter import NearDuplicateFilter

_VARIABLE = "DEDUPFILTER_TOKEN"


@click.command("serve")
@location_argument()
@click.option("--host", default="127.0.0.1", help="Address to listen on; default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8077, help="Default: 8077.")
@click.option("--token", default="", envvar=_VARIABLE, help=f"Secret of clients (or ${_VARIABLE}).")
@click.option("--lease", type=click.FloatRange(0.1, 86_400), default=60, help="Seconds of a claim.")
@number_option("--queue", 1, "Most pages under way.", 256)
@workers_option
@filter_option
def serve_command(index: str, options: dict[str, Any], workers: str, **given: Any) -> None:
    """Serve INDEX over HTTP, so that many crawlers in any language share it.

    INDEX is a folder, the address of a shared index, or memory:. Pages and verdicts are JSON: POST
    /see /claim /commit /release /find, GET /stats /healthz. A claim that is neither committed nor
    released in its time is released. The first line of the output has the address.

    \b
    Exit codes: 0 ended by SIGTERM, 2 INDEX or HOST cannot be used, 130 ended by Ctrl-C.
    """  # noqa: D301 - click must see the character
    host, port, token = given["host"], given["port"], given["token"]
    if not token and host not in ("127.0.0.1", "localhost"):
        raise ConfigError(f"--host {host} can be reached by others: give a --token")
    settings = options | given_settings(workers=workers)
    with needs_extra("serve", "serve"):
        web = import_module("dedup_filter.service.web")
    try:
        bound = web.bound(host, port)
    except OSError as error:
        raise DedupError(f"--host {host} --port {port}: {error}") from None
    with bound as taken, NearDuplicateFilter.open(index, **settings) as pages:
        say(f"http://{host}:{taken.getsockname()[1]}")
        service = web.Service(pages, given["lease"], given["queue"])
        web.serve(service, taken, token)
