"""Where the games keep their facts; the one declaration of every address.

Game values of several bytes are big-endian, pointers are little-endian.
"""

from __future__ import annotations

from typing import Final, Literal

Side = Literal["north", "south", "west", "east"]

SPACE: Final = 0x10000
RAM: Final = 0xC000
RAM_END: Final = 0xE000

# sprites: 16 slots of 16 bytes in each of two tables, slot 0 is the player
SPRITES: Final = 0xC100
SPRITES_MAP: Final = 0xC200
SPRITE_SIZE: Final = 0x10
SPRITE_SLOTS: Final = 16
SPRITE_PICTURE: Final = 0x0
SPRITE_IMAGE: Final = 0x2
SPRITE_FACING: Final = 0x9
SPRITE_MAP_Y: Final = 0x4
SPRITE_MAP_X: Final = 0x5
SPRITE_OFFSET: Final = 4  # map coordinates of sprites begin at 4
PLAYER_FACING: Final = SPRITES + SPRITE_FACING

# screen, text and menus
TILE_MAP: Final = 0xC3A0
TILE_COLUMNS: Final = 20
TILE_ROWS: Final = 18
TILE_MAP_END: Final = TILE_MAP + TILE_COLUMNS * TILE_ROWS
PROMPT_ARROW: Final = 0xC4F2
MENU_Y: Final = 0xCC24
MENU_X: Final = 0xCC25
MENU_ITEM: Final = 0xCC26
MENU_LAST: Final = 0xCC28
ACTIVE_SLOT: Final = 0xCC2F
LIST_SCROLL: Final = 0xCC36
ENEMY_MOVE: Final = 0xCCDD
INPUT_IGNORED: Final = 0xCD6B
BATTLE_RESULT: Final = 0xCF0B
FONT_LOADED: Final = 0xCFC4
TEXT_BOX: Final = 0xD125

# battle
ENEMY: Final = 0xCFE5
OWN: Final = 0xD014
FIGHTER_SIZE: Final = 0x1D
TRAINER_CLASS: Final = 0xD031
IN_BATTLE: Final = 0xD057
OPPONENT: Final = 0xD059
BATTLE_TYPE: Final = 0xD05A
TRAINER_NUMBER: Final = 0xD05D

# player and party
PLAYER_NAME: Final = 0xD158
NAME_SIZE: Final = 11
PARTY_COUNT: Final = 0xD163
PARTY_SPECIES: Final = 0xD164
PARTY: Final = 0xD16B
MEMBER_SIZE: Final = 0x2C
PARTY_MOST: Final = 6
NICKNAMES: Final = 0xD2B5
DEX_OWNED: Final = 0xD2F7
DEX_SEEN: Final = 0xD30A
DEX_SIZE: Final = 19
BAG_COUNT: Final = 0xD31D
BAG: Final = 0xD31E
BAG_MOST: Final = 20
MONEY: Final = 0xD347
MONEY_SIZE: Final = 3
RIVAL_NAME: Final = 0xD34A
BADGES: Final = 0xD356
COINS: Final = 0xD5A4
COINS_SIZE: Final = 2

# map
MAP_ID: Final = 0xD35E
PLAYER_Y: Final = 0xD361
PLAYER_X: Final = 0xD362
LAST_MAP: Final = 0xD365
TILESET: Final = 0xD367
MAP_HEIGHT: Final = 0xD368
MAP_WIDTH: Final = 0xD369
CONNECTIONS: Final = 0xD370
CONNECTION_HEADERS: Final[dict[Side, int]] = {"north": 0xD371, "south": 0xD37C, "west": 0xD387, "east": 0xD392}
CONNECTION_BITS: Final[dict[Side, int]] = {"north": 8, "south": 4, "west": 2, "east": 1}
WARP_COUNT: Final = 0xD3AE
WARPS: Final = 0xD3AF
WARP_SIZE: Final = 4
WARPS_MOST: Final = 32
SIGN_COUNT: Final = 0xD4B0
SIGNS: Final = 0xD4B1
SIGNS_MOST: Final = 16
PASSABLE: Final = 0xD530
GRASS_TILE: Final = 0xD535
WALK_FLAGS: Final = 0xD730
MOVEMENT: Final = 0xD736
WARPED_FROM: Final = 0xD73C
EVENTS: Final = 0xD747
EVENTS_SIZE: Final = 320

# clock
PLAY_HOURS: Final = 0xDA41
PLAY_MINUTES: Final = 0xDA43
PLAY_SECONDS: Final = 0xDA44

# the screen
LCD_CONTROL: Final = 0xFF40
PALETTE: Final = 0xFF47
