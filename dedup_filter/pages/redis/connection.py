"""Calls to the servers of a shared index, each with a time limit, and rests while they are away.

After a call that found nobody, or a server that takes no writes at present, further calls fail at
once for a while, longer each time: a crawl must not stand still at every page because its index
is away. The first call after a rest tells whether it is back.

No call is sent twice by itself: one whose answer was lost may have been carried out. Only a script
that found its slot moving to another node, and did nothing, is sent again.
"""

import random
from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import Any, TypeVar

from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.pages.redis.address import Address
from dedup_filter.pages.redis.answers import advice, is_away, is_login, is_moving, said_by
from dedup_filter.pages.redis.client import TIMEOUT, client_of, refused_login, scripts_of
from dedup_filter.pages.redis.tls import tls_doubt, tls_fault

__all__ = ["TIMEOUT", "Connection"]

Result = TypeVar("Result")

_PAUSE = 0.02
_SHORTEST_REST = 0.1
_LONGEST_REST = 5.0


class Connection:
    """A client of the servers at an address. Several threads may call it.

    Raises:
        ConfigError: the client library is not installed, or refuses an option of the address.
        StoreAway: by all methods: nobody answers, or no writes are taken at present.
        StoreError: by all methods: the server refuses the call.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._client = client_of(address)
        self._scripts = scripts_of(self._client)
        self._rest = 0.0
        self._rests_until = 0.0
        self._why = ""

    def call(self, work: Callable[[Any], Result]) -> Result:
        """Do some work with the client."""
        import redis

        if monotonic() < self._rests_until:
            raise StoreAway(self._why)
        try:
            result = work(self._client)
        except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
            raise self._meant(error) from None
        self._rest = 0.0
        return result

    def run(self, script: str, *arguments: object) -> Any:
        """Run one of the scripts; the first of the arguments is the key that tells it the index."""
        run = self._scripts[script]
        return self.call(
            lambda _: _when_settled(lambda: run(keys=arguments[:1], args=arguments[1:]))
        )

    def unlink(self, names: Sequence[str]) -> None:
        """Delete keys, in one call for each node that has some of them."""

        def unlink(client: Any) -> None:
            with client.pipeline(transaction=False) as pipe:
                for name in names:
                    pipe.unlink(name)
                pipe.execute()

        self.call(unlink)

    def close(self) -> None:
        """Let go of all connections."""
        self._client.close()

    def _meant(self, error: Exception) -> StoreError:
        """Say what an error of the client library means for the index."""
        import redis

        said = said_by(error)
        where = f"the shared index {self.address}"
        if is_login(error):
            return refused_login(self.address)
        if fault := tls_fault(said):
            return StoreError(f"{where}: {fault}")
        has_moved = isinstance(error, redis.exceptions.AskError) or said.startswith("MOVED ")
        if has_moved and not self.address.is_cluster:
            scheme = "rediss" if self.address.has_tls else "redis"
            return StoreError(
                f"{where}: the server is a node of a cluster: its location begins with "
                f"{scheme}+cluster://"
            )
        if not is_away(error, said):
            is_there = isinstance(error, redis.ResponseError) and "WRONGTYPE" in said
            hint = "; other keys are there under its name" if is_there else ""
            return StoreError(f"{where}: the server refuses the call ({said}){hint}")
        self._rest = min(max(2 * self._rest, _SHORTEST_REST), _LONGEST_REST)
        # Crawlers that lost it together are not to come back together.
        self._rests_until = monotonic() + self._rest * random.uniform(0.5, 1.0)
        self._why = f"{where} cannot be reached, or takes no writes, at present: {advice(said)}"
        self._why += tls_doubt(said) if self.address.has_tls else ""
        return StoreAway(self._why)


def _when_settled(run: Callable[[], Result]) -> Result:
    """Run a script; wait for a while if its slot is moving to another node."""
    import redis

    latest = monotonic() + TIMEOUT
    while True:
        try:
            return run()
        except redis.ResponseError as error:  # nothing was done
            if not is_moving(error) or monotonic() > latest:
                raise
        sleep(_PAUSE)
