"""ROS 2 in a scenario file: where the bridge listens, what it carries and how."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from airloom.basics.patterns import Pattern

from .values import Model, Name, Positive, Whole

TopicName = Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z_][A-Za-z0-9_]*)+$", max_length=200)]


class Quality(Model):
    """How the messages of some topics travel, in ROS's words."""

    reliability: Literal["reliable", "best_effort"] = Field(
        "reliable",
        description="whether what gets lost is sent again; best_effort is never heard by reliable subscribers",
    )
    durability: Literal["volatile", "transient_local"] = Field(
        "volatile", description="transient_local tells late subscribers the last messages: latched"
    )
    depth: Whole = Field(10, ge=1, le=100_000, description="messages that are kept")


class Lockstep(Model):
    """The simulation waits for a node: each message on one topic must be answered by one on another."""

    tell: TopicName = Field(description="topic whose every message is answered, such as /drone/state")
    hear: TopicName = Field(description="topic of the answers, such as /drone/cmd_vel")
    timeout: Positive = Field(10.0, description="wall time that an answer may take, s")
    start_timeout: Positive = Field(60.0, description="wall time until the node must be there, s")


class Ros2(Model):
    """Topics, services and frames for ROS 2, which need not be installed here."""

    domain: Whole | None = Field(None, ge=0, le=232, description="ROS_DOMAIN_ID of the environment, or 0, if left out")
    interface: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")] | None = Field(
        None, description="of the network, such as eth0; only this machine's loopback if left out"
    )
    topics: list[Pattern] = Field(["*"], description="patterns of the topics that are told, such as /*/imu")
    rates: dict[Pattern, Positive] = Field(
        default_factory=dict, description="patterns of topics and how often they are told at most, Hz"
    )
    qos: dict[Pattern, Quality] = Field(
        default_factory=dict, description="patterns of topics and how they travel; the first that fits counts"
    )
    rate: Positive = Field(50.0, description="how often messages leave and commands are taken, Hz of simulation time")
    frames: Literal["ros", "ned"] = Field(
        "ros", description="map, odom, base_link by REP 105; or those of aerospace, with ned and frd in between"
    )
    goal_vehicle: Name | None = Field(
        None, description="who follows RViz' goals on /goal_pose, /clicked_point, /initialpose; the first if left out"
    )
    lockstep: Lockstep | None = Field(None, description="a node that the simulation waits for; none if left out")
