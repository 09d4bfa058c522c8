import numpy as np
import pytest

from airloom.bus import messages
from airloom.bus.bus import Bus, Chorus, Gathered


@pytest.fixture
def bus():
    return Bus()


def command(thrust=0.0):
    return messages.build(messages.FLIGHT_COMMAND, {"thrust": thrust})


def collect(bus, pattern, **options):
    received = []
    bus.subscribe(pattern, lambda topic, message, time_ns: received.append((topic.name, message, time_ns)), **options)
    return received


def test_subscribers_get_what_they_asked_for(bus):
    early = collect(bus, "/*/command")
    first, second = (bus.advertise(f"/{name}/command", messages.FLIGHT_COMMAND) for name in ("a", "b"))
    other = bus.advertise("/events", messages.EVENT)
    late = collect(bus, ["/b/*", "/b/command"])
    for topic, message in ((first, command(1)), (second, command(2)), (other, messages.event(0, "", "", ""))):
        topic.publish(message, 5)
    assert [(name, message.thrust, time) for name, message, time in early] == [
        ("/a/command", 1, 5),
        ("/b/command", 2, 5),
    ]
    assert [message.thrust for _, message, _ in late] == [2]
    assert [topic.name for topic in bus.topics()] == ["/a/command", "/b/command", "/events"]


def test_wanted_follows_the_subscribers(bus):
    topic = bus.advertise("/cf/command", messages.flight_command("cf"))
    assert topic.wanted is False
    topic.publish_batch(np.zeros(3, np.int64), np.zeros((3, 4)))
    objects = bus.subscribe("/cf/*", lambda *_: None)
    raw = bus.subscribe("*", lambda *_: None, raw=True)
    assert topic.wanted is True
    objects.cancel()
    assert topic.wanted is True
    raw.cancel()
    raw.cancel()
    assert topic.wanted is False


def test_a_wrong_message_is_refused(bus):
    topic = bus.advertise("/cf/command", messages.FLIGHT_COMMAND)
    with pytest.raises(
        TypeError, match=r"/cf/command carries airloom_interfaces/msg/FlightCommand; airloom_interfaces/msg/Event can"
    ):
        topic.publish(messages.event(0, "cf", "info", "hello"), 0)
    with pytest.raises(TypeError, match="a Python float cannot be published"):
        topic.publish(1.0, 0)
    with pytest.raises(TypeError, match="advertised without a template"):
        topic.publish_batch(np.zeros(1, np.int64), np.zeros((1, 4)))


@pytest.mark.parametrize(
    ("name", "kind", "complaint"),
    [
        ("cf/command", messages.EVENT, "is no topic name"),
        ("/cf/9", messages.EVENT, "is no topic name"),
        ("/x", "nav_msgs/msg/Odometri", "did you mean 'nav_msgs/msg/Odometry'"),
        ("/taken", messages.IMU, "already advertised as airloom_interfaces/msg/Event"),
        ("/mine", messages.flight_command("b"), "with another template"),
    ],
)
def test_bad_advertisements_are_explained(bus, name, kind, complaint):
    bus.advertise("/taken", messages.EVENT)
    bus.advertise("/mine", messages.flight_command("a"))
    with pytest.raises(ValueError, match=complaint):
        bus.advertise(name, kind)


def test_publishers_may_share_a_topic(bus):
    assert bus.advertise("/events", messages.EVENT) is bus.advertise("/events", messages.EVENT)


def test_batches_reach_raw_and_object_subscribers_alike(bus):
    topic = bus.advertise("/cf/command", messages.flight_command("cf"))
    objects, raw = collect(bus, "*"), collect(bus, "*", raw=True)
    times, values = np.arange(3) * 10, np.arange(12.0).reshape(3, 4)
    topic.publish_batch(times, values)
    topic.publish_values(30, [1, 2, 3, 4])
    topic.publish(topic.template.message(40, [1, 2, 3, 4]), 40)
    assert [time for _, _, time in objects] == [0, 10, 20, 30, 40]
    assert [time for _, _, batch in raw for time in batch] == [0, 10, 20, 30, 40]
    cdr = [data for _, batch, _ in raw for data in batch]
    assert [messages.serialize(message) for _, message, _ in objects] == cdr
    assert objects[1][1].yaw_rate == 7


def test_order_is_time_then_advertisement(bus):
    first, second = (bus.advertise(f"/{name}/command", messages.flight_command(name)) for name in ("z", "a"))
    received = collect(bus, "*")
    times, values = np.array([0, 10, 20]), np.zeros((3, 4))
    bus.publish_batches([(second, times, values), (first, times[:2], values[:2])])
    expected = [("/z/command", 0), ("/a/command", 0), ("/z/command", 10), ("/a/command", 10), ("/a/command", 20)]
    assert [(name, time) for name, _, time in received] == expected


