import os
import random
import signal
import struct
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import numpy as np
import pytest

from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.runs.mcap import LogError, LogReader, LogWriter
from airloom.runs.mcap import writer as mcap
from airloom.runs.mcap.format import HEAD, MAGIC, Op

STEP = 2_000_000


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.mcap"


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(mcap, "CHUNK_SIZE", 20_000)
    monkeypatch.setattr(mcap, "_GAP_SIZE", 40_000)


class Run:
    """A bus with the topics of a flight, and a log of it."""

    def __init__(self, path, **options):
        self.bus = Bus()
        self.log = LogWriter(path, self.bus, **options)
        self.odometry = self.bus.advertise("/cf/odometry", messages.odometry("world", "cf/base_link"))
        self.rotors = self.bus.advertise("/cf/rotors", messages.actuators("cf", 4))
        self.events = self.bus.advertise("/events", messages.EVENT)

    def fly(self, samples, batch=100, first=0):
        for start in range(first, first + samples, batch):
            numbers = np.arange(start, min(start + batch, first + samples))
            for topic in (self.rotors, self.odometry):
                topic.publish_batch(numbers * STEP, flight_values(numbers, topic.template.width))
            for number in numbers[numbers % 50 == 0].tolist():
                self.events.publish(messages.event(number * STEP, "cf", "info", f"sample {number}"), number * STEP)
            self.log.tick(int(numbers[-1] + 1) * STEP)


def flight_values(numbers, width):
    return np.sin(numbers[:, None] * 0.01 + np.arange(width)) + numbers[:, None]


def fly_and_close(path, samples=1000, **options):
    run = Run(path, **options)
    run.fly(samples)
    run.log.close()


def test_round_trip(path):
    fly_and_close(path, metadata={"scenario": "hover", "seed": "7"}, scenario_text="name: höver\n")
    log = LogReader(path)
    assert log.complete
    assert log.metadata == {"scenario": "hover", "seed": "7"}
    assert log.scenario_text == "name: höver\n"
    assert log.topics == {
        "/cf/odometry": (messages.ODOMETRY, 1000),
        "/cf/rotors": (messages.ACTUATORS, 1000),
        "/events": (messages.EVENT, 20),
    }
    assert log.duration == pytest.approx(1.998)
    everything = list(log.messages())
    assert len(everything) == 2020
    assert [(m.topic, m.time_ns) for m in everything[:5]] == [
        ("/cf/odometry", 0),
        ("/cf/rotors", 0),
        ("/events", 0),
        ("/cf/odometry", STEP),
        ("/cf/rotors", STEP),
    ]
    assert [m.message.text for m in log.messages("/events", start=0.1, end=0.3)] == [
        "sample 50",
        "sample 100",
        "sample 150",
    ]
    assert [m.topic for m in log.messages(["/*/rotors"], end=0.0)] == ["/cf/rotors"]


def test_series(path):
    fly_and_close(path)
    log = LogReader(path)
    expected = flight_values(np.arange(1000), 13)
    times, position = log.series("/cf/odometry", "pose.pose.position")
    assert times == pytest.approx(np.arange(1000) * 0.002)
    assert np.array_equal(position, expected[:, :3])
    assert np.array_equal(log.series("/cf/odometry", "pose.pose.orientation.w")[1], expected[:, 3])
    rotors = flight_values(np.arange(1000), 4)
    assert np.array_equal(log.series("/cf/rotors", "velocity")[1], rotors)
    assert np.array_equal(log.series("/cf/rotors", "velocity[2]")[1], rotors[:, 2])
    assert log.series("/cf/odometry", "pose.covariance")[1].shape == (1000, 36)
    assert "twist.twist.linear.x" in log.fields("/cf/odometry")


