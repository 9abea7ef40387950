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
  else if (in_bag(ITEM_PARCEL)) {
    remove_item(ITEM_PARCEL);
    say("IVES: My parcel!\nThank you kindly.");
    set_event(EVENT_GOT_PASS);
    give(ITEM_TRAIL_PASS, 1, "IVES: Take this\n\1.\fThe keeper lets\nyou pass with it.");
  } else if (!event_is_set(EVENT_GOT_PARCEL))
    say("IVES: The SHOP has\na parcel for me.\fWould you fetch it\nfor me, please?");
  else if (BADGES && owned_count() > 3)
    say("IVES: A badge, and\nsuch a fine team!\fYou have learned\nall I can teach.");
  else
    say("IVES: The hall is\nbeyond the wood.\fCatch kin in tall\ngrass on the way.");
}

static const char *const starter_words[] = {
    "MOSSKIT, a kin of\nleaf and moss.\nTake it along?",
    "EMBERET, a kin of\nwarm coals.\nTake it along?",
    "PUDLING, a kin of\nclear water.\nTake it along?"};

/* A page with its picture, and the question below it. */
static uint8_t show_and_ask(uint8_t which) {
  uint8_t taken;
  page_up = 1;
  hide_sprites();
  lcd_off();
  load_portrait(SPECIES_MOSSKIT + which, 0, 0);
  clear_screen();
  place_portrait(4, 3, 0);
  lcd_on();
  taken = ask(starter_words[which]);
  page_up = 0;
  draw_map();
  return taken;
}

static void pick_starter(uint8_t which) {
  kin_t kin;
  uint8_t slot;
  if (event_is_set(EVENT_GOT_STARTER) || !ask("Something stirs in\nthe orb. Look?")) return;
  if (!show_and_ask(which)) return;
  make_kin(&kin, SPECIES_MOSSKIT + which, 5);
  add_to_party(&kin);
  set_event(EVENT_GOT_STARTER);
  for (slot = 2; slot != 5; slot++) hide_object(slot);
  redraw_map();
  update_sprites();
  text_name = nickname(0);
  say("\1 came\nalong!");
  offer_nickname(0);
  redraw_map();
  give(ITEM_CATCH_ORB, 5, "IVES: Well chosen!\nTake \3 \1s.\fWeaken wild kin,\nthen throw one.");
  set_event(EVENT_GOT_ORBS);
}

