"""What PX4 is told of an aeroplane. Nothing here has been tried with PX4 itself."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.autopilots.px4_wings import wing_params
from airloom.scenario import load
from airloom.vehicles.airframe import Airframe


def told(tmp_path, vehicle, **given):
    (tmp_path / "one.yaml").write_text(f"name: one\nvehicles: {{it: {vehicle}}}")
    airframe = Airframe(load(tmp_path / "one.yaml").vehicles["it"], 9.81, 1e-3)
    return wing_params(airframe, np.arange(len(airframe.rotors)), given)


def test_servos_of_a_plane_are_told_by_what_they_turn(tmp_path):
    params = told(tmp_path, "plane")
    assert params["CA_AIRFRAME"] == 1
    assert (params["CA_ROTOR0_AX"], params["CA_ROTOR0_AZ"]) == (1, 0)
    assert params["CA_SV_CS_COUNT"] == 4
    torques = [[params[f"CA_SV_CS{k}_TRQ_{axis}"] for axis in "RPY"] for k in range(4)]
    assert torques == [[0, -1, 0], [0.5, 0, 0], [-0.5, 0, 0], [0, 0, -1]], "elevator, ailerons, rudder: flaps go down"
    assert [params[f"PWM_MAIN_FUNC{n}"] for n in (2, 3, 4, 5)] == [201, 202, 203, 204]
    assert params["FW_AIRSPD_TRIM"] == pytest.approx(1.4 * params["FW_AIRSPD_STALL"], rel=1e-3)


def test_a_multirotor_has_no_wings(tmp_path):
    assert told(tmp_path, "x500") == {}
