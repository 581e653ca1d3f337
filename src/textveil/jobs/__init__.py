"""Obfuscating files and streams of rows: aligned, in bounded memory, and resumable from file to file."""

from textveil.jobs.file import FileJob
from textveil.jobs.options import JobOptions, JobReport, check_free
from textveil.jobs.stream import StreamJob

__all__ = [
    "FileJob",
    "JobOptions",
    "JobReport",
    "StreamJob",
    "check_free",
]
