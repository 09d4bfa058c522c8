"""A node that the simulation waits for: the same bits however slow it is, and a clear end if it is silent."""

from __future__ import annotations

import random
import threading
import time
from itertools import count

import pytest
from tests.ros2_peers import own_domain

import airloom as al
from airloom.bus import messages
from airloom.ros2.dds import EVERYTHING, Participant, Ros2Error
from airloom.ros2.lockstep import NodeSilent

pytest.importorskip("cyclonedds")


class Controller(threading.Thread):
    """Answers each state with a goal, after as long as it likes; after `last` answers it is silent."""

    def __init__(self, domain: int, seed: int, slowness: float, last: int | None = None) -> None:
        super().__init__(daemon=True)
        self._draws, self._slowness, self._last = random.Random(seed), slowness, last
        self._participant = Participant(domain)
        self._reader = self._participant.reader("rt/cf/state", messages.ODOMETRY, EVERYTHING)
        self._writer = self._participant.writer("rt/cf/goal_pose", messages.POSE_STAMPED, EVERYTHING)
        self.is_over = False

    def run(self) -> None:
        answers = count(1)
        while not self.is_over:
            for cdr in self._reader.take(1):
                time.sleep(self._slowness * self._draws.random())
                height = messages.deserialize(cdr, messages.ODOMETRY).pose.pose.position.z
                goal = {"pose.position.x": 0.3 - height, "pose.position.z": 0.5, "pose.orientation.w": 1.0}
                if self._last is None or next(answers) <= self._last:
                    self._writer.write(messages.serialize(messages.build(messages.POSE_STAMPED, goal)))
            time.sleep(0.0005)

    def close(self) -> None:
        self.is_over = True
        self.join()
        self._participant.close()


def loaded(domain: int, **lockstep):
    wishes = {"tell": "/cf/state", "hear": "/cf/goal_pose", **lockstep}
    return al.Simulation.load("hover", overrides={"engine": "batch", "ros2": {"domain": domain, "lockstep": wishes}})


def flown(seed: int, slowness: float) -> str:
    domain = own_domain()
    with loaded(domain) as sim:
        controller = Controller(domain, seed, slowness)
        controller.start()
        try:
            sim.run(until=0.8)
            assert sim.vehicles["cf"].position[2] > 0.1
            return sim.state_hash()
        finally:
            controller.close()


def test_a_slow_node_gives_the_same_bits_as_a_quick_one():
    assert flown(1, 0.0) == flown(2, 0.02)


def test_a_run_does_not_begin_without_its_node():
    with (
        loaded(own_domain(), start_timeout=0.1) as sim,
        pytest.raises(NodeSilent, match="no node listens to /cf/state"),
    ):
        sim.step()


def test_a_node_that_falls_silent_ends_the_run():
    domain = own_domain()
    with loaded(domain) as sim:
        controller = Controller(domain, 1, 0.0, last=5)
        controller.start()
        try:
            sim.run(until=0.09)
            partner = sim.ros2._partner
            partner._wishes = partner._wishes.model_copy(update={"timeout": 0.3})
            with pytest.raises(NodeSilent, match=r"at t = 0\.100 s nobody answered /cf/state"):
                sim.run(until=1.0)
        finally:
            controller.close()


@pytest.mark.parametrize("wrong", [{"tell": "/cf/nothing"}, {"hear": "/cf/state"}])
def test_topics_that_are_not_there_are_refused(wrong):
    """Before anything begins, so that no run folder is left."""
    with pytest.raises(Ros2Error, match=r"lockstep\.\w+: .*'/cf/\w+'.*; (there are|did you mean) "):
        loaded(own_domain(), **wrong)


def test_a_bridge_that_nobody_commands_changes_no_bit():
    def state(**more):
        with al.Simulation.load("hover", overrides={"engine": "batch", **more}) as sim:
            sim.run(until=2.0)
            return sim.state_hash()

    assert state() == state(ros2={"domain": own_domain(), "rate": 125})
