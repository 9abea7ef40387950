"""RunConfig and ExperimentConfig: flags, YAML, environment and stored header from one declaration."""

from ptp.config.load import changed, differences, load_config
from ptp.config.setting import replace
from ptp.config.tree import SETTINGS, SIGNAL_LIMITS, ExperimentConfig, RunConfig

__all__ = [
    "SETTINGS", "SIGNAL_LIMITS", "ExperimentConfig", "RunConfig", "changed", "differences", "load_config", "replace",
]  # fmt: skip
