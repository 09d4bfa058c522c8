import subprocess
import sys

import numpy as np
import pytest

from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.runs.figures import fields, flight, modes_flown, plot, plot_fields, pose_topics
from airloom.runs.folder import RunFolder, RunFolderError
from airloom.runs.mcap import LogError, LogReader, LogWriter


def write_log(path, vehicles, extras=True, pose="odometry", samples=50, scenario_text=""):
    bus, times = Bus(), np.arange(samples) * 20_000_000
    with LogWriter(path, bus, metadata={"scenario": "hover", "seed": "3"}, scenario_text=scenario_text) as log:
        for number, vehicle in enumerate(vehicles):
            states = np.tile([number, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], (samples, 1)).astype(float)
            states[:, 2] = np.linspace(1, 2, samples)
            bus.advertise(f"/{vehicle}/{pose}", messages.odometry("world", vehicle)).publish_batch(times, states)
            if extras:
                for topic, template in {
                    "setpoint": messages.setpoint("world"),
                    "command": messages.flight_command(vehicle),
                    "rotors": messages.actuators(vehicle, 4),
                }.items():
                    values = np.linspace(1, 60, samples)[:, None] * np.ones(template.width)
                    bus.advertise(f"/{vehicle}/{topic}", template).publish_batch(times, values)
        bus.advertise("/clock", messages.clock()).publish_batch(times, np.zeros((samples, 0)))
    return log.path


@pytest.fixture
def run(tmp_path):
    write_log(tmp_path / "log.mcap", ["cf"])
    return RunFolder.open(tmp_path)


def size_of(path):
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def names(paths):
    assert all(path.is_file() for path in paths)
    return [path.name for path in paths]


def test_one_vehicle(run):
    figures = plot(run)
    assert figures == [run.path / "flight-cf.png"]
    assert size_of(figures[0])[0] == 1600


@pytest.mark.slow
def test_few_vehicles_get_a_figure_each_and_one_together(tmp_path):
    write_log(tmp_path / "log.mcap", ["b", "a"])
    assert names(plot(tmp_path)) == ["flight-a.png", "flight-b.png", "fleet.png"]


def test_a_pursuit_gets_a_figure(tmp_path):
    bus, times = Bus(), np.arange(50) * 20_000_000
    with LogWriter(tmp_path / "log.mcap", bus):
        states = np.linspace([0, 0, 1, 1, *[0] * 9], [5, 1, 2, 1, *[0] * 9], 50)
        bus.advertise("/cf/state", messages.odometry("world", "cf")).publish_batch(times, states)
        targets = states[:, :7] + [2, 0, 0, 0, 0, 0, 0]
        bus.advertise("/cf/pursuit_target", messages.pose("world")).publish_batch(times[10:], targets[10:])
    assert names(plot(tmp_path)) == ["flight-cf.png", "pursuit.png"]


def test_many_vehicles_get_one_figure(tmp_path):
    write_log(tmp_path / "log.mcap", [f"drone_{number}" for number in range(12)], extras=False)
    assert names(plot(str(tmp_path / "log.mcap"))) == ["fleet.png"]


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 2])
def test_a_log_with_hardly_anything_in_it(tmp_path, samples):
    write_log(tmp_path / "log.mcap", ["a", "b"], extras=False, samples=samples)
    assert len(plot(tmp_path)) == 3


def test_a_torn_log(run):
    content = run.log.read_bytes()
    run.log.write_bytes(content[:-100])
    assert names(plot(run)) == ["flight-cf.png"]


def test_a_diverged_flight(tmp_path):
    bus = Bus()
    with LogWriter(tmp_path / "log.mcap", bus):
        topic = bus.advertise("/cf/odometry", messages.odometry("world", "cf"))
        topic.publish_batch(np.arange(3), np.array([[1.0] * 13, [1e30] * 13, [np.nan] * 13]))
    assert names(plot(tmp_path)) == ["flight-cf.png"]


@pytest.mark.slow
def test_where_figures_go(run, tmp_path):
    assert plot(run, tmp_path / "new") == [tmp_path / "new" / "flight-cf.png"]
    assert plot(run, tmp_path / "mine.pdf") == [tmp_path / "mine.pdf"]
    with pytest.raises(LogError, match=r"cannot write the figure .*xyz"):
        plot(run, tmp_path / "mine.xyz")
    write_log(tmp_path / "two.mcap", ["a", "b"])
    made = plot(tmp_path / "two.mcap", tmp_path / "out.svg")
    assert names(made) == ["out-flight-a.svg", "out-flight-b.svg", "out-fleet.svg"]


