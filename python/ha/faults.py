"""What happens to the cluster while people pay, and what mends it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from cluster import Cluster, Node, until

# How long etcd is away: several times as long as a primary may be without its leader key.
ETCD_AWAY = 20


@dataclass
class Fault:
    """A fault: `strike` brings it about and returns the machine that it hit, `mend` ends it."""

    name: str
    strike: Callable[[Cluster], Node]
    mend: Callable[[Cluster, Node], None]
    # What has to be so before it is mended.
    is_over: Callable[[Cluster, Node], bool] = lambda cluster, hit: True


def is_replaced(cluster: Cluster, former: Node) -> bool:
    primary = cluster.node_with("leader", "master", asking_besides=former)
    return primary is not None and primary is not former


def kill_machine(cluster: Cluster) -> Node:
    primary = cluster.primary()
    primary.machine.power_off()
    return primary


def kill_postgres(cluster: Cluster) -> Node:
    primary = cluster.primary()
    primary.machine.kill("postgres")
    return primary


def freeze(cluster: Cluster) -> Node:
    primary = cluster.primary()
    primary.machine.freeze()
    return primary


def cut_off(cluster: Cluster) -> Node:
    primary = cluster.primary()
    primary.machine.cut_off()
    return primary


def others(cluster: Cluster, node: Node):
    return [other.machine for other in cluster.nodes if other is not node]


def cut_off_from_peers(cluster: Cluster) -> Node:
    primary = cluster.primary()
    primary.machine.cut_off_from(others(cluster, primary))
    return primary


def cut_off_standby(cluster: Cluster) -> Node:
    standby = cluster.synchronous_standby()
    standby.machine.cut_off()
    return standby


def switch_over(cluster: Cluster) -> Node:
    primary = cluster.primary()
    cluster.switch_over()
    return primary


def stop_etcd(cluster: Cluster) -> Node:
    primary = cluster.primary()
    cluster.kill_etcd()
    # A fault that lasts, and not a wait for something.
    time.sleep(ETCD_AWAY)
    return primary


def is_another_synchronous(cluster: Cluster, former: Node) -> bool:
    standby = cluster.node_with("sync_standby", asking_besides=former)
    return standby is not None and standby is not former


def nothing(cluster: Cluster, node: Node) -> None:
    """Patroni mends it."""


FAULTS = [
    Fault(
        "primary's machine killed",
        kill_machine,
        lambda cluster, hit: hit.power_on(),
        is_replaced,
    ),
    Fault("primary's PostgreSQL killed", kill_postgres, nothing, is_replaced),
    Fault("primary's machine frozen", freeze, lambda cluster, hit: hit.machine.thaw(), is_replaced),
    Fault("primary cut off", cut_off, lambda cluster, hit: hit.machine.reconnect(), is_replaced),
    Fault(
        "primary cut off from the other machines only",
        cut_off_from_peers,
        lambda cluster, hit: hit.machine.reconnect_to(others(cluster, hit)),
        is_replaced,
    ),
    Fault(
        "synchronous standby cut off",
        cut_off_standby,
        lambda cluster, hit: hit.machine.reconnect(),
        is_another_synchronous,
    ),
    Fault("switchover", switch_over, nothing, is_replaced),
    Fault("etcd away", stop_etcd, lambda cluster, hit: cluster.start_etcd()),
]


def wait_until_over(fault: Fault, cluster: Cluster, hit: Node) -> None:
    until(f"{fault.name}: it is over", lambda: fault.is_over(cluster, hit))
