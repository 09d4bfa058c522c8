"""All validation cases, in the order of the report."""

from validation import contact, eyes, flight, flocking, forces, land, modes, rigid_body, sensors, terrain
from validation.case import Case

CASES: list[Case] = [
    rigid_body.tumbling_brick,
    rigid_body.torque_free_symmetric_top,
    rigid_body.torque_free_asymmetric_body,
    rigid_body.conserved_quantities,
    rigid_body.engines_agree,
    forces.motor_lag,
    forces.free_fall,
    forces.hover_speed,
    forces.wind_tilt,
    contact.rest_on_ground,
    contact.sliding,
    contact.standing_on_slope,
    contact.hitting_hard,
    land.agreement,
    sensors.imu_noise,
    sensors.hil_imu_noise,
    sensors.imu_lever_arm,
    sensors.mounted_sensors,
    sensors.rays,
    eyes.eyes,
    sensors.places_on_earth,
    sensors.standard_atmosphere,
    terrain.terrain_heights,
    terrain.terrain_places,
    terrain.terrain_volume,
    flight.crazys_step,
    modes.mode_steps,
    flocking.flocking,
]
