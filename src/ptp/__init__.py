"""The flight recorder and control tower for game-playing agents.

Data flows down this list; a room imports only rooms above it::

    errors, _util     leaves
    versioning        schema and config versions
    config            RunConfig: flags = YAML = stored header
    worlds            a Gymnasium environment and its facts
    agents            observation -> decision
    engine            one tick: pacing, buffer, limits, budget -> records
    snapshots         everything needed to go on from a tick
    recording         records -> run directory
    frames            pictures and video
    replay            tape -> the same run again
    retention         how long things are kept
    runner            one whole run, steered from outside
    dashboard         API and page over run directories
    cli               one file per verb
"""

__version__ = "0.1.0"