def test_the_true_state_is_preferred(tmp_path):
    path = write_log(tmp_path / "log.mcap", ["x_10", "x_9"], pose="state")
    assert pose_topics(LogReader(path)) == {"x_9": "/x_9/state", "x_10": "/x_10/state"}


def test_chosen_fields(run):
    fields = [
        "/cf/odometry.pose.pose.position.z",
        "/cf/setpoint.position.z",
        "/cf/rotors.velocity",
        "/cf/odometry.pose",
    ]
    assert names(plot_fields(run, fields)) == ["fields.png"]


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ("/cf/odometry", r"names no field: .* /cf/odometry\.pose"),
        ("position.z", "has no topic position"),
        ("/cf/odometri.pose", "did you mean /cf/odometry?"),
        ("/cf/rotors.velocities", "did you mean 'velocity"),
    ],
)
def test_a_wrong_field_is_explained(run, field, complaint):
    with pytest.raises(LogError, match=complaint):
        plot_fields(run, [field])


def test_nothing_to_draw_is_explained(tmp_path):
    write_log(tmp_path / "log.mcap", [])
    with pytest.raises(LogError, match=r"has no vehicle to draw.*it has /clock"):
        plot(tmp_path)
    with pytest.raises(RunFolderError, match="there is no run"):
        plot(tmp_path / "nowhere")


def test_import_leaves_matplotlib_alone():
    check = "import sys, airloom.runs.figures; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_modes_flown_are_read_from_the_events(tmp_path):
    path = tmp_path / "log.mcap"
    bus = Bus()
    with LogWriter(path, bus, ["*"]):
        events = bus.advertise("/events", messages.EVENT)
        for second, source, text in [
            (1, "a", "mode idle → position_yaw"),
            (2, "b", "mode idle → velocity_yawrate"),
            (3, "a", "mode position_yaw → thrust_torque"),
            (4, "a", "tuned: yaw_damping 1.0 → 2.0"),
        ]:
            events.publish(messages.event(second * 10**9, source, "info", text), second * 10**9)
    flown = modes_flown(LogReader(path), "a")
    assert flown == [(0.0, 1.0, "idle"), (1.0, 3.0, "position_yaw"), (3.0, 4.0, "thrust_torque")]


SCENARIO = """
name: t
vehicles:
  {name}:
    mass: 1
    inertia: {{xx: 1, yy: 1, zz: 1}}
    body: {{size: [1, 1, 1]}}
    controller: {{kind: {controller}}}
    rotor: {{turns: cw, thrust_constant: 1, moment_constant: 1, max_speed: 1, position: [0, 0, 0]}}
    rotors: {{front: {{}}, left: {{}}, rear: {{}}, right: {{}}}}
"""


@pytest.mark.parametrize(
    ("name", "controller", "unit"),
    [("cf", "modes", "N"), ("cf", "crazyflie", "PWM"), ("cf", "mine.py:Mine", "controller's unit")],
)
def test_rotors_and_thrust_are_named_as_the_file_does(tmp_path, name, controller, unit):
    folder = RunFolder(tmp_path)
    write_log(folder.log, ["cf"], scenario_text=SCENARIO.format(name=name, controller=controller))
    with LogReader(folder.log) as log:
        figure = flight.flight_figure(log, folder, "cf", "/cf/odometry")
    panels = {axis.get_title(): axis for axis in figure.axes}
    assert panels["Thrust command"].get_ylabel() == f"[{unit}]"
    rotors = [text.get_text() for text in panels["Rotor speeds"].get_legend().get_texts()]
    assert rotors == ["front", "left", "rear", "right"]


@pytest.mark.parametrize("text", ["", "nonsense", "vehicles: [1]", "{"])
def test_a_scenario_that_cannot_be_read_costs_only_the_names(tmp_path, text):
    folder = RunFolder(tmp_path)
    write_log(folder.log, ["cf"], scenario_text=text)
    with LogReader(folder.log) as log:
        assert flight._rotor_names(log, "cf", 2) == ["rotor 0", "rotor 1"]
        assert flight._thrust_unit(log, "cf") == "controller's unit"


