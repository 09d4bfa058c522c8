"""Requests about the run as a whole: how it stands, how fast it goes, when it ends."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from airloom.net.json_lines import RequestError
from airloom.runs.link.context import RequestContext
from airloom.runs.link.request import Request


class Info(Request):
    method, acts = "info", False

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        run, sim = context.run, context.sim
        vehicles = {v.name: {"mode": v.mode.label, "armed": v.armed} for v in sim.vehicles.values()}
        end = run.target * sim.step_ns / 1e9
        speed = "max" if run.speed is None else run.speed
        about = {"scenario": sim.scenario.name, "time": sim.time, "end": end, "speed": speed, "paused": run.paused}
        return {**about, "vehicles": vehicles}


class Pause(Request):
    method = "pause"

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        context.run.pause()
        return {"time": context.sim.time}


class Resume(Request):
    method = "resume"

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        context.run.resume()
        return {"time": context.sim.time}


class Speed(Request):
    method = "speed"
    speed: Annotated[float, Field(ge=0.01, le=1e6)] | Literal["max"]

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        context.run.change_speed(None if isinstance(self.speed, str) else self.speed)
        return {"speed": self.speed}


class Step(Request):
    """Some ticks forward, for a run that is paused."""

    method = "step"
    ticks: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        if not context.run.paused:
            raise RequestError("only a paused run goes step by step; pause it first")
        context.must_go_on()
        context.run.step(self.ticks)
        return {"time": context.sim.time}


class Restart(Request):
    """Back to time 0."""

    method = "reset"

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        context.run.restart()
        context.forget()
        return {"time": 0.0}


class Audience(Request):
    """How many look on through one studio, told every second: as long as anybody does, a run that is over stays."""

    method, acts = "audience", False
    studio: Annotated[str, Field(max_length=100)]
    count: Annotated[int, Field(ge=0, le=1_000_000)]

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        context.hear_of_audience(self.studio, self.count)
        return {"count": context.run.audience}


class Stop(Request):
    method = "stop"

    def carry_out(self, context: RequestContext) -> dict[str, Any]:
        context.run.stop()
        return {"time": context.sim.time}
