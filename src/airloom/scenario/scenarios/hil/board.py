"""A stand-in for a flight controller board: it hears HIL_SENSOR and HIL_GPS by UDP, takes off, hovers and flies north.

It is plain Python with gains for the Iris, made to try hardware in the loop without hardware. It knows nothing of the
simulation but what the messages say, and like a board it lives on the wall clock: what comes late, comes late.

    python board.py 14560              rotor by rotor, HIL_ACTUATOR_CONTROLS
    python board.py 14560 controls     roll, pitch, yaw and throttle, the older HIL_CONTROLS
"""

from __future__ import annotations

import socket
import sys
from math import atan2, cos, radians, sin, sqrt, tan
from threading import Thread

try:
    from pymavlink.dialects.v20 import common as mavlink
except ImportError:
    sys.exit("the board needs pymavlink: pip install 'airloom[autopilots]'")

GRAVITY, EARTH = 9.80665, 6371e3
HOVER = 0.62  # of the greatest thrust
WAIT, LEAVE = 3.0, 12.0  # s from its first message: to find its zero, and to fly north
HEIGHT, NORTH = 2.0, 3.0  # m
MOST_TILT, MOST_SPEED = 0.3, 1.5  # rad, m/s
IMU_NEWS, FIELD_NEWS, AIR_NEWS = 0x3F, 0x1C0, 0x1A00
ROTORS = ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1))
"""How roll, pitch and yaw turn front right, back left, front left and back right."""


def limited(value: float, most: float) -> float:
    return min(max(value, -most), most)


class Mean:
    def __init__(self) -> None:
        self.value, self._count = 0.0, 0

    def take(self, value: float) -> None:
        self._count += 1
        self.value += (value - self.value) / self._count


class Axis:
    """Position and velocity along one axis: carried on by acceleration, drawn to what is measured."""

    def __init__(self) -> None:
        self.position = self.velocity = self.sum = 0.0

    def carry_on(self, acceleration: float, dt: float) -> None:
        self.position += self.velocity * dt
        self.velocity += acceleration * dt

    def draw_to(self, position: float, by: float, velocity_by: float = 0.0) -> None:
        error = position - self.position
        self.position += by * error
        self.velocity += velocity_by * error

    def wanted_acceleration(self, goal: float, dt: float) -> float:
        error = limited(0.8 * (goal - self.position), MOST_SPEED) - self.velocity
        self.sum = limited(self.sum + 0.3 * error * dt, 2.0)
        return 1.8 * error + self.sum


