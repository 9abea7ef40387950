"""Run directories into the central database: where it is, its schema, and how runs get there.

Needs the extra `central`; nothing here imports it before it is used.
"""
