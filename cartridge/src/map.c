/* The current map: its header in memory, its blocks, and the view of it. */
#include "game.h"

#define BORDER 3 /* blocks around the map, so that the view never leaves it */

const area_t *area;

void find_area(uint8_t id) {
  area = areas;
  while (area->id != id) area++;
}

static uint8_t *copy_rows(uint8_t *to, const uint8_t *from, uint8_t rows) {
  for (; rows; rows--) {
    copy_data(to, from, MAP_WIDTH);
    from += MAP_WIDTH;
    to += map_stride;
  }
  return to;
}

/* The border shows the edge of a joined map, which is always as wide as this one. */
static void load_blocks(void) {
  const area_t *here = area;
  uint8_t *below;
  map_stride = MAP_WIDTH + BORDER * 2;
  fill(BLOCK_MAP, area->border, (uint16_t)map_stride * (MAP_HEIGHT + BORDER * 2));
  below = copy_rows(BLOCK_MAP + BORDER * map_stride + BORDER, area->blocks, MAP_HEIGHT);
  if (LINKS & LINK_SOUTH) {
    find_area(here->south);
    copy_rows(below, area->blocks, BORDER);
  }
  if (LINKS & LINK_NORTH) {
    find_area(here->north);
    copy_rows(BLOCK_MAP + BORDER, area->blocks + (uint16_t)MAP_WIDTH * (area->height - BORDER), BORDER);
  }
  area = here;
}

static void load_link(uint8_t *to, uint8_t map, uint8_t y) {
  fill(to, 0, LINK_SIZE);
  to[0] = map;
  if (map == 0xFF) return;
  to[5] = to[6] = MAP_WIDTH;
  to[7] = y; /* where one arrives */
}

static uint8_t height_of(uint8_t map) {
  const area_t *here = area;
  uint8_t height;
  if (map == 0xFF) return 0;
  find_area(map);
  height = area->height;
  area = here;
  return height;
}

/* Balls that were taken; the bit says so to readers outside. */
void hide_object(uint8_t slot) {
  SPRITE1(slot, PICTURE) = 0;
  set_bit(OBJECTS_OFF, (MAP_ID & 7) * 8 + slot - 1);
}

static void load_people(void) {
  const person_t *person = area->people;
  uint8_t slot, *sprite;
  fill(BYTES(0xC110), 0, 0xF0);
  fill(BYTES(0xC210), 0, 0xF0);
  SPRITE_COUNT = area->people_count;
  sprite_moving = sprite_left = 0;
  for (slot = 1; slot <= area->people_count; slot++, person++) {
    SPRITE2(slot, MAP_Y) = person->y + 4;
    SPRITE2(slot, MAP_X) = person->x + 4;
    sprite = &SPRITE1(slot, 0);
    sprite[FACING] = person->facing;
    sprite[IMAGE] = NOT_SHOWN;
    sprite[PICTURE] = person->sprite;
    sprite[STATUS] = 1;
    if (person->sprite == SPRITE_BALL && event_is_set(person->event)) hide_object(slot);
    if (person->gone != 0xFF && event_is_set(person->gone)) hide_object(slot);
  }
}

/* In battles the end of it belongs to the other side's party. */
void load_wild(void) {
  const uint8_t *table = wild_tables;
  fill(WILD, 0, WILD_SIZE);
  WATER_RATE = 0;
  for (; *table != 0xFF; table += WILD_SIZE + 1)
    if (*table == MAP_ID) copy(WILD, table + 1, WILD_SIZE);
}