class Board:
    def __init__(self, by_controls: bool = False) -> None:
        self._mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        self._mav.robust_parsing = True
        self._by_controls = by_controls
        self._began = self._now = -1.0
        self._roll = self._pitch = self._yaw = self._heading = 0.0
        self._north, self._east, self._up = Axis(), Axis(), Axis()
        self._latitude, self._longitude, self._altitude = Mean(), Mean(), Mean()
        """Of where it stands before it flies."""

    def answer(self, data: bytes) -> bytes:
        """What it says to bytes that came."""
        said = b""
        for message in self._mav.parse_buffer(data) or []:
            kind = message.get_type()
            if kind == "HIL_SENSOR":
                said += self._feel(message)
            elif kind == "HIL_GPS":
                self._find(message)
        return said

    def _feel(self, m) -> bytes:
        now = m.time_usec * 1e-6
        if self._began < 0 or now < self._now:
            self._began = self._now = now
        dt, self._now = now - self._now, now
        if m.fields_updated & FIELD_NEWS:
            self._look_at_compass(m)
        if m.fields_updated & AIR_NEWS:
            self._look_at_pressure(m.pressure_alt)
        if m.fields_updated & IMU_NEWS:
            self._balance(m, dt)
        return self._output(self._control(m, dt)).pack(self._mav)

    @property
    def _stands(self) -> bool:
        return self._now - self._began < WAIT

    # -- where it is -------------------------------------------------------------------------------------------------

    def _look_at_compass(self, m) -> None:
        sr, cr, sp, cp = sin(self._roll), cos(self._roll), sin(self._pitch), cos(self._pitch)
        ahead, right = m.xmag * cp + (m.ymag * sr + m.zmag * cr) * sp, m.ymag * cr - m.zmag * sr
        heading = atan2(-right, ahead)
        if self._now == self._began:
            self._yaw = self._heading = heading
        self._yaw += 0.02 * atan2(sin(heading - self._yaw), cos(heading - self._yaw))

    def _look_at_pressure(self, altitude: float) -> None:
        if self._stands:
            self._altitude.take(altitude)
        else:
            self._up.draw_to(altitude - self._altitude.value, 0.02, 0.01)

    def _find(self, m) -> None:
        latitude, longitude = radians(m.lat * 1e-7), radians(m.lon * 1e-7)
        if self._stands:
            self._latitude.take(latitude)
            self._longitude.take(longitude)
            return
        north = EARTH * (latitude - self._latitude.value)
        east = EARTH * (longitude - self._longitude.value) * cos(latitude)
        for axis, position, speed in ((self._north, north, m.vn), (self._east, east, m.ve)):
            axis.draw_to(position, 0.1)
            axis.velocity += 0.5 * (0.01 * speed - axis.velocity)
        self._up.velocity += 0.5 * (-0.01 * m.vd - self._up.velocity)

    def _balance(self, m, dt: float) -> None:
        """Tilt by gyroscope, drawn slowly to where the accelerometer feels down; then position by acceleration."""
        sr, cr, sp, cp = sin(self._roll), cos(self._roll), sin(self._pitch), cos(self._pitch)
        turn = m.ygyro * sr + m.zgyro * cr
        self._roll += (m.xgyro + turn * tan(self._pitch)) * dt
        self._pitch += (m.ygyro * cr - m.zgyro * sr) * dt
        self._yaw += turn / cp * dt
        self._roll += 0.1 * dt * (atan2(-m.yacc, -m.zacc) - self._roll)
        self._pitch += 0.1 * dt * (atan2(m.xacc, sqrt(m.yacc**2 + m.zacc**2)) - self._pitch)
        if self._stands:
            return
        ahead = m.xacc * cp + (m.yacc * sr + m.zacc * cr) * sp
        right = m.yacc * cr - m.zacc * sr
        down = -m.xacc * sp + (m.yacc * sr + m.zacc * cr) * cp
        cy, sy = cos(self._yaw), sin(self._yaw)
        self._north.carry_on(ahead * cy - right * sy, dt)
        self._east.carry_on(ahead * sy + right * cy, dt)
        self._up.carry_on(-down - GRAVITY, dt)

    # -- where it wants to be ----------------------------------------------------------------------------------------

    def _control(self, m, dt: float) -> tuple[float, float, float, float]:
        """Roll, pitch, yaw and throttle."""
        if self._stands:
            return 0.0, 0.0, 0.0, 0.0
        flown = self._now - self._began - WAIT
        north = self._north.wanted_acceleration(NORTH if flown > LEAVE - WAIT else 0.0, dt)
        east = self._east.wanted_acceleration(0.0, dt)
        up = self._up.wanted_acceleration(min(flown, HEIGHT), dt)
        cy, sy = cos(self._yaw), sin(self._yaw)
        pitch = limited(-(north * cy + east * sy) / GRAVITY, MOST_TILT)
        roll = limited((east * cy - north * sy) / GRAVITY, MOST_TILT)
        turn = atan2(sin(self._heading - self._yaw), cos(self._heading - self._yaw))
        throttle = HOVER * (1.0 + limited(up / GRAVITY, 0.3)) / (cos(self._roll) * cos(self._pitch))
        return (
            0.25 * (6.0 * (roll - self._roll) - m.xgyro),
            0.5 * (6.0 * (pitch - self._pitch) - m.ygyro),
            limited(0.8 * (turn - m.zgyro), 0.3),
            throttle,
        )

    def _output(self, controls: tuple[float, float, float, float]):
        time, armed = round(self._now * 1e6), mavlink.MAV_MODE_FLAG_SAFETY_ARMED
        if self._by_controls:
            return mavlink.MAVLink_hil_controls_message(time, *controls, 0, 0, 0, 0, armed, 0)
        roll, pitch, yaw, throttle = controls
        thrusts = [throttle + 0.5 * (r * roll + p * pitch + y * yaw) for r, p, y in ROTORS]
        speeds = [sqrt(min(max(thrust, 0.0), 1.0)) for thrust in thrusts]
        return mavlink.MAVLink_hil_actuator_controls_message(time, speeds + [0.0] * 12, armed, 0)


def fly(port: int, by_controls: bool) -> None:
    board = Board(by_controls)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", port))
        while True:
            data, there = line.recvfrom(2048)
            if said := board.answer(data):
                line.sendto(said, there)


if __name__ == "__main__":
    from airloom.member import join

    with join() as me:  # only to be started and ended by the scenario
        Thread(target=fly, args=(int(sys.argv[1]), "controls" in sys.argv), daemon=True).start()
        for _ in me:
            pass
