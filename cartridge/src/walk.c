/* Walking: one press of a direction is one step of sixteen frames. */
#include "game.h"

uint8_t step_pixels;
int8_t step_x, step_y;

void face(uint8_t facing) {
  PLAYER_FACING = facing;
  step_y = facing == DOWN ? 1 : facing == UP ? -1 : 0;
  step_x = facing == RIGHT ? 1 : facing == LEFT ? -1 : 0;
}

/* Agents read both: the retail game uses one or the other. */
void block_input(void) {
  INPUT_BLOCKED = 0xFF;
  WALK_FLAGS |= 0x80;
}

void free_input(void) {
  INPUT_BLOCKED = 0;
  WALK_FLAGS &= ~0x80;
}

/* The new edge of the view is drawn just outside the screen, then scrolled in. */
static void queue_edge(void) {
  uint8_t column = scroll_x >> 3, row = scroll_y >> 3;
  edge_source = TILE_MAP;
  if (step_y) {
    row += step_y < 0 ? -2 : 18;
    if (step_y > 0) edge_source += 16 * 20;
  } else {
    column += step_x < 0 ? -2 : 20;
    if (step_x > 0) edge_source += 18;
  }
  edge_target = BACKGROUND + ((uint16_t)(row & 31) << 5) + (column & 31);
  edge_kind = step_y ? 1 : 2;
}

/* A reader never sees the player outside the map: the new place is written at once. */
static void move_player(void) {
  uint8_t y = PLAYER_Y + step_y;
  uint8_t map = y == 0xFF ? area->north : y == MAP_HEIGHT << 1 ? area->south : 0xFF;
  PLAYER_X += step_x;
  BLOCK_X = PLAYER_X & 1;
  BLOCK_Y ^= step_y & 1;
  if (map == 0xFF)
    PLAYER_Y = y;
  else {
    find_area(map);
    PLAYER_Y = y == 0xFF ? (area->height << 1) - 1 : 0;
    MAP_ID = map;
    load_map();
    redraw_map();
  }
}

void take_step(void) {
  uint8_t frame;
  set_view(PLAYER_Y + step_y, PLAYER_X + step_x);
  draw_view();
  queue_edge();
  for (frame = 1; frame <= 16; frame++) {
    step_pixels = frame;
    scroll_x += step_x;
    scroll_y += step_y;
    WALK_COUNTER = (16 - frame) >> 1;
    move_sprite();
    update_sprites();
    if (frame != 16) wait_frame();
  }
  step_pixels = 0;
  move_player();
  update_sprites();
}

/* The number of the map is written first, all else when the screen has gone dark. */
static void take_warp(const uint8_t *warp) {
  uint8_t map = warp[3], number = warp[2];
  WARPED_FROM_WARP = (uint8_t)(warp - WARPS - 1) >> 2;
  WARPED_FROM = MAP_ID;
  if (map == 0xFF)
    map = LAST_MAP;
  else if (!TILESET)
    LAST_MAP = MAP_ID;
  DESTINATION_WARP = number;
  MAP_ID = map;
  fade_out();
  INPUT_BLOCKED = 0xFF;
  find_area(map);
  warp = area->warps + 1 + (number << 2);
  enter_map(map, warp[0], warp[1]);
  wait_frames(3);
  if (TILE_MAP[9 * 20 + 8] == TILE_DOOR) { /* out of a door one steps by oneself */
    INPUT_BLOCKED = 0xFC;
    WALK_FLAGS |= SCRIPTED;
    face(DOWN);
    take_step();
    warp_here();
    wait_frame();
  }
  free_input();
}

/* Doors and stairs take whoever steps on them, mats only whoever walks on, off the map. Returns whether they did. */
static uint8_t arrive(void) {
  const uint8_t *warp = warp_here();
  if (!warp) return 0;
  if (TILE_MAP[9 * 20 + 8] == TILE_MAT && (PLAYER_FACING != DOWN || !(JOY_HELD & KEY_DOWN))) return 0;
  take_warp(warp);
  return 1;
}

