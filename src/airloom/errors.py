"""Exceptions whose message is for whoever reads it: what was expected, what came, what to do.

`AirloomError` is the root of all of them; each stands in the module that raises it, below one of the branches here.
What is raised and caught within one room, and told to nobody, is none of them.
"""

from __future__ import annotations


class AirloomError(Exception):
    """Something went wrong, and the message says all that the user needs: no traceback helps."""


class UserError(AirloomError):
    """A mistake in what was asked for, or something that it needs and is not there: a command ends with code 2."""


class RunError(AirloomError):
    """A run could not begin or go on, though what was asked for is right: a command ends with code 1."""


class Refusal(AirloomError, ValueError):
    """A vehicle or a run cannot do what it was told, and has done nothing of it; it goes on as before.

    Who tells it from outside gets the message. In a plugin it is an exception as any other: the mistake is where the
    plugin says so.
    """
