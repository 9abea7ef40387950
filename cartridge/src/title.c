/* Title, naming and the first steps of a new game. */
#include "game.h"

#define PORTRAIT_TILE 0x28
#define GRASS_LEFT 0x48
#define NAME_LENGTH 7
#define LETTER_TOP 5
#define END_ROW 3

static uint8_t double_bits(uint8_t half) {
  uint8_t out = 0, i;
  for (i = 0; i != 4; i++) {
    out <<= 2;
    if (half & 8) out |= 3;
    half <<= 1;
  }
  return out;
}

/* The name of the game in letters of twice the size, made from the font. */
static void load_logo(void) {
  static const char logo[] = "TALLGRASS";
  const uint8_t *glyph;
  uint8_t letter, half, row, bits, *to = VRAM_MAP_TILES;
  for (letter = 0; letter != 9; letter++) {
    for (half = 0; half != 4; half++) {
      glyph = VRAM_TEXT + ((uint16_t)(logo[letter] - 'A') << 4) + ((half & 1) << 3);
      for (row = 0; row != 8; row++) {
        bits = glyph[row & 6];
        bits = double_bits(half & 2 ? bits & 15 : bits >> 4);
        *to++ = bits;
        *to++ = bits;
      }
    }
  }
}

static void draw_title(void) {
  uint8_t i, tile = 0;
  lcd_off();
  load_map_tiles();
  copy(VRAM_MAP_TILES + GRASS_LEFT * 16, VRAM_MAP_TILES + TILE_GRASS * 16 - 16, 32);
  load_logo();
  load_portrait(SPECIES_MOSSKIT, PORTRAIT_TILE, 0);
  clear_screen();
  for (i = 1; i != 19; i++) {
    put_tile(i, 2, tile++);
    put_tile(i, 3, tile++);
  }
  place_portrait(7, 5, PORTRAIT_TILE);
  for (i = 0; i != 20; i++) {
    put_tile(i, 10, GRASS_LEFT + (i & 1));
    put_tile(i, 11, GRASS_LEFT + (~i & 1));
  }
  put_text(4, 14, "PRESS START");
  hide_sprites();
  screen_shown = 1;
  layer = 1;
  lcd_on();
}

static const uint8_t preset_names[] = {0x96, 0x91, 0x84, 0x8D, 0x50, 0x93, 0x84, 0x80, 0x8B, 0x50, 0x8F, 0x88, 0x8F, 0x84, 0x91, 0x50};
static const uint8_t friend_name[] = {0x89, 0x94, 0x8D, 0x8E, 0x50};

static void draw_grid(const char *question) {
  uint8_t i, x = 2, y = LETTER_TOP;
  clear_screen();
  put_text(1, 1, question);
  draw_box(0, 3, 18, 9);
  for (i = 0; i != 27; i++) {
    put_tile(x, y, i == 26 ? 0xE3 : 0x80 + i);
    x += 2;
    if (x == 20) {
      x = 2;
      y += 2;
    }
  }
  put_text(2, LETTER_TOP + END_ROW * 2, "END");
  put_text(1, 15, "A: letter B: erase\nSTART: done");
}

/* The cursor is at (MENU_X, MENU_Y + 2 * MENU_ITEM): rows of nine letters, then END. */
void write_name(uint8_t *to, const char *question) {
  uint8_t size = 0, i;
  page_up = 1;
  draw_grid(question);
  show_screen();
  MENU_Y = LETTER_TOP;
  MENU_X = 1;
  MENU_ITEM = 0;
  MENU_LAST = END_ROW;
  for (;;) {
    to[size] = 0x50;
    for (i = 0; i != NAME_LENGTH; i++) put_tile(12 + i, 1, i < size ? to[i] : 0xE3);
    put_tile(MENU_X, LETTER_TOP + (MENU_ITEM << 1), 0xED);
    wait_frame();
    if (!JOY_PRESSED) continue;
    put_tile(MENU_X, LETTER_TOP + (MENU_ITEM << 1), 0x7F);
    if (JOY_PRESSED & KEY_START) break;
    if ((JOY_PRESSED & KEY_B) && size) size--;
    if ((JOY_PRESSED & KEY_UP) && MENU_ITEM) MENU_ITEM--;
    if ((JOY_PRESSED & KEY_DOWN) && MENU_ITEM != END_ROW) MENU_ITEM++;
    if ((JOY_PRESSED & KEY_LEFT) && MENU_X != 1) MENU_X -= 2;
    if ((JOY_PRESSED & KEY_RIGHT) && MENU_X != 17) MENU_X += 2;
    if (MENU_ITEM == END_ROW) MENU_X = 1;
    if (JOY_PRESSED & KEY_A) {
      if (MENU_ITEM == END_ROW) break;
      i = MENU_ITEM * 9 + (MENU_X >> 1);
      to[size++] = i == 26 ? 0xE3 : 0x80 + i;
      if (size == NAME_LENGTH) {
        MENU_ITEM = END_ROW;
        MENU_X = 1;
      }
    }
    if (size == NAME_LENGTH && MENU_ITEM != END_ROW) size--;
  }
  page_up = 0;
}

static void choose_name(void) {
  uint8_t chosen, i;
  const uint8_t *name;
  tell("What is your name?");
  draw_box(0, 0, 10, 9);
  for (i = 0; i != 3; i++) put_name(2, 2 + (i << 1), nth_name(preset_names, i));
  put_text(2, 8, "OTHER");
  MENU_ITEM = 0;
  do chosen = run_menu(1, 2, 3, DOUBLE_SPACED);
  while (chosen == NOTHING);
  if (chosen == 3) {
    write_name(PLAYER_NAME, "YOUR NAME?");
    if (PLAYER_NAME[0] != 0x50) return;
    chosen = 0;
  }
  name = nth_name(preset_names, chosen);
  copy(PLAYER_NAME, name, 6);
}

static void new_game(void) {
  fill(BYTES(SAVED_FIRST), 0, SAVED_SIZE);
  PARTY_SPECIES[0] = 0xFF;
  BAG[0] = 0xFF;
  U8(0xD53B) = 0xFF;
  MONEY[1] = 0x30;
  fill(PLAYER_NAME, 0x50, NAME_SIZE);
  fill(FRIEND_NAME, 0x50, NAME_SIZE);
  copy(FRIEND_NAME, friend_name, 5);
  PLAYER_ID[0] = random();
  PLAYER_ID[1] = random();
  say("Where the grass is\ntall, kin live.\fPeople befriend\nthem and travel.\fIt is your turn!");
  choose_name();
  clear_screen();
  say("\4, wake up!\nIt is a fine day.");
  MAP_ID = MAP_HOME_UPSTAIRS;
  PLAYER_Y = 4;
  PLAYER_X = 3;
  LAST_MAP = MAP_FERNHOLLOW;
  LAST_REST = MAP_REST_HOUSE;
  DESTINATION_WARP = 0xFF;
}

void title(void) {
  uint8_t chosen = 1;
  MAP_HEIGHT = 0;
  draw_title();
  do wait_frame();
  while (!(JOY_PRESSED & (KEY_START | KEY_A)));
  clear_screen();
  if (save_exists()) {
    TEXT_UP |= 1;
    draw_box(0, 0, 13, 5);
    put_text(2, 2, "CONTINUE\nNEW GAME");
    MENU_ITEM = 0;
    do chosen = run_menu(1, 2, 1, DOUBLE_SPACED);
    while (chosen == NOTHING);
    clear_screen();
  }
  if (chosen)
    new_game();
  else
    load_game();
  enter_map(MAP_ID, PLAYER_Y, PLAYER_X);
}
