/* Tile memory. Everything here that writes much does it with the screen off, and reads the bank of data: it must stay
   in bank 0. */
#include "game.h"

void lcd_off(void) {
  if (LCDC & 0x80) {
    wait_frame();
    LCDC = 0;
  }
}

void lcd_on(void) {
  BGP = 0xE4;
  OBP0 = 0xE0; /* colour 1 is white, 2 grey, 3 black */
  LCDC = layer ? 0x8B : 0x83; /* tiles at 8800, sprites of 8 x 8, map at 9C00 or 9800 */
}

static const uint8_t fades[] = {0xE4, 0xE0, 0xF9, 0xF4, 0xFE, 0xFC};

/* To black and off in 32 frames, as the screen goes when the map changes. */
void fade_out(void) {
  uint8_t i;
  for (i = 0; i != 6; i += 2) {
    BGP = fades[i];
    OBP0 = fades[i + 1];
    wait_frames(i ? 8 : 9);
  }
  BGP = OBP0 = 0xFF;
  wait_frames(7);
  lcd_off();
}

/* Pictures are run-length packed: see pack in tools/build_data.py. */
static const uint8_t *packed;
static uint8_t run_left, run_value, run_repeats;

static void open_packed(const uint8_t *from) {
  ROM_BANK = DATA_BANK;
  packed = from;
  run_left = 0;
}

static void close_packed(void) {
  ROM_BANK = 1;
}

static uint8_t next_byte(void) {
  if (!run_left) {
    run_left = *packed++;
    run_repeats = run_left & 0x80;
    if (run_repeats) {
      run_left = (run_left & 0x7F) + 2;
      run_value = *packed++;
    } else
      run_left++;
  }
  run_left--;
  if (!run_repeats) run_value = *packed++;
  return run_value;
}

static void unpack(uint8_t *to, const uint8_t *from, uint16_t size) {
  open_packed(from);
  while (size--) *to++ = next_byte();
  close_packed();
}

void load_map_tiles(void) {
  unpack(VRAM_MAP_TILES, map_tiles, MAP_TILE_COUNT * 16);
}

void load_text_and_people(void) {
  uint8_t *to = VRAM_MAP_TILES + 0x600, value;
  uint16_t left;
  open_packed(font_tiles);
  for (left = 0xA0 * 8; left; left--) {
    if (left == 0x80 * 8) to = VRAM_TEXT;
    value = next_byte();
    *to++ = value;
    *to++ = value;
  }
  close_packed();
  unpack(VRAM_SPRITES, sprite_tiles, SPRITE_TILE_COUNT * 16);
}

static uint8_t mirror_bits(uint8_t bits) {
  uint8_t out = 0, i;
  for (i = 0; i != 8; i++) {
    out = (out << 1) | (bits & 1);
    bits >>= 1;
  }
  return out;
}

/* A mirrored portrait looks the other way and serves as one's own. */
void load_portrait(uint8_t species, uint8_t first_tile, uint8_t mirrored) {
  uint8_t *to = VRAM_MAP_TILES + ((uint16_t)first_tile << 4);
  const uint8_t *picture = pictures[species - 1];
  uint8_t column, i, value;
  open_packed(picture);
  if (mirrored) to += 320;
  for (column = 0; column != 5; column++) {
    for (i = 0; i != 80; i++) {
      value = next_byte();
      *to++ = mirrored ? mirror_bits(value) : value;
    }
    if (mirrored) to -= 160;
  }
  close_packed();
}

void place_portrait(uint8_t x, uint8_t y, uint8_t first_tile) {
  uint8_t i, j;
  for (i = 0; i != 5; i++)
    for (j = 0; j != 5; j++) put_tile(x + i, y + j, first_tile++);
}

void clear_screen(void) {
  fill(TILE_MAP, 0x7F, 360);
}

/* Text and menus are shown from their own layer; it takes three frames to fill. */
void show_screen(void) {
  if (!IN_BATTLE) update_sprites();
  if (layer && screen_shown) return;
  screen_shown = 1;
  if (LCDC & 0x80) wait_frames(3);
  layer = 1;
}

void show_map(void) {
  layer = 0;
  screen_shown = 0;
}
