"""Files of parameters, as ArduPilot and QGroundControl write them, and parameters with all their digits."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.autopilots.ardupilot_names import both_generations, other_name
from airloom.autopilots.parameter_files import ParameterFileError, read_parameters
from airloom.autopilots.programs import ProgramParameters, digits
from airloom.scenario import ScenarioError, load


def written(tmp_path, text):
    (tmp_path / "some.parm").write_text(text)
    return tmp_path / "some.parm"


def test_as_ardupilot_writes_them(tmp_path):
    file = written(tmp_path, "# a comment\nWPNAV_SPEED 500\nATC_RAT_RLL_P,0.135 # mine\nFRAME_CLASS=1\n\n@READONLY X\n")
    assert read_parameters(file) == {"WPNAV_SPEED": 500, "ATC_RAT_RLL_P": 0.135, "FRAME_CLASS": 1}


def test_as_qgroundcontrol_writes_them(tmp_path):
    file = written(
        tmp_path, "# Vehicle-Id Component-Id Name Value Type\n1\t1\tMPC_XY_VEL_MAX\t12.5\t9\n1\t1\tCOM_ID\t1310988\t6\n"
    )
    assert read_parameters(file) == {"MPC_XY_VEL_MAX": 12.5, "COM_ID": 1310988}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("WPNAV_SPEED 500\nFRAME_CLASS", r"some.parm, line 2: expected a name and a value .*, got 'FRAME_CLASS'"),
        ("WPNAV_SPEED fast", "line 1: the value of WPNAV_SPEED must be a number, got 'fast'"),
        ("WPNAV_SPEED nan", "must be a number, got 'nan'"),
        ("12 13", "line 1: expected a name"),
        ("x" * (1 << 20) + "y", "larger than 1 MB; no file of parameters is that large"),
    ],
)
def test_what_is_no_file_of_parameters(tmp_path, text, complaint):
    with pytest.raises(ParameterFileError, match=complaint):
        read_parameters(written(tmp_path, text))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ParameterFileError, match=r"nowhere.parm: no such file"):
        read_parameters(tmp_path / "nowhere.parm")
    (tmp_path / "picture.parm").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ParameterFileError, match="this is no text"):
        read_parameters(tmp_path / "picture.parm")


SCENARIO = """
name: tuned
vehicles:
  drone:
    extends: iris
    sensors: {imu: {rate: 1000}}
    autopilot: {kind: ardupilot, params_files: [tuning/some.parm], params: {FRAME_CLASS: 2}}
"""


def test_a_scenario_names_them_relative_to_itself_and_its_own_params_win(tmp_path):
    (tmp_path / "tuning").mkdir()
    written(tmp_path / "tuning", "WPNAV_SPEED 500\nFRAME_CLASS 1")
    (tmp_path / "tuned.yaml").write_text(SCENARIO)
    given = load(tmp_path / "tuned.yaml").vehicles["drone"].autopilot.parameters
    found = ProgramParameters.model_validate({key: given[key] for key in ("params", "params_files")})
    assert found.all_params == {"WPNAV_SPEED": 500, "FRAME_CLASS": 2}
    written(tmp_path / "tuning", "WPNAV_SPEED")
    with pytest.raises(ScenarioError, match=r"some.parm, line 1: expected a name and a value"):
        load(tmp_path / "tuned.yaml")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1048574, "1048574"),
        (1310988.0, "1310988"),
        (0.1, "0.1"),
        (np.float64(-0.174), "-0.174"),
        (-1, "-1"),
        (1 / 3, "0.3333333333333333"),
        (4e9, "4000000000"),
    ],
)
def test_no_digit_is_lost(value, text):
    assert digits(value) == text


@pytest.mark.parametrize(
    ("old", "was", "new", "value"),
    [
        ("WPNAV_SPEED", 300, "WP_SPD", 3.0),
        ("RNGFND1_MAX_CM", 700, "RNGFND1_MAX", 7.0),
        ("SIM_GPS_DISABLE", 1, "SIM_GPS1_ENABLE", 0),
        ("SIM_GPS_GLITCH_X", 1e-4, "SIM_GPS1_GLTCH_X", 1e-4),
        ("SIM_GPS_VERR_X", 0.5, "SIM_GPS1_VERR_X", 0.5),
        ("ARMING_CHECK", 0, "ARMING_SKIPCHK", -1),
        ("ARMING_CHECK", 2, "ARMING_SKIPCHK", (1 << 21) - 4),
    ],
)
def test_a_parameter_has_a_name_in_each_generation(old, was, new, value):
    assert other_name(old, was) == (new, pytest.approx(value))
    assert other_name(new, value) == (old, pytest.approx(was))


def test_all_checks_are_none_to_skip():
    assert other_name("ARMING_CHECK", 1) == ("ARMING_SKIPCHK", 0)
    assert other_name("ARMING_SKIPCHK", 0) == ("ARMING_CHECK", 1)


def test_one_that_is_given_by_both_names_keeps_both_values():
    assert both_generations({"WPNAV_SPEED": 300, "MOT_THST_EXPO": 1}) == {
        "WP_SPD": 3.0, "WPNAV_SPEED": 300, "MOT_THST_EXPO": 1,
    }  # fmt: skip
    assert both_generations({"WPNAV_SPEED": 300, "WP_SPD": 4}) == {"WPNAV_SPEED": 300, "WP_SPD": 4}
