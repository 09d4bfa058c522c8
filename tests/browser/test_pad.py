"""What the page adds to viser's: keys and game controllers as a stick, messages, video, and coming back."""

from __future__ import annotations

import threading

import pytest
from tests.browser.conftest import draw

viser = pytest.importorskip("viser")

from airloom.joystick import BUTTONS, Mapping, StickState  # noqa: E402
from airloom.studio.web import viser_server as tamed  # noqa: E402
from airloom.studio.web.gateway import Gateway  # noqa: E402

PAD = """navigator.getGamepads = () => [null, {
    id: "a pad", connected: true, axes: [0.5, -0.25, 1.00001, NaN],
    buttons: Array.from({length: 17}, (_, number) => ({pressed: number === 7})),
}]"""


class Hands:
    """What the simulation would make of the states that come."""

    def __init__(self):
        self.mapping, self._came = Mapping.load("ps4"), threading.Condition()
        self.forget()

    def forget(self):
        self.states: list[StickState] = []
        self.gone: list[int] = []
        """How many states had come, each time that the stick was put down; a page on a busy machine does so itself."""

    def on_stick(self, tab, axes, buttons):
        with self._came:
            self.states.append(StickState(axes, buttons))
            self._came.notify_all()

    def on_stick_gone(self, tab):
        with self._came:
            self.gone.append(len(self.states))
            self._came.notify_all()

    def wait(self, condition):
        with self._came:
            assert self._came.wait_for(condition, 120), self.states[-1:]

    def wait_for_sticks(self, **wanted):
        self.wait(lambda: self.states and self.mapping.sticks(self.states[-1])._asdict() == _sticks(**wanted))

    def wait_for_action(self, action):
        self.wait(lambda: any(self.mapping.actions(state) == {action} for state in self.states))


def _sticks(**wanted):
    return {"x": 0.0, "y": 0.0, "z": 0.0, "yaw": 0.0, **wanted}


@pytest.fixture(scope="module")
def viser_server():
    server = tamed.start_viser()
    server.scene.add_icosphere("/ball", 0.5)
    yield server
    tamed.stop_viser(server)


@pytest.fixture(scope="module")
def listening():
    return Hands()


@pytest.fixture(scope="module")
def gateway(viser_server, listening):
    sticks = {"on_stick": listening.on_stick, "on_stick_gone": listening.on_stick_gone}
    with Gateway(viser_server, port=0, **sticks) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def tab(gateway, shared_page):
    return visit(gateway, shared_page)


@pytest.fixture
def hands(gateway, tab, listening):
    listening.forget()
    yield listening
    gateway.fly(tab, False)
    listening.wait(lambda: listening.gone or not listening.states)


@pytest.fixture
def flying(gateway, shared_page, tab, hands):
    """The tab, once its keys fly."""
    gateway.fly(tab, True)
    shared_page.wait_for_selector("#airloom-stick.shown")
    hands.wait(lambda: hands.states)
    return shared_page


@pytest.fixture
def ended(viser_server, page):
    """A gateway that was there, and its page, whose tab has seen it go."""
    with Gateway(viser_server, port=0) as gateway:
        tab = visit(gateway, page)
    return gateway.port, tab


def visit(gateway, page):
    page.goto(gateway.url)
    page.wait_for_selector("canvas")
    wait(page, lambda: gateway.tabs() and gateway.tabs()[0] in tabs_with_a_view(gateway._viser))
    return gateway.tabs()[0]


def tabs_with_a_view(server):
    return [tamed.tab_of(client) for client in server.get_clients().values()]


def wait(page, condition, seconds=120):
    for _ in range(10 * seconds):
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError("waited in vain")


def test_a_viser_client_and_our_line_belong_to_one_tab(gateway, viser_server, shared_page, tab):
    wait(shared_page, viser_server.get_clients)
    assert gateway.tabs() == tabs_with_a_view(viser_server) == [tab]


@pytest.mark.parametrize(
    ("key", "sticks"),
    [
        ("ArrowUp", {"x": 1.0}), ("ArrowDown", {"x": -1.0}), ("ArrowLeft", {"y": 1.0}), ("ArrowRight", {"y": -1.0}),
        ("w", {"z": 1.0}), ("s", {"z": -1.0}), ("a", {"yaw": 1.0}), ("d", {"yaw": -1.0}),
    ],
)  # fmt: skip
def test_keys_are_sticks(flying, hands, key, sticks):
    flying.keyboard.down(key)
    hands.wait_for_sticks(**sticks)
    flying.keyboard.up(key)
    hands.wait_for_sticks()


def test_keys_are_buttons_however_short_the_tap(flying, hands):
    wanted = {"1": "position_yaw", "2": "velocity_yawrate", "3": "thrust_attitude", "4": "thrust_velocity",
              "5": "thrust_torque", "6": "idle", "t": "takeoff", "l": "land", "Escape": "idle"}  # fmt: skip
    for key, action in wanted.items():
        hands.states.clear()
        flying.keyboard.press(key)
        hands.wait_for_action(action)