FIGURE = """
name: x
duration: 1
figures:
  height_and_tilt:
    title: Height and tilt
    start: 0.2
    end: 0.61
    panels:
      - {{title: Height, unit: m, lines: {{flown: /cf/odometry.pose.pose.position.z}}}}
      - {{title: Tilt, unit: °, lines: {{roll: {roll}, pitch: /cf/odometry.pose.pose.orientation.pitch}}}}
      - {{title: Nowhere, lines: {{nothing: /cf/gone.data}}}}
vehicles:
  cf:
    mass: 1
    inertia: {{xx: 1, yy: 1, zz: 1}}
    body: {{size: [1, 1, 1]}}
    rotor: {{turns: cw, thrust_constant: 1, moment_constant: 1, max_speed: 1, position: [0, 0, 0]}}
    rotors: {{front: {{}}}}
"""


@pytest.mark.slow
def test_a_figure_that_the_scenario_asks_for(tmp_path):
    text = FIGURE.format(roll="/cf/odometry.pose.pose.orientation.roll")
    write_log(tmp_path / "log.mcap", ["cf"], scenario_text=text)
    assert names(plot(tmp_path)) == ["flight-cf.png", "height_and_tilt.png"]
    folder = RunFolder.open(tmp_path)
    with LogReader(folder.log) as log:
        (figure,) = fields.scenario_figures(log, folder).values()
    height, tilt, nowhere = figure.axes
    times, values = height.lines[0].get_data()
    assert (times.min(), times.max()) == pytest.approx((0.2, 0.6))
    assert values == pytest.approx(np.linspace(1, 2, 50)[10:31])
    assert [text.get_text() for text in tilt.get_legend().get_texts()] == ["roll", "pitch"]
    assert not tilt.lines[0].get_ydata().any()
    assert nowhere.texts[0].get_text() == "not in the log"


def test_a_figure_with_a_field_that_is_not_there_costs_only_its_line(tmp_path):
    write_log(tmp_path / "log.mcap", ["cf"], scenario_text=FIGURE.format(roll="/cf/odometry.pose.role"))
    folder = RunFolder.open(tmp_path)
    with LogReader(folder.log) as log:
        (figure,) = fields.scenario_figures(log, folder).values()
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == ["pitch"]
    assert "pose.role" in figure.axes[1].texts[0].get_text()


def test_what_nobody_steers_has_no_setpoint(tmp_path):
    folder = RunFolder(tmp_path)
    text = SCENARIO.format(name="cf", controller="modes").replace("controller: {kind: modes}", "controller: null")
    write_log(folder.log, ["cf"], scenario_text=text)
    with LogReader(folder.log) as log:
        figure = flight.flight_figure(log, folder, "cf", "/cf/odometry")
    panels = {axis.get_title(): axis for axis in figure.axes}
    assert len(panels["Position z"].lines) == 1
    assert "Thrust command" not in panels
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["flown"]


def test_the_names_of_many_rotors_stay_within_their_panel(tmp_path):
    folder = RunFolder(tmp_path)
    long = "front: {}, left: {}, rear: {}, right: {}"
    text = SCENARIO.format(name="cf", controller="modes").replace(
        long, ", ".join(f"up_front_right_{k}: {{}}" for k in range(4))
    )
    write_log(folder.log, ["cf"], scenario_text=text)
    with LogReader(folder.log) as log:
        figure = flight.flight_figure(log, folder, "cf", "/cf/odometry")
    figure.savefig(tmp_path / "it.png")
    axis = next(axis for axis in figure.axes if axis.get_title() == "Rotor speeds")
    legend, panel = axis.get_legend().get_window_extent(), axis.get_window_extent()
    assert panel.x0 <= legend.x0
    assert legend.x1 <= panel.x1


def test_after_a_landing_there_is_no_setpoint():
    times = np.arange(5.0)
    flown = [(0.0, 1.0, "idle"), (1.0, 3.0, "position_yaw"), (3.0, 4.0, "idle")]
    _, values = flight._while_in_force((times, np.ones(5)), flown)
    assert np.isnan(values).tolist() == [False, False, False, False, True]


