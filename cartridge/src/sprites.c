/* People on the map: where they are on the screen, and what the sprite hardware shows. */
#include "game.h"

#define PRIORITY_BEHIND 0x80
#define FLIPPED 0x20

uint8_t sprite_moving, sprite_left; /* who is walking, and how many pixels are left */
uint8_t page_up;                    /* a page that nobody may stand on */
static uint8_t *oam, rest_frames;

void hide_sprites(void) {
  fill(OAM, 0, 160);
}

static void put_part(uint8_t y, uint8_t x, uint8_t tile, uint8_t flags) {
  *oam++ = y;
  *oam++ = x;
  *oam++ = tile;
  *oam++ = flags;
}

static void put_person(uint8_t y, uint8_t x, uint8_t tile, uint8_t flags, uint8_t low_flags) {
  uint8_t left = x + 8, right = x + 16;
  if (flags & FLIPPED) {
    left = right;
    right = x + 8;
  }
  y += 16;
  put_part(y, left, tile, flags);
  put_part(y, right, tile + 1, flags);
  put_part(y + 8, left, tile + 2, flags | low_flags);
  put_part(y + 8, right, tile + 3, flags | low_flags);
}

static uint8_t first_tile(uint8_t picture, uint8_t facing) {
  uint8_t way = facing >> 2;
  if (way == 3) way = 2;
  if (picture == SPRITE_BALL) return SPRITE_TILE_BALL;
  if (picture == SPRITE_ALERT) return SPRITE_TILE_ALERT;
  return SPRITE_TILE_PARENT + (picture - SPRITE_PARENT) * 12 + (way << 2);
}

static void place_player(void) {
  uint8_t facing = PLAYER_FACING, way = facing >> 2, tile, flags = 0, low = 0;
  SPRITE1(0, SCREEN_Y) = 0x3C;
  SPRITE1(0, SCREEN_X) = 0x40;
  if (TEXT_UP && TILE_MAP[9 * 20 + 8] >= 0x60) {
    SPRITE1(0, IMAGE) = NOT_SHOWN;
    return;
  }
  if (way == 3) {
    way = 2;
    flags = FLIPPED;
  }
  tile = way << 3;
  if (step_pixels & 8) {
    tile += 4;
    /* up and down, every other step shows the other foot */
    if (facing < LEFT && ((PLAYER_X ^ PLAYER_Y) & 1)) flags = FLIPPED;
  }
  SPRITE1(0, IMAGE) = facing | ((step_pixels >> 2) & 3);
  if (!step_pixels && TILE_MAP[9 * 20 + 8] == GRASS_TILE) low = PRIORITY_BEHIND;
  put_person(0x3C, 0x40, tile, flags, low);
}

void update_sprites(void) {
  uint8_t slot, picture, y, x, facing;
  int8_t down, across;
  if (page_up) {
    hide_sprites();
    return;
  }
  oam = OAM;
  place_player();
  for (slot = 1; slot != 16; slot++) {
    picture = SPRITE1(slot, PICTURE);
    if (!picture) continue;
    SPRITE1(slot, IMAGE) = NOT_SHOWN;
    down = SPRITE2(slot, MAP_Y) - 4 - PLAYER_Y;
    across = SPRITE2(slot, MAP_X) - 4 - PLAYER_X;
    if (down < -5 || down > 5 || across < -5 || across > 6) continue;
    y = 0x3C + (uint8_t)(down << 4);
    x = 0x40 + (uint8_t)(across << 4);
    if (step_y) y -= step_y < 0 ? -step_pixels : step_pixels;
    if (step_x) x -= step_x < 0 ? -step_pixels : step_pixels;
    facing = SPRITE1(slot, FACING);
    if (slot == sprite_moving) {
      if (facing == DOWN) y -= sprite_left;
      if (facing == UP) y += sprite_left;
      if (facing == LEFT) x += sprite_left;
      if (facing == RIGHT) x -= sprite_left;
    }
    SPRITE1(slot, SCREEN_Y) = y;
    SPRITE1(slot, SCREEN_X) = x;
    /* 240 and up is just off the upper or left edge */
    if ((y > 143 && y < 240) || (x > 159 && x < 240)) continue;
    if (TEXT_UP && y < 128 && x < 160 && TILE_MAP[(uint16_t)((y + 12) >> 3) * 20 + (x >> 3)] >= 0x60) continue;
    if (TEXT_UP && y >= 84 && y < 240) continue;
    SPRITE1(slot, IMAGE) = (slot << 4) | facing;
    put_person(y, x, first_tile(picture, facing), facing == RIGHT ? FLIPPED : 0, 0);
  }
  while (oam != OAM + 160) {
    *oam = 0;
    oam += 4;
  }
}

/* Somebody begins a step: the new square is taken at once, the picture follows. */
void start_sprite(uint8_t slot, uint8_t facing) {
  uint8_t *place = &SPRITE2(slot, 0);
  SPRITE1(slot, FACING) = facing;
  if (facing == DOWN) place[MAP_Y]++;
  if (facing == UP) place[MAP_Y]--;
  if (facing == LEFT) place[MAP_X]--;
  if (facing == RIGHT) place[MAP_X]++;
  sprite_moving = slot;
  sprite_left = 16;
}

/* One pixel; returns whether anybody moved. */
uint8_t move_sprite(void) {
  if (!sprite_moving) return 0;
  if (!--sprite_left) sprite_moving = 0;
  return 1;
}

static uint8_t may_stroll(const person_t *person, uint8_t y, uint8_t x) {
  uint8_t far = person->walks;
  if ((uint8_t)(y - person->y + far) > far << 1 || (uint8_t)(x - person->x + far) > far << 1) return 0;
  if ((y == PLAYER_Y && x == PLAYER_X) || person_at(y, x)) return 0;
  return tile_is_passable(square_tile(y, x));
}

/* Once a frame while the player may walk: now and then somebody takes a step. */
void stroll(void) {
  const person_t *person;
  uint8_t slot, facing, y, x;
  if (move_sprite()) {
    update_sprites();
    return;
  }
  if (rest_frames) {
    rest_frames--;
    return;
  }
  rest_frames = 48 + (random() & 63);
  for (slot = 1; slot <= area->people_count; slot++) {
    person = &area->people[slot - 1];
    if (!person->walks || !SPRITE1(slot, PICTURE)) continue;
    facing = random() & 12;
    y = SPRITE2(slot, MAP_Y) - 4 + (facing == DOWN) - (facing == UP);
    x = SPRITE2(slot, MAP_X) - 4 + (facing == RIGHT) - (facing == LEFT);
    SPRITE1(slot, FACING) = facing;
    if (may_stroll(person, y, x)) start_sprite(slot, facing);
    update_sprites();
    return;
  }
}
