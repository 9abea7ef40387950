/* Shared by the three files of the battle. */
#pragma once
#include "game.h"

#define FOE_TILE 0x00
#define MINE_TILE 0x19

/* battle_screen.c */
void draw_battle(void);
void draw_foe(void);
void draw_mine(void);
void show_foe_portrait(void);
void show_my_portrait(void);
void name_of(const fighter_t *who);
uint8_t battle_menu(void);
uint8_t move_menu(void);
void keep_mine(void);

/* attack.c */
void attack(fighter_t *who, fighter_t *whom, uint8_t move);
void suffer_poison(fighter_t *who);
uint8_t foe_move(void);
uint16_t speed_of(const fighter_t *who);
