"""Logs in the MCAP format (https://mcap.dev/spec), ROS 2 profile."""

from airloom.bridges.mcap.format import LogError
from airloom.bridges.mcap.reader import LogMessage, LogReader, TopicInfo
from airloom.bridges.mcap.writer import LogWriter

__all__ = ["LogError", "LogMessage", "LogReader", "LogWriter", "TopicInfo"]
