"""Logs in the MCAP format (https://mcap.dev/spec), ROS 2 profile."""

from airloom.runs.mcap.format import LogError
from airloom.runs.mcap.reader import LogMessage, LogReader, TopicInfo
from airloom.runs.mcap.writer import LogWriter

__all__ = ["LogError", "LogMessage", "LogReader", "LogWriter", "TopicInfo"]