def flight_log(path, states, events=(), scenario_text="", setpoints=None):
    bus, times = Bus(), np.arange(len(states)) * 20_000_000
    with LogWriter(path / "log.mcap", bus, ["*"], metadata={"scenario": "t"}, scenario_text=scenario_text):
        bus.advertise("/cf/state", messages.odometry("world", "cf")).publish_batch(times, np.array(states, float))
        if setpoints is not None:
            bus.advertise("/cf/setpoint", messages.setpoint("world")).publish_batch(times, np.array(setpoints, float))
        topic = bus.advertise("/events", messages.EVENT)
        for time, text, level in events:
            topic.publish(messages.event(round(time * 1e9), "cf", level, text), round(time * 1e9))
    folder = RunFolder.open(path)
    with LogReader(folder.log) as log:
        return flight.flight_figure(log, folder, "cf", "/cf/state")


def turned(yaws):
    """States at one place, with these headings."""
    return [[0, 0, 1, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2), *[0] * 6] for yaw in yaws]


def titles(figure):
    return [axis.get_title() for axis in figure.axes if axis.get_visible()]


def test_what_stands_still_is_named_and_not_drawn(tmp_path):
    figure = flight_log(tmp_path, [[0, 0, z, 1, *[0] * 9] for z in np.linspace(0, 1, 50)])
    assert titles(figure) == ["Position z"]
    assert "not drawn: position x, position y, speed, roll" in figure.legends[0].get_title().get_text()


def test_a_vehicle_that_does_nothing_has_a_figure(tmp_path):
    assert titles(flight_log(tmp_path, [[0, 0, 1, 1, *[0] * 9]] * 10)) == ["Position x", "Position y", "Position z"]


def test_a_way_is_seen_from_above_with_what_stands_there(tmp_path):
    text = (
        SCENARIO.format(name="cf", controller="modes")
        + "world: {obstacles: {house: {shape: box, size: [2, 2, 2], position: [4, 1, 1]}}}\n"
    )
    figure = flight_log(tmp_path, [[x, 0, 1, 1, *[0] * 9] for x in np.linspace(0, 10, 50)], scenario_text=text)
    above = next(axis for axis in figure.axes if axis.get_title().startswith("Seen from above"))
    (house,) = (patch.get_xy() for patch in above.patches)
    assert house.min(axis=0).tolist() == [3.0, 0.0]
    assert house.max(axis=0).tolist() == [5.0, 2.0]
    low, high = above.get_xlim()
    assert low < 0.0
    assert high > 10.0


def test_a_yaw_setpoint_is_on_the_turn_that_is_flown(tmp_path):
    yaws = np.linspace(0.0, 3 * np.pi, 60)
    setpoints = np.zeros((60, messages.setpoint("world").width))
    setpoints[:, 9] = (yaws + np.pi) % (2 * np.pi) - np.pi
    figure = flight_log(tmp_path, turned(yaws), setpoints=setpoints)
    yaw = next(axis for axis in figure.axes if axis.get_title() == "Yaw")
    flown, aim = (line.get_ydata() for line in yaw.lines[:2])
    assert flown[-1] == pytest.approx(540.0)
    assert np.abs(flown - aim).max() < 1.0


def test_when_something_befell_it_is_marked_and_told(tmp_path):
    text = SCENARIO.format(name="cf", controller="modes") + "systems: {gust: {kind: push, force: [1, 0, 0]}}\n"
    events = [
        (0.2, "gust begins: force [1, 0, 0] N", "info"),
        (0.3, "mode idle → position_yaw", "info"),
        (0.4, "it lies on its back", "warning"),
    ]
    figure = flight_log(tmp_path, [[0, 0, z, 1, *[0] * 9] for z in np.linspace(0, 1, 50)], events, text)
    told = figure.legends[0].get_title().get_text()
    assert "1  at 0.20 s: gust begins" in told
    assert "2  at 0.40 s: it lies on its back" in told
    assert "mode idle" not in told
    lines = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert lines == [0.2, 0.4]


def test_radians_of_the_log_are_degrees_where_the_unit_says_so(tmp_path):
    text = FIGURE.format(roll="/cf/odometry.twist.twist.angular.x")
    write_log(tmp_path / "log.mcap", ["cf"], scenario_text=text)
    folder = RunFolder.open(tmp_path)
    with LogReader(folder.log) as log:
        (figure,) = fields.scenario_figures(log, folder).values()
        _, commanded = fields.series(log, "/cf/command", "roll")
        assert commanded[-1] == pytest.approx(np.degrees(60.0))
    assert len(figure.axes[1].lines) == 2