def test_a_subscriber_may_publish(bus):
    source = bus.advertise("/cf/command", messages.flight_command("cf"))
    echo = bus.advertise("/cf/echo", messages.FLIGHT_COMMAND)
    bus.subscribe("/cf/command", lambda _, message, time_ns: echo.publish(message, time_ns))
    received = collect(bus, "*")
    source.publish_batch(np.array([0, 10]), np.zeros((2, 4)))
    expected = [("/cf/command", 0), ("/cf/echo", 0), ("/cf/command", 10), ("/cf/echo", 10)]
    assert [(name, time) for name, _, time in received] == expected


def test_a_subscriber_may_subscribe_and_cancel(bus):
    topic = bus.advertise("/cf/command", messages.FLIGHT_COMMAND)
    received = []

    def once(_, message, time_ns):
        received.append(("once", time_ns))
        subscription.cancel()
        second.cancel()
        bus.subscribe("*", lambda _, __, time_ns: received.append(("new", time_ns)))

    subscription = bus.subscribe("*", once)
    second = bus.subscribe("*", lambda *_: received.append(("never", 0)))
    topic.publish(command(), 1)
    topic.publish(command(), 2)
    assert received == [("once", 1), ("new", 2)]


def test_latched_topics_remember(bus):
    topic = bus.advertise("/cf/command", messages.flight_command("cf"), latched=True)
    assert topic.wanted
    topic.publish_batch(np.array([1, 2]), np.arange(8.0).reshape(2, 4))
    assert [(message.thrust, time) for _, message, time in collect(bus, "/cf/*")] == [(4, 2)]
    topic.publish(command(7), 3)
    assert [(message.thrust, time) for _, message, time in collect(bus, "/cf/*")] == [(7, 3)]
    assert collect(bus, "*", raw=True) == [("/cf/command", [messages.serialize(command(7))], [3])]


@pytest.mark.parametrize("raw", [False, True])
def test_an_error_in_a_subscriber_names_the_topic(bus, raw):
    topic = bus.advertise("/cf/command", messages.FLIGHT_COMMAND)

    def fail(*_):
        raise ZeroDivisionError("oops")

    subscription = bus.subscribe("*", fail, raw=raw)
    with pytest.raises(ZeroDivisionError, match="oops") as error:
        topic.publish(command(), 0)
    assert error.value.__notes__ == ["raised by a subscriber of /cf/command"]
    subscription.cancel()
    received = collect(bus, "*")
    topic.publish(command(), 1)
    assert [time for _, _, time in received] == [1]


class Ensemble:
    """Three topics that are published together, who gathered what, and how often it was encoded."""

    def __init__(self):
        self.bus = Bus()
        self.topics = [self.bus.advertise(f"/v{k}/state", messages.odometry("world", f"v{k}")) for k in range(3)]
        self.gathered, self.encoded = [], 0

    def gather(self, keys, numbers, encode):
        self.gathered.append((list(keys), list(numbers), encode))

    def subscribe(self, number, key=None):
        how = Gathered(self.gather, key or f"writer {number}")
        return self.bus.subscribe(f"/v{number}/state", self.forbidden, raw=True, gathered=how)

    def forbidden(self, *_):
        raise AssertionError("what is gathered is not called for each")

    def encode(self):
        self.encoded += 1
        return [b"zero", b"one", b"two"]


def test_what_is_gathered_comes_at_once_and_is_encoded_when_it_is_wanted():
    ours = Ensemble()
    for number in (0, 2):
        ours.subscribe(number)
    Chorus(ours.bus, ours.topics).publish(ours.encode, 5)
    [(keys, numbers, encode)] = ours.gathered
    assert (keys, numbers, ours.encoded) == (["writer 0", "writer 2"], [0, 2], 0)
    assert encode()[2] == b"two"


def test_who_gathers_and_who_is_called_get_the_same_bytes_encoded_once():
    ours, called = Ensemble(), []
    ours.subscribe(1)
    ours.bus.subscribe("/*/state", lambda topic, cdr, times: called.append((topic.name, cdr, times)), raw=True)
    Chorus(ours.bus, ours.topics).publish(ours.encode, 5)
    assert called == [("/v0/state", [b"zero"], [5]), ("/v1/state", [b"one"], [5]), ("/v2/state", [b"two"], [5])]
    assert ours.gathered[0][2]()[1] == b"one"
    assert ours.encoded == 1


def test_one_topic_may_be_gathered_under_several_keys():
    """As ROS has it, where a state is an odometry, too."""
    ours = Ensemble()
    for number, key in ((0, "state 0"), (1, "state 1"), (0, "odometry 0")):
        ours.subscribe(number, key)
    Chorus(ours.bus, ours.topics).publish(ours.encode, 5)
    [(keys, numbers, _)] = ours.gathered
    assert (keys, numbers) == (["state 0", "odometry 0", "state 1"], [0, 0, 1])


def test_who_has_cancelled_gathers_no_more():
    ours = Ensemble()
    first, _ = ours.subscribe(0), ours.subscribe(1)
    chorus = Chorus(ours.bus, ours.topics)
    first.cancel()
    chorus.publish(ours.encode, 5)
    assert ours.gathered[0][:2] == (["writer 1"], [1])