static void rest(void) {
  say("Welcome to the\nREST HOUSE.");
  if (ask("Shall we care for\nyour kin?")) {
    heal_party();
    set_event(EVENT_RESTED);
    LAST_REST = MAP_ID;
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

/* What ramblers say before and after they were beaten, by their number. */
static const char *const rambler_words[] = {
    "TESS: Hey! Show me\nyour kin!", "TESS: My NIBBIN\nneeds a nap.",
    "OLLIE: Nobody gets\npast me!", "OLLIE: The hall is\nnorth. Good luck!",
    "FENN: Shh! You\nscare them off!", "FENN: The way out\nis in the west.",
    "MOSS: Beat SLATE,\ndid you? Show me!", "MOSS: Rest in the\nhut over there."};
static const uint8_t ramblers[] = {TRAINER_TESS, TRAINER_OLLIE, TRAINER_FENN, TRAINER_MOSS};

static void meet_rambler(const person_t *person) {
  uint8_t which = person->trainer_number - 1;
  if (event_is_set(person->event)) {
    say(rambler_words[(which << 1) + 1]);
    return;
  }
  say(rambler_words[which << 1]);
  if (!fight_trainer(ramblers[which])) return;
  set_event(person->event);
}

/* The wood is open to those who have a pass; the keeper walks off to let them by. */
static void meet_keeper(uint8_t slot) {
  if (!in_bag(ITEM_TRAIL_PASS)) {
    say("The wood is closed\nwithout a pass.\fIVES can give you\none.");
    return;
  }
  say("A TRAIL PASS! Go\non, but mind out.");
  set_event(EVENT_SHOWED_PASS);
  close_text();
  hide_object(slot);
  redraw_map();
  update_sprites();
}

static void serve(void) {
  if (event_is_set(EVENT_GOT_STARTER) && !event_is_set(EVENT_GOT_PARCEL)) {
    set_event(EVENT_GOT_PARCEL);
    give(ITEM_PARCEL, 1, "You know IVES?\nTake this parcel.\fIt came for IVES\nthis morning.");
    return;
  }
  shop();
}

static void meet_elder(void) {
  if (event_is_set(EVENT_MET_ELDER)) {
    say("Come back when the\nsnow has melted.");
    return;
  }
  set_event(EVENT_MET_ELDER);
  give(ITEM_BIG_TONIC, 2, "So far up? Here,\n\3 \1s.");
}

static void find_thing(uint8_t slot, uint8_t event) {
  set_event(event);
  hide_object(slot);
  update_sprites();
  give(event == EVENT_FOUND_ROAD_ITEM ? ITEM_TONIC : ITEM_CURE_LEAF, 2, "\4 found\n\3 \1s!");
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
  case SCRIPT_NURSE2:
    rest();
    break;
  case SCRIPT_CLERK:
    serve();
    break;
  case SCRIPT_WARDEN:
    meet_warden();
    break;
  case SCRIPT_TESS:
  case SCRIPT_OLLIE:
  case SCRIPT_FENN:
  case SCRIPT_MOSS:
    meet_rambler(person);
    break;
  case SCRIPT_ITEM:
  case SCRIPT_WOOD_ITEM:
    find_thing(slot, person->event);
    break;
  case SCRIPT_KEEPER:
    meet_keeper(slot);
    break;
  case SCRIPT_GUARD:
    say("The ridge is wild.\nFirst get a badge");
    break;
  case SCRIPT_ELDER:
    meet_elder();
    break;
  case SCRIPT_HIKER:
    say("PEBBLIN hide in\nthe grass here.");
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

static void notice(uint8_t slot) {
  SPRITE1(15, PICTURE) = SPRITE_ALERT;
  SPRITE2(15, MAP_Y) = SPRITE2(slot, MAP_Y) - 1;
  SPRITE2(15, MAP_X) = SPRITE2(slot, MAP_X);
  update_sprites();
  wait_frames(40);
  SPRITE1(15, PICTURE) = 0;
}

static void walk_sprite(uint8_t slot, uint8_t facing) {
  start_sprite(slot, facing);
  do {
    update_sprites();
    wait_frame();
  } while (move_sprite());
}

static void walk_to_player(uint8_t slot, uint8_t steps) {
  uint8_t facing = SPRITE1(slot, FACING);
  while (steps--) walk_sprite(slot, facing);
  face(turned[facing >> 2]);
  step_x = step_y = 0;
  update_sprites();
}

#define HELPER 1 /* the slot of who watches the way north */

/* The helper goes ahead, the player behind, square by square. */
static void follow(uint8_t facing, uint8_t *last) {
  start_sprite(HELPER, facing);
  face(*last);
  take_step();
  wait_frame();
  *last = facing;
}

/* The way north is closed to those who walk alone: they are led to the study. */
uint8_t step_script(void) {
  uint8_t steps, last = DOWN;
  if (MAP_ID != MAP_FERNHOLLOW || PLAYER_Y != 1 || PARTY_COUNT) return 0;
  if (PLAYER_X != 9 && PLAYER_X != 10) return 0;
  set_event(EVENT_HELPER_WAVED);
  INPUT_BLOCKED = 0xFC;
  WALK_FLAGS |= SCRIPTED;
  step_x = step_y = 0;
  SPRITE2(HELPER, MAP_Y) = area->people[HELPER - 1].y + 4; /* back from the study, out of sight */
  SPRITE2(HELPER, MAP_X) = area->people[HELPER - 1].x + 4;
  notice(HELPER);
  while (SPRITE2(HELPER, MAP_X) - 4 != PLAYER_X) walk_sprite(HELPER, RIGHT);
  SPRITE1(HELPER, FACING) = UP;
  face(DOWN);
  step_x = step_y = 0;
  update_sprites();
  say("Wait! Wild kin are\nin tall grass.\fYou need one of\nyour own. Come!");
  close_text();
  for (steps = 12; steps; steps--) follow(DOWN, &last);
  for (steps = PLAYER_X - 5; steps; steps--) follow(LEFT, &last);
  SPRITE1(HELPER, FACING) = RIGHT;
  step_x = step_y = 0;
  update_sprites();
  free_input();
  say("Here is the STUDY.\nIVES is inside.");
  close_text();
  return 1;
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
  say("\4 has no kin\nable to go on!\fYou hurry back to\nwhere you rested.");
  halve_money();
  heal_party();
  IN_BATTLE = 0;
  LAST_MAP = LAST_REST == MAP_RIDGE_HUT ? MAP_CAIRN_PATH : MAP_FERNHOLLOW;
  DESTINATION_WARP = 0xFF;
  PLAYER_FACING = UP;
  enter_map(LAST_REST, 4, 4);
}