@pytest.mark.usefixtures("small_chunks")
def test_the_latest_of_a_log_that_is_being_written(path):
    run = Run(path)
    run.fly(1000)
    run.log._save()
    log = LogReader(path, since=1.5)
    times, heights = log.series("/cf/odometry", "pose.pose.position.z")
    assert 1.2 < times[0] <= 1.5
    assert times[-1] == pytest.approx(1.998)
    assert heights == pytest.approx(flight_values((times / 0.002).round(), 13)[:, 2])
    run.log.close()


def test_series_of_messages_laid_out_differently(path):
    bus = Bus()
    with LogWriter(path, bus) as log:
        topic = bus.advertise("/cf/command", messages.FLIGHT_COMMAND)
        for number, frame in enumerate(["cf", "a much longer name", "b", "cf"]):
            values = {"header.frame_id": frame, "roll": number / 8}
            topic.publish(messages.build(messages.FLIGHT_COMMAND, values), number)
        many = bus.advertise("/tf", messages.TF_MESSAGE)
        for count in (1, 2):
            transforms = [messages.build(messages.TRANSFORM_STAMPED) for _ in range(count)]
            many.publish(messages.build(messages.TF_MESSAGE, {"transforms": transforms}), count)
    reader = LogReader(log.path)
    assert reader.series("/cf/command", "roll")[1].tolist() == [0, 1 / 8, 2 / 8, 3 / 8]
    assert reader.series("/tf", "transforms[0].transform.translation.x")[1].tolist() == [0, 0]
    with pytest.raises(LogError, match="changes its length"):
        reader.series("/tf", "transforms")


def test_series_of_a_fleet(path, small_chunks):
    bus, times = Bus(), np.arange(50) * STEP
    with LogWriter(path, bus) as log:
        for number in range(30):
            topic = bus.advertise(f"/drone_{number}/odometry", messages.odometry("world", f"drone_{number}"))
            topic.publish_batch(times[number:], np.full((50 - number, 13), number + 0.5))
    reader = LogReader(log.path)
    fleet = reader.series_of(reversed(reader.topics), "pose.pose.position.z")
    assert list(fleet) == list(reversed(reader.topics))
    for number in range(30):
        moments, heights = fleet[f"/drone_{number}/odometry"]
        assert np.array_equal(moments, times[number:] * 1e-9)
        assert np.array_equal(heights, np.full(50 - number, number + 0.5))


def test_loading_half_a_minute_is_quick(path):
    fly_and_close(path, 15_000)
    started = time.process_time()
    log = LogReader(path)
    assert len(log.series("/cf/odometry", "pose.pose.position")[1]) == 15_000
    assert time.process_time() - started < 1.0


def test_the_official_reader_opens_it(path, small_chunks):
    reader = pytest.importorskip("mcap.reader")
    fly_and_close(path, metadata={"seed": "7"}, scenario_text="name: hover\n")
    with path.open("rb") as file:
        log = reader.make_reader(file, validate_crcs=True)
        summary = log.get_summary()
        assert log.get_header().profile == "ros2"
        assert summary.statistics.message_count == 2020
        assert summary.statistics.message_end_time == 999 * STEP
        assert len(summary.chunk_indexes) == summary.statistics.chunk_count > 10
        assert {schema.encoding for schema in summary.schemas.values()} == {"ros2msg"}
        found = [(channel.topic, message.log_time, message.data) for _, channel, message in log.iter_messages()]
        assert [attachment.data for attachment in log.iter_attachments()] == [b"name: hover\n"]
        assert [metadata.metadata for metadata in log.iter_metadata()] == [{"seed": "7"}]
        part = list(log.iter_messages(topics=["/cf/rotors"], starting_at=10 * STEP, ending_before=20 * STEP))
    assert len(part) == 10
    assert [(m.topic, m.time_ns, messages.serialize(m.message)) for m in LogReader(path).messages()] == found


