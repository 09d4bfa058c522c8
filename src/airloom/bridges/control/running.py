"""Requests about the run as a whole: how it stands, how fast it goes, when it ends."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from airloom.bridges.control.request import Request, Tower


class Info(Request):
    method, acts = "info", False

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        run, sim = tower.run, tower.sim
        vehicles = {v.name: {"mode": v.mode.label, "armed": v.armed} for v in sim.vehicles.values()}
        end = run.target * sim.step_ns / 1e9
        speed = "max" if run.speed is None else run.speed
        about = {"scenario": sim.scenario.name, "time": sim.time, "end": end, "speed": speed, "paused": run.paused}
        return {**about, "vehicles": vehicles}


class Pause(Request):
    method = "pause"

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.paused = True
        return {"time": tower.sim.time}


class Resume(Request):
    method = "resume"

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.paused = False
        return {"time": tower.sim.time}


class Speed(Request):
    method = "speed"
    speed: Annotated[float, Field(ge=0.01, le=1e6)] | Literal["max"]

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.change_speed(None if isinstance(self.speed, str) else self.speed)
        return {"speed": self.speed}


class Stop(Request):
    method = "stop"

    def carry_out(self, tower: Tower) -> dict[str, Any]:
        tower.run.stop()
        return {"time": tower.sim.time}
