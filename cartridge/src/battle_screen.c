/* What a battle looks like: portraits, health, the two menus. */
#include "battle.h"

static const uint8_t foe_word[] = {0x85, 0xAE, 0xA4, 0x7F};

void keep_mine(void) {
  kin_t *kin = &PARTY[ACTIVE_SLOT];
  copy(kin->hp, MINE->hp, 2);
  kin->status = MINE->status;
  copy(kin->pp, MINE->pp, 4);
}

void draw_foe(void) {
  uint8_t row;
  for (row = 0; row != 3; row++) fill(TILE_MAP + row * 20, 0x7F, 12);
  put_name(1, 0, nth_name(species_names, FOE->species - 1));
  put_tile(3, 1, 0x6E);
  put_number(4, 1, FOE->level, 2);
  put_status(8, 1, FOE->status);
  put_hp_bar(2, 2, get16(FOE->hp), get16(FOE->max_hp));
}

void draw_mine(void) {
  uint8_t row;
  for (row = 7; row != 12; row++) fill(TILE_MAP + (uint16_t)row * 20 + 8, 0x7F, 12);
  put_name(10, 7, nickname(ACTIVE_SLOT));
  put_tile(12, 8, 0x6E);
  put_number(13, 8, MINE->level, 2);
  put_status(16, 8, MINE->status);
  put_hp_bar(10, 9, get16(MINE->hp), get16(MINE->max_hp));
  put_number(11, 10, get16(MINE->hp), 3);
  put_tile(14, 10, 0xF3);
  put_number(15, 10, get16(MINE->max_hp), 3);
}

void show_foe_portrait(void) {
  lcd_off();
  load_portrait(FOE->species, FOE_TILE, 0);
  lcd_on();
  place_portrait(13, 0, FOE_TILE);
  draw_foe();
}

void show_my_portrait(void) {
  lcd_off();
  load_portrait(MINE->species, MINE_TILE, 1);
  lcd_on();
  place_portrait(1, 7, MINE_TILE);
  draw_mine();
}

void draw_battle(void) {
  clear_screen();
  place_portrait(13, 0, FOE_TILE);
  place_portrait(1, 7, MINE_TILE);
  draw_foe();
  draw_mine();
  draw_box(0, 12, 18, 4);
}

/* Both sides may have the same kin, so the other side's is called so. */
void name_of(const fighter_t *who) {
  static uint8_t foe_name[13];
  if (who == MINE) {
    text_name = nickname(ACTIVE_SLOT);
    return;
  }
  copy(foe_name, foe_word, 4);
  copy(foe_name + 4, nth_name(species_names, FOE->species - 1), 8);
  text_name = foe_name;
}

/* Two columns: FIGHT and BAG at x 9, KIN and RUN at x 15. Returns 0 to 3 in that order. */
uint8_t battle_menu(void) {
  uint8_t column = 0, row = 0;
  message_box();
  draw_box(8, 12, 10, 4);
  put_text(10, 14, "FIGHT KIN\nBAG   RUN");
  TEXT_BOX = BOX_BATTLE;
  MENU_Y = 14;
  MENU_LAST = 1;
  for (;;) {
    MENU_X = column ? 15 : 9;
    MENU_ITEM = row;
    put_tile(MENU_X, 14 + (row << 1), 0xED);
    wait_frame();
    if (JOY_PRESSED & KEY_A) return (column << 1) | row;
    if (!JOY_PRESSED) continue;
    put_tile(MENU_X, 14 + (row << 1), 0x7F);
    if (JOY_PRESSED & KEY_LEFT) column = 0;
    if (JOY_PRESSED & KEY_RIGHT) column = 1;
    if (JOY_PRESSED & KEY_UP) row = 0;
    if (JOY_PRESSED & KEY_DOWN) row = 1;
  }
}

/* Moves count from 1, as in the retail game: the cursor is at (5, 12 + item). */
uint8_t move_menu(void) {
  static uint8_t remembered;
  uint8_t i, count = 0, item, move;
  draw_box(4, 12, 14, 4);
  draw_box(0, 8, 9, 3);
  for (i = 0; i != 4; i++) {
    if (!MINE->moves[i]) break;
    put_name(6, 13 + i, nth_name(move_names, MINE->moves[i] - 1));
    count++;
  }
  item = remembered < count ? remembered + 1 : 1;
  MENU_Y = 12;
  MENU_X = 5;
  MENU_LAST = count + 1;
  for (;;) {
    MENU_ITEM = item;
    put_tile(5, 12 + item, 0xED);
    move = MINE->moves[item - 1];
    put_text(1, 9, "PP");
    put_number(4, 9, MINE->pp[item - 1], 2);
    put_tile(6, 9, 0xF3);
    put_number(7, 9, move_records[(move - 1) * 6 + 3], 2);
    put_text(1, 11, move_records[(move - 1) * 6 + 1] ? "ATTACK  " : "TRICK   ");
    wait_frame();
    if (JOY_PRESSED & KEY_B) return NOTHING;
    if (JOY_PRESSED & KEY_A) {
      remembered = item - 1;
      return item - 1;
    }
    if (!JOY_PRESSED) continue;
    put_tile(5, 12 + item, 0x7F);
    if (JOY_PRESSED & KEY_UP) item = item == 1 ? count : item - 1;
    if (JOY_PRESSED & KEY_DOWN) item = item == count ? 1 : item + 1;
  }
}
