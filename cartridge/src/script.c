/* What people say and do, and the few places where the story steps in. */
#include "game.h"

static const uint8_t turned[] = {UP, DOWN, RIGHT, LEFT};

static void turn_to_player(uint8_t slot) {
  SPRITE1(slot, FACING) = turned[PLAYER_FACING >> 2];
  update_sprites();
}

static void give(uint8_t item, uint8_t count, const char *text) {
  text_name = item_name(item);
  text_number = count;
  say(add_item(item, count) ? text : "The bag is full.");
}

static uint8_t owned_count(void) {
  uint8_t i, count = 0;
  for (i = 0; i != 16; i++)
    if (DEX_OWNED[i >> 3] >> (i & 7) & 1) count++;
  return count;
}

static void talk_to_mentor(void) {
  if (!event_is_set(EVENT_GOT_STARTER))
    say("IVES: Ah, \4!\nHere are three\fyoung kin. Choose\nthe one you like.");
  else if (!in_bag(ITEM_CATCH_ORB)) /* so that nobody is ever stuck without */
    give(ITEM_CATCH_ORB, 3, "IVES: Out of orbs?\nTake \3 more.");
  else if (BADGES && owned_count() > 3)
    say("IVES: A badge, and\nsuch a fine team!\fYou have learned\nall I can teach.");
  else
    say("IVES: Catch kin in\nthe tall grass.\fSLATE HALL is at\nthe road's end.");
}

static const char *const starter_words[] = {
    "MOSSKIT, a kin of\nleaf and moss.\nTake it along?",
    "EMBERET, a kin of\nwarm coals.\nTake it along?",
    "PUDLING, a kin of\nclear water.\nTake it along?"};

static void pick_starter(uint8_t which) {
  kin_t kin;
  uint8_t slot;
  if (!ask(starter_words[which])) return;
  make_kin(&kin, SPECIES_MOSSKIT + which, 5);
  add_to_party(&kin);
  set_event(EVENT_GOT_STARTER);
  for (slot = 2; slot != 5; slot++) hide_object(slot);
  redraw_map();
  update_sprites();
  text_name = nickname(0);
  say("\1 came\nalong!");
  give(ITEM_CATCH_ORB, 5, "IVES: Well chosen!\nTake \3 \1s.\fWeaken wild kin,\nthen throw one.");
  set_event(EVENT_GOT_ORBS);
}

static void rest(void) {
  say("Welcome to the\nREST HOUSE.");
  if (ask("Shall we care for\nyour kin?")) {
    heal_party();
    set_event(EVENT_RESTED);
    redraw_map();
    tell("Hush now...");
    wait_frames(60);
    say("All rested and\nready to go!");
  } else
    redraw_map();
  say("Take care!");
}

static void meet_warden(void) {
  if (event_is_set(EVENT_BEAT_WARDEN)) {
    say("SLATE: Stone wears\ndown. You did it.");
    return;
  }
  say("SLATE: I stand as\nfirm as my hall.\fShow me what your\nkin can do!");
  if (!fight_trainer(TRAINER_SLATE)) return;
  set_event(EVENT_BEAT_WARDEN);
  BADGES |= 1;
  say("SLATE: You cracked\nme like a pebble!\f\4 got the\nSLATE BADGE!");
  give(ITEM_BIG_TONIC, 1, "\1 too,\nfor the road.");
}

static void meet_rambler(const person_t *person) {
  if (event_is_set(person->event)) {
    say(person->script == SCRIPT_TESS ? "TESS: My NIBBIN\nneeds a nap." : "OLLIE: The hall is\nnorth. Good luck!");
    return;
  }
  say(person->script == SCRIPT_TESS ? "TESS: Hey! Show me\nyour kin!" : "OLLIE: Nobody gets\npast me!");
  if (!fight_trainer(person->script == SCRIPT_TESS ? TRAINER_TESS : TRAINER_OLLIE)) return;
  set_event(person->event);
}

static void find_thing(uint8_t slot) {
  set_event(EVENT_FOUND_ROAD_ITEM);
  hide_object(slot);
  update_sprites();
  give(ITEM_TONIC, 2, "\4 found\n\3 \1s!");
}

