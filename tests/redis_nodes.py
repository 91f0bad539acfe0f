"""A private Redis Cluster for tests: three masters on loopback, and a replica of each if wanted.

Turns `RedisServer`s into one cluster whose state every node calls ok, and waits for it to get there
again after a node was killed. Who serves what is always asked of the nodes, never remembered.
"""

import subprocess
from contextlib import ExitStack, contextmanager

import redis
from patience import PATIENCE, wait_until
from redis.cluster import ClusterNode
from redis_servers import LOOPBACK, RedisServer, redis_program

MASTERS = 3


class RedisNodes:
    """A cluster; `with RedisNodes() as cluster:` starts it and ends it.

    `timeout_ms` is the time after which nodes call a silent one dead: short, a replica takes over
    soon; long, a machine under load changes nothing.
    """

    def __init__(self, *, replicas=False, timeout_ms=15_000, tls=None):
        self._tls = tls
        self._replicas = int(replicas)
        settings = {
            "cluster-enabled": "yes",
            "cluster-node-timeout": str(timeout_ms),
            # A replica that was long without its master may take over all the same.
            "cluster-replica-validity-factor": "0",
        }
        if tls:  # otherwise nodes do not know the ports where the others speak it
            settings["tls-cluster"] = "yes"
        self.nodes = [
            RedisServer(settings=settings, tls=tls) for _ in range(MASTERS * (1 + self._replicas))
        ]
        self._opened = ExitStack()

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._opened.close()
            raise
        return self

    def __exit__(self, *_):
        self._opened.close()

    @property
    def url(self):
        """Return redis+cluster://127.0.0.1:port,… with all masters of the start."""
        return "redis+cluster://" + ",".join(node.address for node in self.nodes[:MASTERS])

    def client(self, **options):
        """Return a new client of the cluster, closed with it."""
        start = [ClusterNode(LOOPBACK, node.port) for node in self.nodes if node.is_awake]
        options = {"socket_timeout": PATIENCE, **options}
        return self._opened.enter_context(redis.RedisCluster(startup_nodes=start, **options))

    def _start(self):
        """Start all nodes and join them to a cluster."""
        for node in self.nodes:
            self._opened.enter_context(node)
        tls = ["--tls", "--cacert", str(self._tls / "ca-cert.pem")] if self._tls else []
        ports = [node.tls_port if tls else node.port for node in self.nodes]
        subprocess.run(
            [redis_program("redis-cli"), *tls, "--cluster", "create"]
            + [f"{LOOPBACK}:{port}" for port in ports]
            + ["--cluster-replicas", str(self._replicas), "--cluster-yes"],
            check=True,
            capture_output=True,
        )
        self.wait_ok()

    def flush(self):
        """Empty all masters: data and scripts."""
        for node in self.masters():
            node.flush()

    def masters(self):
        """Return the nodes that serve slots now. Requires: the cluster is ok."""
        return [node for node in self.nodes if node.ask("ROLE")[0] == b"master"]

    def master_of(self, key):
        """Return the node that serves `key` now."""
        port = self.client().get_node_from_key(key).port
        return next(node for node in self.nodes if node.port == port)

    def replica_of(self, node):
        """Return a replica of `node`, asked of `node`."""
        view, name = _view(node), node.ask("CLUSTER", "MYID").decode()
        return next(each for each in self.nodes if view[each.address]["master_id"] == name)

    def move_slot(self, key, at_once):
        """Move the slot of a key to the next master, so many keys at a time.

        What `redis-cli --cluster reshard` does, which does not let the slot be chosen.
        """
        with self.moving(key) as move:
            while move(at_once):
                pass

    @contextmanager
    def moving(self, key):
        """Let the slot of a key be on its way to the next master; it is there in the end.

        Gives what moves so many of its keys, and tells whether there were any left to be moved.
        """
        # Nodes that were told nothing of the last move hear of it a moment later.
        wait_until(self._agree, "nodes that agree on who serves which slots")
        source, masters = self.master_of(key), self.masters()
        target = masters[(masters.index(source) + 1) % len(masters)]
        slot = source.ask("CLUSTER", "KEYSLOT", key)
        names = {node: node.ask("CLUSTER", "MYID") for node in (source, target)}

        def move(at_once=1):
            keys = source.ask("CLUSTER", "GETKEYSINSLOT", slot, at_once)
            if keys:
                to = LOOPBACK, target.port, "", 0, int(1_000 * PATIENCE)
                source.ask("MIGRATE", *to, "KEYS", *keys)
            return bool(keys)

        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", names[source])
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", names[target])
        try:
            yield move
        finally:
            while move(100):
                pass
            for node in (target, source, *masters):
                node.ask("CLUSTER", "SETSLOT", slot, "NODE", names[target])

    def wait_promoted(self, replica):
        """Wait until a replica, of a master that is killed or hangs, serves its slots."""

        def is_heir():
            awake = [node for node in self.nodes if node.is_awake]
            is_ok = all(map(_is_ok, awake))
            return is_ok and all(_view(node)[replica.address]["slots"] for node in awake)

        wait_until(is_heir, f"{replica.address} takes over")

    def recover(self):
        """Start nodes that died, wake those that hang, and wait until the cluster is ok."""
        for node in self.nodes:
            node.resume()
            node.start()
        self.wait_ok()

    def wait_ok(self):
        """Wait until all nodes run, agree on who serves all slots, and replicas are in step."""
        wait_until(
            lambda: (
                all(map(_is_ok, self.nodes)) and self._agree() and all(map(_in_step, self.nodes))
            ),
            "a cluster whose nodes all agree that every slot is served",
        )

    def _agree(self):
        """Tell whether all nodes that are awake see the same masters, replicas and slots."""
        views = [
            {address: (seen["master_id"], seen["slots"]) for address, seen in _view(node).items()}
            for node in self.nodes
            if node.is_awake
        ]
        return all(view == views[0] and len(view) == len(self.nodes) for view in views)


def _view(node):
    """Return what a node sees of each, by address."""
    return node.ask("CLUSTER NODES")


def _is_ok(node):
    return node.is_awake and node.ask("CLUSTER INFO")["cluster_state"] == "ok"


def _in_step(node):
    """Tell whether `node` is a master, or a replica that is in contact with its master."""
    role = node.ask("ROLE")
    return role[0] == b"master" or role[3] == b"connected"