def test_a_key_that_is_pressed_while_the_page_is_busy_is_not_lost(flying, hands):
    """Its silence has put the stick down, and a button in the first state after that would count as held."""
    busy = "for (const end = performance.now() + 1500; performance.now() < end;);"
    flying.evaluate(f"() => {{ dispatchEvent(new KeyboardEvent('keydown', {{code: 'Escape'}})); {busy} }}")
    hands.wait_for_action("idle")
    actions = [hands.mapping.actions(state) for state in hands.states]
    pressed = actions.index({"idle"})
    put_down = [count for count in hands.gone if count <= pressed]
    assert actions[put_down[-1]] == set()
    flying.evaluate("() => dispatchEvent(new KeyboardEvent('keyup', {code: 'Escape'}))")


def test_keys_are_nobodys_before_and_after_the_flight(gateway, shared_page, tab, hands):
    shared_page.keyboard.down("w")
    gateway.fly(tab, True)
    hands.wait_for_sticks()  # a key that was down before does not count
    gateway.fly(tab, False)
    shared_page.wait_for_selector("#airloom-stick:not(.shown)", state="attached")
    hands.wait(lambda: hands.gone)
    shared_page.keyboard.up("w")


def test_who_types_does_not_fly(flying, hands):
    flying.evaluate("document.body.append(Object.assign(document.createElement('input'), {id: 'name'}))")
    flying.focus("#name")
    flying.keyboard.type("was")
    assert flying.input_value("#name") == "was"
    flying.evaluate("document.querySelector('#name').remove()")
    assert not any(any(hands.mapping.sticks(state)) for state in hands.states)


def test_a_window_that_is_left_lets_go(flying, hands):
    flying.keyboard.down("w")
    hands.wait_for_sticks(z=1.0)
    flying.evaluate("dispatchEvent(new Event('blur'))")
    hands.wait_for_sticks()
    flying.keyboard.up("w")
    flying.evaluate("document.hasFocus = () => false")
    hands.wait(lambda: hands.gone)
    flying.evaluate("delete document.hasFocus")
    hands.forget()
    hands.wait_for_sticks()


def test_a_game_controller_is_a_stick(flying, hands):
    flying.evaluate(PAD)
    hands.wait(lambda: hands.states[-1].axes[0])
    assert list(hands.states[-1].axes) == [0.5, -0.25, 1.0, 0.0]
    assert [name for name, pressed in zip(BUTTONS, hands.states[-1].buttons, strict=True) if pressed] == ["r2"]
    flying.evaluate("delete navigator.getGamepads, dispatchEvent(new Event('gamepaddisconnected'))")
    hands.wait(lambda: hands.gone)
    flying.wait_for_selector("#airloom-toast.shown")


def test_a_message_is_shown_as_text(gateway, shared_page, tab):
    gateway.toast(tab, "<b>landed</b>")
    shared_page.wait_for_function("document.querySelector('#airloom-toast').textContent === '<b>landed</b>'")


def test_a_video_is_saved_under_its_name(gateway, viser_server, shared_page, tab, tmp_path):
    av = pytest.importorskip("av")
    gateway.record(tab, True, "hover.webm")
    shared_page.wait_for_selector("#airloom-filming.shown")
    ball = viser_server.scene.add_icosphere("/moving", 0.5)
    for x in range(8):
        ball.position = (x / 10, 0, 0)
        draw(shared_page)
    ball.remove()
    with shared_page.expect_download() as download:
        gateway.record(tab, False)
    assert download.value.suggested_filename == "hover.webm"
    download.value.save_as(tmp_path / "hover.webm")
    with av.open(str(tmp_path / "hover.webm")) as video:
        assert len(list(video.decode(video=0))) > 1


def test_the_page_says_that_the_studio_has_ended_and_comes_back(ended, viser_server, page):
    port, tab = ended
    page.wait_for_selector("#airloom-ended.shown")
    with Gateway(viser_server, port=port) as again:
        page.wait_for_selector("#airloom-ended:not(.shown)", state="attached")
        wait(page, lambda: again.tabs() == [tab] and tab in tabs_with_a_view(viser_server))


def test_a_window_in_the_background_comes_back_too(ended, viser_server, page):
    page.evaluate("document.hasFocus = () => false")
    with Gateway(viser_server, port=ended[0]) as again:
        wait(page, lambda: again.tabs() == [ended[1]] and ended[1] in tabs_with_a_view(viser_server))


def test_another_edition_is_loaded_anew(ended, viser_server, page):
    again = Gateway(viser_server, port=ended[0])
    again._pages.edition = "another"
    with again, page.expect_event("framenavigated"):
        pass


def test_another_token_is_asked_for(ended, viser_server, page):
    with Gateway(viser_server, port=ended[0], token="sesame"):
        page.fill("input[name=token]", "sesame")
        page.click("button")
        page.wait_for_selector("canvas")
        assert "token" not in page.url