def test_every_record_is_as_the_official_library_reads_it(path, small_chunks):
    stream_reader = pytest.importorskip("mcap.stream_reader")
    records = pytest.importorskip("mcap.records")
    fly_and_close(path)
    with path.open("rb") as file:
        found = list(stream_reader.StreamReader(file, emit_chunks=True, validate_crcs=True).records)
    chunks = [record for record in found if isinstance(record, records.Chunk)]
    places = [record for record in found if isinstance(record, records.MessageIndex)]
    listed = [record for record in found if isinstance(record, records.ChunkIndex)]
    assert sum(len(index.records) for index in places) == 2020
    for chunk, index in zip(chunks, listed, strict=True):
        assert (index.compressed_size, index.uncompressed_size) == (len(chunk.data), chunk.uncompressed_size)
        content = path.read_bytes()
        assert content[index.chunk_start_offset] == 6
        for number, offset in index.message_index_offsets.items():
            assert content[offset] == 7
            assert int.from_bytes(content[offset + 9 : offset + 11], "little") == number


def test_rosbags_opens_it(path):
    from rosbags.highlevel import AnyReader

    fly_and_close(path)
    with AnyReader([path]) as log:
        assert log.message_count == 2020
        assert log.topics["/cf/rotors"].msgtype == messages.ACTUATORS
        connection, time_ns, data = list(log.messages())[3]
        message = log.deserialize(data, connection.msgtype)
    assert (connection.topic, time_ns) == ("/cf/odometry", STEP)
    assert message.pose.pose.position.x == flight_values(np.array([1]), 1)[0, 0]


def test_logs_of_others_open(path):
    writer = pytest.importorskip("mcap.writer")
    text = "float64 height\nother_msgs/Thing thing\n" + "=" * 80 + "\nMSG: other_msgs/Thing\nuint8 kind\n"
    with path.open("wb") as file:
        log = writer.Writer(file, compression=writer.CompressionType.LZ4)
        log.start("ros2")
        schema = log.register_schema("other_msgs/msg/Height", "ros2msg", text.encode())
        channel = log.register_channel("/height", "cdr", schema)
        strange = log.register_channel("/strange", "json", log.register_schema("x", "jsonschema", b"{}"))
        for number in (2, 1):
            cdr = b"\0\1\0\0" + np.float64(number).tobytes() + b"\5"
            log.add_message(channel, log_time=number, data=cdr, publish_time=number)
        log.add_message(strange, log_time=0, data=b"{}", publish_time=0)
        log.finish()
    log = LogReader(path)
    assert log.complete
    assert log.series("/height", "height")[1].tolist() == [1, 2]
    assert [m.message.thing.kind for m in log.messages("/height")] == [5, 5]
    with pytest.raises(LogError, match="/strange does not hold ROS 2 messages, but 'json'"):
        list(log.messages())


def test_the_same_messages_give_the_same_bytes(tmp_path, monkeypatch, small_chunks):
    contents = []
    for batch, interval in ((1, 0.0), (7, 1e9), (250, 0.001), (1000, 0.0)):
        monkeypatch.setattr(mcap, "SAVE_INTERVAL", interval)
        run = Run(tmp_path / f"{batch}.mcap")
        run.fly(1000, batch=batch)
        run.log.close()
        run.log.close()
        contents.append(run.log.path.read_bytes())
    assert len(set(contents)) == 1


def test_only_chosen_topics_are_logged(path):
    fly_and_close(path, topics=["/*/rotors", "/cf/*tors"])
    assert LogReader(path).topics == {"/cf/rotors": (messages.ACTUATORS, 1000)}


def test_latched_messages_from_before_the_log_are_in_it(path):
    bus = Bus()
    topic = bus.advertise("/events", messages.EVENT, latched=True)
    topic.publish(messages.event(0, "cf", "info", "loaded"), 0)
    LogWriter(path, bus).close()
    assert [m.message.text for m in LogReader(path).messages()] == ["loaded"]


def test_messages_after_closing_are_ignored(path):
    run = Run(path)
    run.fly(10)
    run.log.close()
    assert not run.odometry.wanted
    run.fly(10, first=10)
    assert LogReader(path).topics["/cf/odometry"].message_count == 10


