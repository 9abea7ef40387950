"""Promises that are not met yet and name no later part of the road map: an entry goes when its promise is met."""

COMING: tuple[str, ...] = (
    "example ptp run ",
    "action ",
    "picture of a battle: detected_sprites",
    "values battles.used_items",
    "metric latency",
    "filled runs.final_level",
    "filled performance_profiles.",
    "filled objectives.started_at",
    "filled battle_turns.enemy_move",
)
"""How the items begin, as `make audit` prints them."""
