"""The HTTP API over `ptp.runs`, and the page.

requests -> guard -> endpoints (routes/) -> services -> ptp.runs     what is asked and answered
live run's socket -> live -> streams                                 what is passed on
endpoints -> openapi                                                 what is described
"""