static void leave_by_mat(void) {
  const uint8_t *warp = warp_here();
  if (warp && PLAYER_FACING == DOWN && TILE_MAP[9 * 20 + 8] == TILE_MAT) take_warp(warp);
}

static const uint8_t slot_chances[] = {50, 101, 140, 165, 190, 215, 228, 241, 252, 255};

static void meet_wild(void) {
  const uint8_t *slot = WILD + 1, *chance = slot_chances;
  uint8_t roll;
  if (TILE_MAP[9 * 20 + 8] != GRASS_TILE || !PARTY_COUNT || !WILD[0]) return;
  if (REPEL_STEPS) {
    REPEL_STEPS--;
    return;
  }
  if (random() >= WILD[0]) return;
  for (roll = random(); *chance < roll; chance++) slot += 2;
  fight_wild(slot[1], slot[0]);
}

static const uint8_t ahead[] = {80, 0, 38, 42}; /* from two rows above the player's lower left tile */

static void look_ahead(void) {
  FRONT_TILE = TILE_MAP[7 * 20 + 8 + ahead[PLAYER_FACING >> 2]];
}

static uint8_t may_step(void) {
  look_ahead();
  return tile_is_passable(FRONT_TILE) && !person_at(PLAYER_Y + step_y, PLAYER_X + step_x);
}

/* Down a ledge: two squares, and no way back. */
static void jump(void) {
  INPUT_BLOCKED = 0xFF;
  WALK_FLAGS |= SCRIPTED;
  MOVEMENT |= JUMPING;
  beep(TONE_HIGH);
  take_step();
  wait_frame();
  take_step();
  MOVEMENT &= ~JUMPING;
  free_input();
}

/* On glazed floor one goes on until something is in the way. */
static void slide(void) {
  if (TILE_MAP[9 * 20 + 8] != TILE_SLIDE) return;
  WALK_FLAGS |= SCRIPTED;
  MOVEMENT |= SLIDING;
  while (TILE_MAP[9 * 20 + 8] == TILE_SLIDE && may_step()) {
    wait_frame();
    take_step();
  }
  MOVEMENT &= ~SLIDING;
  WALK_FLAGS &= ~SCRIPTED;
}

static void try_step(void) {
  if (!may_step()) {
    update_sprites();
    if (FRONT_TILE == TILE_LEDGE && PLAYER_FACING == DOWN && !TILESET && !person_at(PLAYER_Y + 2, PLAYER_X))
      jump();
    else {
      leave_by_mat();
      return;
    }
  } else
    take_step();
  slide();
  if (arrive() || step_script()) return;
  check_trainers();
  if (!IN_BATTLE) meet_wild();
}

static void look(void) {
  uint8_t y, x, i;
  while (move_sprite()) { /* whoever is walking arrives first */
    update_sprites();
    wait_frame();
  }
  face(PLAYER_FACING);
  y = PLAYER_Y + step_y;
  x = PLAYER_X + step_x;
  look_ahead();
  i = person_at(y, x);
  if (!i && FRONT_TILE == TILE_COUNTER) i = person_at(y + step_y, x + step_x);
  if (i) {
    talk_to(i);
    return;
  }
  for (i = 0; i != area->sign_count; i++)
    if (area->signs[i].y == y && area->signs[i].x == x) {
      say(area->signs[i].text);
      close_text();
    }
}

void walk_loop(void) {
  uint8_t held;
  look_ahead();
  for (;;) {
    wait_frame();
    held = JOY_HELD;
    step_y = step_x = 0;
    if (JOY_PRESSED & KEY_START)
      start_menu();
    else if (JOY_PRESSED & KEY_A)
      look();
    else if (held & 0xF0) {
      face(held & KEY_DOWN ? DOWN : held & KEY_UP ? UP : held & KEY_LEFT ? LEFT : RIGHT);
      try_step();
    } else {
      stroll();
      continue;
    }
    look_ahead();
    update_sprites();
  }
}
