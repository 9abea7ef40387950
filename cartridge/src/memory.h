/* Where the game keeps its facts. These addresses are a promise to readers outside. */
#pragma once
#include "types.h"

#define U8(address) (*(uint8_t *)(address))
#define V8(address) (*(volatile uint8_t *)(address))
#define U16(address) (*(uint16_t *)(address))
#define BYTES(address) ((uint8_t *)(address))

/* hardware */
#define LCDC V8(0xFF40)
#define BGP V8(0xFF47)
#define OBP0 V8(0xFF48)
#define OAM BYTES(0xC000)
#define VRAM_SPRITES BYTES(0x8000)
#define VRAM_TEXT BYTES(0x8800)
#define VRAM_MAP_TILES BYTES(0x9000)
#define BACKGROUND BYTES(0x9800)
#define SAVE BYTES(0xA000)
#define RAM_GATE V8(0x0100)
#define ROM_BANK V8(0x2000)

/* buttons */
#define JOY_PRESSED U8(0xFFB3)
#define JOY_HELD V8(0xFFB4)
#define JOY_LAST U8(0xFFB1)
#define KEY_A 0x01
#define KEY_B 0x02
#define KEY_START 0x08
#define KEY_RIGHT 0x10
#define KEY_LEFT 0x20
#define KEY_UP 0x40
#define KEY_DOWN 0x80
#define RANDOM_ADD U8(0xFFD3)
#define RANDOM_SUB U8(0xFFD4)

/* sprites: 16 slots of 16 bytes in each table, slot 0 the player */
#define SPRITE1(slot, field) U8(0xC100 + ((uint16_t)(slot) << 4) + (field))
#define SPRITE2(slot, field) U8(0xC200 + ((uint16_t)(slot) << 4) + (field))
#define PICTURE 0x0
#define STATUS 0x1
#define IMAGE 0x2
#define SCREEN_Y 0x4
#define SCREEN_X 0x6
#define FACING 0x9
#define MAP_Y 0x4
#define MAP_X 0x5
#define NOT_SHOWN 0xFF
#define PLAYER_FACING U8(0xC109)
#define DOWN 0
#define UP 4
#define LEFT 8
#define RIGHT 12

/* screen, text, menus */
#define TILE_MAP BYTES(0xC3A0)
#define BLOCK_MAP BYTES(0xC6E8)
#define MENU_Y U8(0xCC24)
#define MENU_X U8(0xCC25)
#define MENU_ITEM U8(0xCC26)
#define MENU_LAST U8(0xCC28)
#define ACTIVE_SLOT U8(0xCC2F)
#define LIST_SCROLL U8(0xCC36)
#define FOE_MOVE U8(0xCCDD) /* what the other side chose last */
#define INPUT_BLOCKED U8(0xCD6B)
#define BATTLE_RESULT U8(0xCF0B)
#define LIST_ID U8(0xCF94)
#define ITEM_QUANTITY U8(0xCF96)
#define TEXT_UP U8(0xCFC4)
#define WALK_COUNTER U8(0xCFC5)
#define FRONT_TILE U8(0xCFC6)
#define FOE ((fighter_t *)0xCFE5)
#define MINE ((fighter_t *)0xD014)
#define TRAINER_CLASS U8(0xD031)
#define IN_BATTLE U8(0xD057)
#define OPPONENT U8(0xD059)
#define BATTLE_TYPE U8(0xD05A)
#define TRAINER_NUMBER U8(0xD05D)
#define REPEL_STEPS U8(0xD0DB)
#define TEXT_BOX U8(0xD125)
#define BOX_NONE 0x00
#define BOX_MESSAGE 0x01
#define BOX_BATTLE 0x0B
#define BOX_LIST 0x0D
#define BOX_YES_NO 0x14

/* what a saved game holds: from the player's name to the play time */
#define SAVED_FIRST 0xD158
#define SAVED_SIZE (0xDA48 - 0xD158)
#define PLAYER_NAME BYTES(0xD158)
#define PARTY_COUNT U8(0xD163)
#define PARTY_SPECIES BYTES(0xD164)
#define PARTY ((kin_t *)0xD16B)
#define TRAINER_NAMES BYTES(0xD273)
#define NICKNAMES BYTES(0xD2B5)
#define NAME_SIZE 11
#define DEX_OWNED BYTES(0xD2F7)
#define DEX_SEEN BYTES(0xD30A)
#define BAG_COUNT U8(0xD31D)
#define BAG BYTES(0xD31E)
#define MONEY BYTES(0xD347)
#define FRIEND_NAME BYTES(0xD34A)
#define BADGES U8(0xD356)
#define PLAYER_ID BYTES(0xD359)
#define MAP_ID U8(0xD35E)
#define VIEW_POINTER U16(0xD35F)
#define PLAYER_Y U8(0xD361)
#define PLAYER_X U8(0xD362)
#define BLOCK_Y U8(0xD363)
#define BLOCK_X U8(0xD364)
#define LAST_MAP U8(0xD365)
#define TILESET U8(0xD367)
#define MAP_HEIGHT U8(0xD368)
#define MAP_WIDTH U8(0xD369)
#define MAP_DATA U16(0xD36A)
#define MAP_TEXT U16(0xD36C)
#define MAP_SCRIPT U16(0xD36E)
#define LINKS U8(0xD370)
#define LINK_NORTH 8
#define LINK_SOUTH 4
#define LINK_HEADERS BYTES(0xD371)
#define LINK_SIZE 11
#define WARPS BYTES(0xD3AE)
#define DESTINATION_WARP U8(0xD42F)
#define SIGNS BYTES(0xD4B0)
#define SPRITE_COUNT U8(0xD4E1)
#define TILESET_BANK U8(0xD52B)
#define TILESET_BLOCKS U16(0xD52C)
#define TILESET_GRAPHICS U16(0xD52E)
#define PASSABLE U16(0xD530)
#define GRASS_TILE U8(0xD535)
#define OBJECTS_OFF BYTES(0xD5A6)
#define LAST_REST U8(0xD719)
#define WALK_FLAGS U8(0xD730)
#define SCRIPTED 0x80
#define MOVEMENT U8(0xD736)
#define ON_WARP 0x04
#define JUMPING 0x40
#define SLIDING 0x80
#define WARPED_FROM_WARP U8(0xD73B)
#define WARPED_FROM U8(0xD73C)
#define EVENTS BYTES(0xD747)
#define WILD BYTES(0xD887) /* the chance of a step in tall grass, then ten levels and species */
#define WILD_SIZE 21
#define WATER_RATE U8(0xD8A4)
#define FOE_COUNT U8(0xD89C)
#define FOE_SPECIES BYTES(0xD89D)
#define FOE_PARTY ((kin_t *)0xD8A4)
