"""The button language: text becomes checked, optimised instructions, and those become commands."""

from ptp.scripts.code import Bounds, FailurePoint, Instruction
from ptp.scripts.compiler import CompiledScript, Dependencies, Past, ScriptCompiler, read_script
from ptp.scripts.execution import Execution, Failure, Played, Turn, play
from ptp.scripts.formatting import format_script
from ptp.scripts.problems import Problem, show_problem
from ptp.scripts.target import Target

__all__ = [
    "Bounds",
    "CompiledScript",
    "Dependencies",
    "Execution",
    "Failure",
    "FailurePoint",
    "Instruction",
    "Past",
    "Played",
    "Problem",
    "ScriptCompiler",
    "Target",
    "Turn",
    "format_script",
    "play",
    "read_script",
    "show_problem",
]
