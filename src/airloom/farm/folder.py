"""The folder of a plan: the job, its plans for ground stations, and a picture. It is there whole or not at all."""

from __future__ import annotations

from pathlib import Path

from airloom.basics.folders import made_beside
from airloom.farm.geojson import FarmError
from airloom.farm.ground_station import Sprayer, plans_of
from airloom.farm.job import job_text
from airloom.farm.picture import draw_plan
from airloom.farm.planning import Plan

SUFFIX = ".job"
JOB, PICTURE, TANK = "job.json", "plan.png", "tank-{}.plan"


def write_plan(plan: Plan, out: str | Path, sprayer: Sprayer = "sprayer", servo: int = 9) -> Path:
    """Write a plan into a folder; one that is there already is replaced.

    Args:
        plan: of `plan_field`.
        out: the folder.
        sprayer: what opens the nozzles in QGroundControl's plans: `sprayer`, `servo` or `actuator`.
        servo: the output of the pump, for `servo`.
    """
    out, most = Path(out), plan.wishes.flow[1] if plan.wishes.flow else None
    with made_beside(out, JOB, "job", FarmError) as folder:
        (folder / JOB).write_text(job_text(plan.job), encoding="utf-8")
        for number, text in enumerate(plans_of(plan.job, sprayer, servo, most, plan.clearance.highest), start=1):
            (folder / TANK.format(number)).write_text(text, encoding="utf-8")
        draw_plan(plan, folder / PICTURE)
    return out
