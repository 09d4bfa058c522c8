"""What PX4 is told of an aeroplane and of a VTOL; tests/integration/test_px4_craft.py flies them with it."""

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


def test_a_plane_on_wheels_is_tuned_by_its_airframe(tmp_path):
    params = told(tmp_path, "plane")
    assert params["RWTO_TKOFF"] == 1
    assert 0.25 < params["FW_THR_TRIM"] < params["FW_THR_MAX"] == params["RWTO_MAX_THR"] < 0.6, "not its whole power"
    assert params["FW_T_CLMB_MAX"] == pytest.approx(0.35 * params["FW_AIRSPD_TRIM"], rel=1e-3)
    assert params["TRIM_PITCH"] == pytest.approx(0.114 / 0.436, abs=0.01), "elevator up in cruise"
    faster = told(tmp_path, "plane", FW_AIRSPD_TRIM=18.0)
    assert faster["FW_AIRSPD_TRIM"] == 18.0
    assert faster["FW_RR_P"] == pytest.approx(params["FW_RR_P"] * (params["FW_AIRSPD_TRIM"] / 18.0) ** 2, rel=1e-2)
    assert faster["TRIM_PITCH"] < params["TRIM_PITCH"]
    assert faster["FW_THR_TRIM"] > params["FW_THR_TRIM"]


def test_a_vtol_goes_over_to_its_wings_when_they_carry_it(tmp_path):
    params = told(tmp_path, "vtol")
    assert params["CA_AIRFRAME"] == 2
    assert params["RWTO_TKOFF"] == 0
    axes = [[params[f"CA_ROTOR{k}_A{axis}"] for axis in "XZ"] for k in range(5)]
    assert axes == [[0, -1]] * 4 + [[1, 0]], "four lift, one pushes"
    assert params["FW_AIRSPD_STALL"] == params["VT_ARSP_BLEND"] < params["VT_ARSP_TRANS"] < params["FW_AIRSPD_TRIM"]
    assert [params[f"PWM_MAIN_FUNC{n}"] for n in (6, 7, 8, 9)] == [201, 202, 203, 204]
    assert params["CA_SV_CS0_TRQ_P"] == params["CA_SV_CS1_TRQ_P"] < 0, "its ailerons help the elevator"
    weight, push = 5.0 * 9.81, 8.54858e-6 * 3500**2
    assert 0.3 * weight < params["VT_F_TRANS_THR"] * push < 0.7 * weight


def test_a_multirotor_has_no_wings(tmp_path):
    assert told(tmp_path, "x500") == {}
