"""The endpoints, one file per noun."""

from ptp.web.routes import pool, runs, screenshots, sharing, steering, streams, ticks

ENDPOINTS = (
    *runs.ENDPOINTS,
    *ticks.ENDPOINTS,
    *screenshots.ENDPOINTS,
    *steering.ENDPOINTS,
    *sharing.ENDPOINTS,
    *streams.ENDPOINTS,
    *pool.ENDPOINTS,
)
