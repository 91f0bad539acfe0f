"""A private Redis Cluster for tests: three masters on loopback, and a replica of each if wanted.

Turns `RedisServer`s into one cluster whose state every node calls ok, and waits for it to get there
again after a node was killed. Who serves what is always asked of the nodes, never remembered.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import redis
from redis.cluster import ClusterNode
from redis_servers import FOR_TESTS, LOOPBACK, PATIENCE, RedisServer, wait_until

MASTERS = 3
SLOTS = 16_384


class _Seen(NamedTuple):
    """A node as another one sees it: one line of CLUSTER NODES."""

    port: int
    name: str
    master: str
    slots: tuple[tuple[int, int], ...]


class RedisNodes:
    """A cluster; `with RedisNodes() as cluster:` starts it and ends it.

    `timeout_ms` is the time after which nodes call a silent one dead: short, a replica takes over
    soon; long, a machine under load changes nothing. `settings` are lines of redis.conf.
    """

    def __init__(
        self,
        *,
        replicas: bool = False,
        timeout_ms: int = 15_000,
        password: str | None = None,
        settings: dict[str, str] | None = None,
        tls: Path | None = None,
    ) -> None:
        self.password = password
        self._has_tls = tls is not None
        own = {
            "cluster-enabled": "yes",
            "cluster-config-file": "nodes.conf",
            "cluster-node-timeout": str(timeout_ms),
            # A replica that was long without its master may take over all the same.
            "cluster-replica-validity-factor": "0",
        }
        if tls:  # otherwise nodes do not know the ports where the others speak it
            own["tls-cluster"] = "yes"
        self.nodes = [
            RedisServer(password=password, settings=own | (settings or {}), tls=tls)
            for _ in range(MASTERS * (2 if replicas else 1))
        ]
        self._clients: list[Any] = []

    def __enter__(self) -> "RedisNodes":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Return redis+cluster://[:password@]127.0.0.1:port,… with all masters of the start."""
        secret = f":{quote(self.password, safe='')}@" if self.password else ""
        return f"redis+cluster://{secret}" + ",".join(n.address for n in self.nodes[:MASTERS])

    def client(self, **options: Any) -> redis.RedisCluster:
        """Return a new client of the cluster, closed with it."""
        start = [ClusterNode(LOOPBACK, node.port) for node in self.nodes if node.awake]
        made = redis.RedisCluster(
            startup_nodes=start, password=self.password, **FOR_TESTS | options
        )
        self._clients.append(made)
        return made

    def start(self) -> "RedisNodes":
        """Start all nodes and join them to a cluster."""
        with ExitStack() as undo:
            undo.callback(self.close)
            for node in self.nodes:
                node.start()
            self._join()
            undo.pop_all()
        return self

    def close(self) -> None:
        """Kill all nodes, close the clients given out, remove the temporary directories."""
        while self._clients:
            self._clients.pop().close()
        for node in self.nodes:
            node.close()

    def flush(self) -> None:
        """Empty all masters: data and scripts."""
        for node in self.masters():
            node.flush()

    def masters(self) -> list[RedisServer]:
        """Return the nodes that serve slots now, in the order of their slots.

        Requires: the cluster is ok.
        """
        serving = (seen for seen in _view(self._an_awake_node()) if seen.slots)
        return [self._at(seen.port) for seen in sorted(serving, key=lambda seen: seen.slots)]

    def master_of(self, key: str | bytes) -> RedisServer:
        """Return the node that serves `key` now."""
        slot = self._an_awake_node().ask("CLUSTER", "KEYSLOT", key)
        for seen in _view(self._an_awake_node()):
            if any(first <= slot <= last for first, last in seen.slots):
                return self._at(seen.port)
        raise LookupError(f"no node serves slot {slot}")

    def replica_of(self, node: RedisServer) -> RedisServer:
        """Return a replica of `node`, asked of `node`."""
        view = _view(node)
        name = next(seen.name for seen in view if seen.port == node.port)
        return self._at(next(seen.port for seen in view if seen.master == name))

    def move_slot(self, key: str | bytes, at_once: int) -> None:
        """Move the slot of a key to the next master, so many keys at a time.

        What `redis-cli --cluster reshard` does with a slot.
        """
        with self.moving(key) as move:
            while move(at_once=at_once):
                pass

    @contextmanager
    def moving(self, key: str | bytes) -> Iterator[Callable[..., bool]]:
        """Let the slot of a key be on its way to the next master; it is there in the end.

        Gives what moves some of its keys, and tells whether there were any left to be moved.
        """
        # Nodes that were told nothing of the last move hear of it a moment later.
        wait_until(self._agree_on_slots, "nodes that agree on who serves which slots")
        slot = self._an_awake_node().ask("CLUSTER", "KEYSLOT", key)
        source, masters = self.master_of(key), self.masters()
        target = masters[(masters.index(source) + 1) % len(masters)]
        names = {node: node.ask("CLUSTER", "MYID") for node in (source, target)}
        login = ["AUTH", self.password] if self.password else []
        to = LOOPBACK, target.port, "", 0, int(1_000 * PATIENCE), *login

        def move(at_once: int = 1) -> bool:
            keys = source.ask("CLUSTER", "GETKEYSINSLOT", slot, at_once)
            if keys:
                source.ask("MIGRATE", *to, "KEYS", *keys)
            return bool(keys)

        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", names[source])
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", names[target])
        try:
            yield move
        finally:
            while move(at_once=100):
                pass
            for node in (target, source, *masters):
                node.ask("CLUSTER", "SETSLOT", slot, "NODE", names[target])

    def recover(self) -> None:
        """Start nodes that died, wake those that hang, and wait until the cluster is ok."""
        for node in self.nodes:
            node.resume()
            node.start()
        self.wait_ok()

    def wait_ok(self) -> None:
        """Wait until all nodes run, agree on who serves all slots, and replicas are in step."""
        wait_until(self._is_ok, "a cluster whose nodes all agree that every slot is served")

    def wait_failover(self, dead: RedisServer) -> RedisServer:
        """Wait until a replica serves what `dead`, a killed or hanging master, served; return it.

        Requires: the cluster has replicas.
        """
        # Its own last word on what it serves; the others forget that when somebody takes over.
        past = _parse((dead.directory / "nodes.conf").read_text())
        slots = next(seen.slots for seen in past if seen.port == dead.port)
        assert slots, f"{dead.address} was no master"

        def heir() -> RedisServer | None:
            awake = [node for node in self.nodes if node.awake]
            if any("cluster_state:ok" not in _info(node) for node in awake):
                return None
            served = {seen.port for node in awake for seen in _view(node) if seen.slots == slots}
            return self._at(served.pop()) if served.isdisjoint({dead.port}) else None

        return wait_until(heir, f"a replica that takes over from {dead.address}")

    def _join(self) -> None:
        masters, replicas = self.nodes[:MASTERS], self.nodes[MASTERS:]
        for epoch, node in enumerate(self.nodes, 1):
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", epoch)
            if node is not masters[0]:
                first = masters[0].tls_port if self._has_tls else masters[0].port
                node.ask("CLUSTER", "MEET", LOOPBACK, first)
        for number, node in enumerate(masters):
            share = range(number * SLOTS // MASTERS, (number + 1) * SLOTS // MASTERS)
            node.ask("CLUSTER", "ADDSLOTS", *share)
        wait_until(self._is_ok, "a cluster of the started nodes")
        for master, replica in zip(masters, replicas, strict=False):
            replica.ask("CLUSTER", "REPLICATE", master.ask("CLUSTER", "MYID"))
        self.wait_ok()

    def _is_ok(self) -> bool:
        if not all(node.awake and "cluster_state:ok" in _info(node) for node in self.nodes):
            return False
        views = [sorted((s.port, s.master, s.slots) for s in _view(node)) for node in self.nodes]
        agreed = all(view == views[0] for view in views)
        whole = {port for port, _, _ in views[0]} == {node.port for node in self.nodes}
        return agreed and whole and all(map(_in_step, self.nodes))

    def _agree_on_slots(self) -> bool:
        awake = [node for node in self.nodes if node.awake]
        views = [sorted((s.port, s.slots) for s in _view(node) if s.slots) for node in awake]
        return all(view == views[0] for view in views)

    def _an_awake_node(self) -> RedisServer:
        return next(node for node in self.nodes if node.awake)

    def _at(self, port: int) -> RedisServer:
        return next(node for node in self.nodes if node.port == port)


def _info(node: RedisServer) -> str:
    return node.ask("CLUSTER", "INFO").decode()


def _view(node: RedisServer) -> list[_Seen]:
    return _parse(node.ask("CLUSTER", "NODES").decode())


def _parse(lines: str) -> list[_Seen]:
    """Read CLUSTER NODES or nodes.conf, which ends in a line of variables."""
    nodes = (line.split() for line in lines.splitlines() if not line.startswith("vars "))
    return [
        _Seen(
            port=int(address.partition("@")[0].rpartition(":")[2]),
            name=name,
            master=master,
            slots=tuple(map(_slots, slots)),
        )
        for name, address, _flags, master, _ping, _pong, _epoch, _link, *slots in nodes
    ]


def _slots(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def _in_step(node: RedisServer) -> bool:
    """Tell whether `node` is a master, or a replica that is in contact with its master."""
    role = node.ask("ROLE")
    return role[0] == b"master" or role[3] == b"connected"