def test_without_ticks_the_backlog_stays_limited(path, small_chunks, monkeypatch):
    monkeypatch.setattr(mcap, "BACKLOG_LIMIT", 100_000)
    bus = Bus()
    log = LogWriter(path, bus)
    topic = bus.advertise("/cf/odometry", messages.odometry("world", "cf"))
    for number in range(1000):
        topic.publish_values(number, np.zeros(13))
    assert LogReader(path).topics["/cf/odometry"].message_count > 800
    log.close()
    assert LogReader(path).topics["/cf/odometry"].message_count == 1000


def saved_numbers(path):
    """The samples found in the log, checking that none comes twice."""
    log = LogReader(path)
    found = {}
    for topic in log.topics:
        times = [m.time_ns // STEP for m in log.messages(topic)]
        assert len(times) == len(set(times))
        found[topic] = set(times)
    return found


def test_nothing_saved_is_lost_after_any_single_write(path, small_chunks, monkeypatch):
    """Look at the file after each call to the operating system, and in the middle of each write."""
    monkeypatch.setattr(mcap, "SAVE_INTERVAL", 0.0)
    safe: dict[str, set[int]] = {}
    looks = []
    write, truncate = os.pwrite, os.ftruncate

    def look():
        found = saved_numbers(path)
        looks.append(found)
        for topic, numbers in safe.items():
            assert numbers <= found.get(topic, set())

    def spying_write(file, data, position):
        half = len(data) // 2
        if len(data) > 9:
            write(file, data[:half], position)
            look()
        written = write(file, data, position)
        look()
        return written

    def spying_truncate(file, length):
        truncate(file, length)
        look()

    run = Run(path)
    monkeypatch.setattr(os, "pwrite", spying_write)
    monkeypatch.setattr(os, "ftruncate", spying_truncate)
    for first in range(0, 90, 15):
        run.fly(15, batch=15, first=first)
        safe = saved_numbers(path)
        assert safe["/cf/odometry"] == set(range(first + 15))
    big = messages.event(91 * STEP, "cf", "info", os.urandom(100_000).hex())
    run.events.publish(big, 88 * STEP)
    safe = saved_numbers(path)
    run.fly(15, batch=5, first=92)
    run.log.close()
    assert len(looks) > 50
    assert LogReader(path).complete
    assert len(list(LogReader(path).messages("/events"))) == 4


def test_torn_logs_open(path, tmp_path, small_chunks):
    fly_and_close(path, 300)
    content = path.read_bytes()
    torn = tmp_path / "torn.mcap"
    choice = random.Random(1)
    counts = []
    for length in sorted([*choice.sample(range(8, len(content)), 80), *range(len(content) - 60, len(content))]):
        torn.write_bytes(content[:length])
        log = LogReader(torn)
        assert not log.complete
        counts.append(sum(1 for _ in log.messages()))
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 606)


def test_damaged_logs_open(path, tmp_path, small_chunks):
    fly_and_close(path, 100)
    content = path.read_bytes()
    damaged = tmp_path / "damaged.mcap"
    choice = random.Random(2)
    for _ in range(300):
        broken = bytearray(content)
        for _ in range(choice.choice((1, 20))):
            broken[choice.randrange(8, len(content))] = choice.randrange(256)
        damaged.write_bytes(broken)
        with suppress(LogError):
            assert len(list(LogReader(damaged).messages())) <= 206


WRITER = """
    import sys, time
    import numpy as np
    from airloom.bus import messages
    from airloom.runs.mcap import LogWriter
    from airloom.bus.bus import Bus

    bus = Bus()
    log = LogWriter(sys.argv[1], bus)
    topic = bus.advertise("/cf/odometry", messages.odometry("world", "cf"))
    number, per_tick = 0, int(sys.argv[2])
    while True:
        for _ in range(per_tick):
            topic.publish_values(number * 1_000_000, np.full(13, number))
            number += 1
        log.tick(number * 1_000_000)
        print(number, time.monotonic(), flush=True)
        time.sleep(0.002)
"""