void load_map(void) {
  uint8_t i, *to;
  find_area(MAP_ID);
  TILESET = area->tileset;
  MAP_HEIGHT = area->height;
  MAP_WIDTH = area->width;
  MAP_DATA = (uint16_t)area->blocks;
  MAP_TEXT = (uint16_t)area->signs;
  MAP_SCRIPT = (uint16_t)area->people;
  LINKS = area->links;
  load_link(LINK_HEADERS, area->north, height_of(area->north) * 2 - 1);
  load_link(LINK_HEADERS + LINK_SIZE, area->south, 0);
  load_link(LINK_HEADERS + LINK_SIZE * 2, 0xFF, 0);
  load_link(LINK_HEADERS + LINK_SIZE * 3, 0xFF, 0);
  copy(WARPS, area->warps, 1 + (area->warps[0] << 2));
  to = SIGNS;
  *to++ = area->sign_count;
  for (i = 0; i != area->sign_count; i++) {
    *to++ = area->signs[i].y;
    *to++ = area->signs[i].x;
  }
  TILESET_BLOCKS = (uint16_t)tile_blocks;
  TILESET_GRAPHICS = (uint16_t)map_tiles;
  TILESET_BANK = DATA_BANK;
  PASSABLE = (uint16_t)(area->tileset ? passable_indoor : passable_outdoor);
  GRASS_TILE = area->tileset ? 0xFF : TILE_GRASS;
  load_blocks();
  load_wild();
  load_people();
}

/* The player stands on the fifth square of the fifth row of the view. */
void set_view(uint8_t y, uint8_t x) {
  uint8_t row = (uint8_t)(y + 2) >> 1;
  view_block = BLOCK_MAP + (uint16_t)row * map_stride + ((uint8_t)(x + 2) >> 1);
  VIEW_POINTER = (uint16_t)view_block;
  view_odd = ((x & 1) << 1) | ((y & 1) << 3);
}

void redraw_map(void) {
  set_view(PLAYER_Y, PLAYER_X);
  draw_view();
}

/* Draw everything anew, with the screen off: after a warp or a battle. */
void draw_map(void) {
  uint8_t row;
  lcd_off();
  load_map_tiles();
  TEXT_UP &= ~1;
  TEXT_BOX = BOX_NONE;
  scroll_x = scroll_y = 0;
  redraw_map();
  for (row = 0; row != 18; row++) copy(BACKGROUND + ((uint16_t)row << 5), TILE_MAP + (uint16_t)row * 20, 20);
  show_map();
  update_sprites();
  lcd_on();
}

const uint8_t *warp_here(void) {
  const uint8_t *warp = WARPS + 1;
  uint8_t left = WARPS[0];
  for (; left; left--, warp += 4)
    if (warp[0] == PLAYER_Y && warp[1] == PLAYER_X) {
      MOVEMENT |= ON_WARP;
      return warp;
    }
  MOVEMENT &= ~ON_WARP;
  return 0;
}

void enter_map(uint8_t id, uint8_t y, uint8_t x) {
  const uint8_t *warp;
  lcd_off();
  MAP_ID = id;
  PLAYER_Y = y;
  PLAYER_X = x;
  BLOCK_Y = y & 1;
  BLOCK_X = x & 1;
  load_map();
  warp = warp_here();
  if (warp) DESTINATION_WARP = warp[2]; /* where one arrives, it stays written */
  draw_map();
}

uint8_t tile_is_passable(uint8_t tile) {
  const uint8_t *list = (const uint8_t *)PASSABLE;
  for (; *list != 0xFF; list++)
    if (*list == tile) return 1;
  return 0;
}

/* The lower left tile of any square of the map, which decides who may enter. */
uint8_t square_tile(uint8_t y, uint8_t x) {
  uint8_t block = BLOCK_MAP[(uint16_t)((uint8_t)(y + 6) >> 1) * map_stride + ((uint8_t)(x + 6) >> 1)], tile;
  copy_data(&tile, tile_blocks + ((uint16_t)block << 4) + ((y & 1) << 3) + 4 + ((x & 1) << 1), 1);
  return tile;
}

uint8_t person_at(uint8_t y, uint8_t x) {
  uint8_t slot;
  for (slot = 1; slot != 15; slot++)
    if (SPRITE1(slot, PICTURE) && SPRITE2(slot, MAP_Y) == y + 4 && SPRITE2(slot, MAP_X) == x + 4) return slot;
  return 0;
}
