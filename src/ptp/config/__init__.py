"""RunConfig: flags, YAML, environment and stored header from one declaration."""

from ptp.config.load import load_config
from ptp.config.tree import SETTINGS, RunConfig

__all__ = ["SETTINGS", "RunConfig", "load_config"]