@pytest.mark.parametrize("body", [struct.pack("<HIQQ", 4, 0, 0, 0) + b"data", struct.pack("<HIQ", 4, 0, 0)])
def test_a_message_outside_of_chunks_that_makes_no_sense_ends_what_is_read(path, body):
    path.write_bytes(MAGIC + HEAD.pack(Op.MESSAGE, len(body)) + body)
    with LogReader(path) as log:
        assert (log.topics, log.complete, list(log.messages())) == ({}, False, [])


@pytest.mark.slow
@pytest.mark.parametrize("per_tick", [1, 200])
def test_a_killed_process_leaves_its_log(path, per_tick):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path), str(per_tick)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        progress = []
        for line in process.stdout:
            if line.endswith("\n"):
                progress.append((int(line.split()[0]), float(line.split()[1])))
            if progress[-1][1] > progress[0][1] + 1.3:
                process.send_signal(signal.SIGKILL)
    old_enough = max(number for number, moment in progress if moment < progress[-1][1] - 1.0)
    log = LogReader(path)
    assert not log.complete
    values = log.series("/cf/odometry", "pose.pose.position.x")[1]
    assert len(values) >= old_enough > 0
    assert np.array_equal(values, np.arange(len(values)))
    assert_official_library_reads(path, len(values))


def assert_official_library_reads(path, count):
    reader = pytest.importorskip("mcap.stream_reader")
    exceptions = pytest.importorskip("mcap.exceptions")
    records = pytest.importorskip("mcap.records")
    found = []
    with path.open("rb") as file, suppress(exceptions.EndOfFile):
        found.extend(reader.StreamReader(file).records)
    assert sum(isinstance(record, records.Message) for record in found) == count


def test_a_full_disk_is_explained():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with pytest.raises(LogError, match=r"cannot write the log /dev/full: No space left on device"):
        LogWriter("/dev/full", Bus())


def test_a_disk_that_fills_up_keeps_what_was_written(path, monkeypatch):
    run = Run(path)
    run.fly(2000)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", fail)
    with pytest.raises(LogError, match="No space left on device"):
        run.fly(5000, first=2000)
    run.log.close()
    assert LogReader(path).topics["/cf/odometry"].message_count > 1000


def test_what_is_no_log_is_explained(tmp_path):
    def complaint(path):
        with pytest.raises(LogError) as error:
            LogReader(path)
        return str(error.value)

    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("hello, this is text")
    assert complaint(tmp_path / "missing").endswith("missing: no such file")
    assert complaint(tmp_path / "empty").endswith("is empty")
    assert complaint(tmp_path / "text").endswith("is not an MCAP log")
    assert complaint(tmp_path).endswith("is a folder; a file is expected")


@pytest.mark.parametrize(
    ("topic", "field", "complaint"),
    [
        ("/cf/odometri", "x", "did you mean /cf/odometry?"),
        ("/qqqq", "x", "it has /cf/odometry, /cf/rotors, /events"),
        ("/cf/odometry", "pose.pose.positon.x", "did you mean 'pose.pose.position.x'?"),
        ("/cf/rotors", "velocity[4]", "no field 'velocity.4.'.*velocity.0…3"),
        ("/events", "text", "'text' is a text, not a number"),
    ],
)
def test_a_wrong_topic_or_field_is_explained(path, topic, field, complaint):
    fly_and_close(path, 100)
    with pytest.raises(LogError, match=complaint):
        LogReader(path).series(topic, field)


def test_too_many_topics_are_explained(path, monkeypatch):
    monkeypatch.setattr(mcap, "MAX_CHANNELS", 2)
    run = Run(path)
    with pytest.raises(LogError, match="at most 2 topics"):
        run.fly(1)
