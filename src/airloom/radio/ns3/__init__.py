"""ns-3 as a medium: its channel models and its 802.11 and 802.15.4, in a process of its own.

The process is a program of ours in `helper/`, which `installation.py` compiles against the ns-3 that is on the machine.
"""

from airloom.radio.ns3.installation import Ns3Missing
from airloom.radio.ns3.medium import Flow, Ns3Failed, Ns3Medium

__all__ = ["Flow", "Ns3Failed", "Ns3Medium", "Ns3Missing"]