void talk_to(uint8_t slot) {
  const person_t *person = &area->people[slot - 1];
  turn_to_player(slot);
  switch (person->script) {
  case SCRIPT_PARENT:
    if (event_is_set(EVENT_GOT_STARTER)) {
      heal_party();
      say("Sit down a moment.\nRest, all of you.");
    } else
      say("Hello, \4!\nIVES wants you.\fThe STUDY is just\nsouth of here.");
    set_event(EVENT_TALKED_TO_PARENT);
    break;
  case SCRIPT_MENTOR:
    talk_to_mentor();
    break;
  case SCRIPT_ORB1:
  case SCRIPT_ORB2:
  case SCRIPT_ORB3:
    pick_starter(person->script - SCRIPT_ORB1);
    break;
  case SCRIPT_NURSE:
    rest();
    break;
  case SCRIPT_CLERK:
    shop();
    break;
  case SCRIPT_WARDEN:
    meet_warden();
    break;
  case SCRIPT_TESS:
  case SCRIPT_OLLIE:
    meet_rambler(person);
    break;
  case SCRIPT_ITEM:
    find_thing(slot);
    break;
  case SCRIPT_HELPER:
    say("MEADOW ROAD starts\nhere. Mind the\ngrass!");
    break;
  case SCRIPT_JUNO:
    set_event(EVENT_MET_FRIEND);
    say("\5: A ZAPPLE!\nThey are rare.");
    break;
  case SCRIPT_GUEST:
    say("Sleepy or hurt kin\nare caught best.");
    break;
  default:
    say("Leaf, water or mud\nwear down SLATE.");
  }
  if (TEXT_UP) close_text();
}

/* The way north is closed to those who walk alone. */
uint8_t step_script(void) {
  if (MAP_ID != MAP_FERNHOLLOW || PLAYER_Y != 1 || PARTY_COUNT) return 0;
  if (PLAYER_X != 9 && PLAYER_X != 10) return 0;
  set_event(EVENT_HELPER_WAVED);
  say("Wait! Wild kin are\nin tall grass.\fGo and see IVES in\nthe STUDY first.");
  close_text();
  block_input();
  face(DOWN);
  take_step();
  wait_frame();
  free_input();
  return 1;
}

static void notice(uint8_t slot) {
  SPRITE1(15, PICTURE) = SPRITE_ALERT;
  SPRITE2(15, MAP_Y) = SPRITE2(slot, MAP_Y) - 1;
  SPRITE2(15, MAP_X) = SPRITE2(slot, MAP_X);
  update_sprites();
  wait_frames(40);
  SPRITE1(15, PICTURE) = 0;
}

static void walk_to_player(uint8_t slot, uint8_t steps) {
  uint8_t facing = SPRITE1(slot, FACING);
  sprite_moving = slot;
  while (steps--) {
    for (sprite_shift = 0; sprite_shift != 16; sprite_shift++) {
      update_sprites();
      wait_frame();
    }
    sprite_shift = 0;
    if (facing == DOWN) SPRITE2(slot, MAP_Y)++;
    if (facing == UP) SPRITE2(slot, MAP_Y)--;
    if (facing == LEFT) SPRITE2(slot, MAP_X)--;
    if (facing == RIGHT) SPRITE2(slot, MAP_X)++;
  }
  sprite_moving = 0;
  face(turned[facing >> 2]);
  step_x = step_y = 0;
  update_sprites();
}

/* How many squares in front of a person the player stands, or 0. */
static uint8_t squares_ahead(uint8_t slot) {
  int8_t down = PLAYER_Y - (SPRITE2(slot, MAP_Y) - 4), across = PLAYER_X - (SPRITE2(slot, MAP_X) - 4);
  uint8_t facing = SPRITE1(slot, FACING);
  if (facing == UP) down = -down;
  if (facing == LEFT) across = -across;
  if (facing < LEFT) return across || down < 0 ? 0 : down;
  return down || across < 0 ? 0 : across;
}

void check_trainers(void) {
  const person_t *person = area->people;
  uint8_t slot, ahead;
  for (slot = 1; slot <= area->people_count; slot++, person++) {
    if (!person->sight || event_is_set(person->event)) continue;
    ahead = squares_ahead(slot);
    if (!ahead || ahead > person->sight) continue;
    block_input();
    step_x = step_y = 0;
    notice(slot);
    walk_to_player(slot, ahead - 1);
    free_input();
    meet_rambler(person);
    if (TEXT_UP) close_text();
    return;
  }
}

void black_out(void) {
  IN_BATTLE = 0xFF;
  clear_screen();
  say("\4 has no kin\nable to go on!\fYou hurry back to\nthe REST HOUSE.");
  halve_money();
  heal_party();
  IN_BATTLE = 0;
  LAST_MAP = MAP_FERNHOLLOW;
  PLAYER_FACING = UP;
  enter_map(MAP_REST_HOUSE, 4, 4);
}
