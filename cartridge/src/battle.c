/* A battle from the first word to the last. */
#include "battle.h"

static uint8_t over, caught, run_tries, foe_slot;
static kin_t wild;

static void load_fighter(fighter_t *who, const kin_t *kin, uint8_t slot) {
  copy(who, kin, 12); /* the two begin alike, from species to moves */
  copy(who->dvs, kin->dvs, 2);
  copy(who->pp, kin->pp, 4);
  copy(&who->level, &kin->level, 11);
  who->slot = slot;
}

static void send_foe(const kin_t *kin) {
  set_bit(DEX_SEEN, dex_numbers[kin->species - 1] - 1);
  show_foe_portrait();
}

static void send_mine(uint8_t slot) {
  const kin_t *kin = &PARTY[slot];
  ACTIVE_SLOT = slot;
  load_fighter(MINE, kin, slot);
  show_my_portrait();
  text_name = nickname(slot);
  tell("Go, \1!");
}

static uint8_t trainer_index;

/* The mark of a battle is set first; the screen flashes while the other side gets ready. */
static void begin(uint8_t kind, uint8_t opponent) {
  BATTLE_TYPE = 0;
  IN_BATTLE = kind;
  OPPONENT = opponent;
  beep(TONE_LOW);
  wait_frame();
}

static void flash(void) {
  uint8_t i;
  for (i = 0; i != 6; i++) {
    BGP = i & 1 ? 0xE4 : 0x1B;
    wait_frames(4);
  }
}

static void open_screen(void) {
  flash();
  hide_sprites();
  TEXT_UP |= 1;
  BATTLE_RESULT = 0;
  over = caught = run_tries = foe_slot = 0;
  step_x = step_y = 0;
  lcd_off();
  clear_screen();
  screen_shown = 1;
  layer = 1;
  draw_box(0, 12, 18, 4);
}

/* Returns the party slot, or NOTHING; one that fights or can't is refused. */
static uint8_t pick_kin(uint8_t may_cancel) {
  uint8_t slot;
  MENU_ITEM = 0;
  for (;;) {
    slot = choose_kin("Bring out which\nkin?");
    if (slot == NOTHING) {
      if (may_cancel) return NOTHING;
    } else if (!get16(PARTY[slot].hp)) {
      text_name = nickname(slot);
      say("\1 can't\nfight now.");
    } else if (may_cancel && slot == ACTIVE_SLOT) {
      text_name = nickname(slot);
      say("\1 is\nalready out!");
    } else
      return slot;
  }
}

static uint8_t has_another(void) {
  uint8_t slot;
  for (slot = 0; slot != PARTY_COUNT; slot++)
    if (slot != ACTIVE_SLOT && get16(PARTY[slot].hp)) return 1;
  return 0;
}

/* Who is challenged may change before the other side's next comes. */
static void offer_change(void) {
  uint8_t slot = NOTHING;
  if (!get16(MINE->hp) || !has_another()) return;
  text_name = nth_name(species_names, FOE_PARTY[foe_slot].species - 1);
  text_name2 = nth_name(trainer_names, trainer_index);
  say("\2 will\nsend \1.");
  if (ask("Will you change\nyour kin?")) slot = pick_kin(1);
  draw_battle();
  if (slot != NOTHING) send_mine(slot);
}

static void foe_fell(void) {
  uint16_t amount = (uint16_t)stat_of(FOE->species, 8) * FOE->level / 7;
  uint8_t i, *stat = PARTY[ACTIVE_SLOT].stat_experience;
  name_of(FOE);
  say("\1 is out\nof the fight!");
  if (IN_BATTLE == 2) amount += amount >> 1;
  if (get16(MINE->hp)) {
    for (i = 0; i != 5; i++, stat += 2) set16(stat, get16(stat) + stat_of(FOE->species, i));
    gain_experience(ACTIVE_SLOT, amount);
    load_fighter(MINE, &PARTY[ACTIVE_SLOT], ACTIVE_SLOT);
    draw_mine();
  }
  if (IN_BATTLE == 2) {
    set16(FOE_PARTY[foe_slot].hp, 0);
    if (++foe_slot != FOE_COUNT) {
      offer_change();
      load_fighter(FOE, &FOE_PARTY[foe_slot], foe_slot);
      send_foe(&FOE_PARTY[foe_slot]);
      text_name = nth_name(species_names, FOE->species - 1);
      text_name2 = nth_name(trainer_names, trainer_index);
      tell("\2\nsends \1!");
      return;
    }
  }
  over = 1;
}

static void mine_fell(void) {
  name_of(MINE);
  say("\1 is out\nof the fight!");
  if (first_able() == NOTHING) {
    BATTLE_RESULT = 1;
    over = 1;
    return;
  }
  if (over) return;
  send_mine(pick_kin(0));
  draw_battle();
}

static void check_fallen(void) {
  if (!get16(FOE->hp)) foe_fell();
  if (!get16(MINE->hp)) mine_fell();
}

static void foe_turn(void) {
  if (over || !get16(FOE->hp) || !get16(MINE->hp)) return;
  FOE_MOVE = foe_move();
  attack(FOE, MINE, FOE_MOVE);
}

static void my_turn(uint8_t index) {
  if (over || !get16(MINE->hp) || !get16(FOE->hp)) return;
  if (index == NOTHING)
    attack(MINE, FOE, MOVE_TUSSLE);
  else {
    if (!(MINE->status & SLEEP_BITS)) MINE->pp[index]--;
    keep_mine();
    attack(MINE, FOE, MINE->moves[index]);
  }
}

static void throw_orb(void) {
  uint16_t max = get16(FOE->max_hp), chance;
  remove_item(ITEM_CATCH_ORB);
  tell("\4 threw a\nCATCH ORB!");
  chance = max * 3 - get16(FOE->hp) * 2;
  chance = chance * (FOE->catch_rate >> 1) / max * 2 / 3;
  if (FOE->status) chance += chance >> 2;
  wait_frames(20);
  name_of(FOE);
  if (chance < 255 && random() >= chance) {
    tell("\1 broke\nfree!");
    return;
  }
  say("\1 was\ncaught!");
  copy(wild.hp, FOE->hp, 2);
  wild.status = FOE->status;
  if (add_to_party(&wild))
    offer_nickname(PARTY_COUNT - 1);
  else {
    name_of(FOE);
    say("Your team is full.\f\1\nstays with IVES.");
  }
  BATTLE_RESULT = 2;
  over = caught = 1;
}

/* Returns whether it took the turn. */
static uint8_t use_bag(void) {
  uint8_t index, item, slot;
  LIST_SCROLL = 0;
  MENU_ITEM = 0;
  index = choose_from_list(&BAG_COUNT, 0);
  draw_battle();
  if (index == NOTHING) return 0;
  item = BAG[index << 1];
  if (item == ITEM_CATCH_ORB) {
    if (IN_BATTLE == 2) {
      say("That kin has a\nfriend already!");
      return 0;
    }
    throw_orb();
    return 1;
  }
  MENU_ITEM = ACTIVE_SLOT;
  slot = choose_kin("Use it on which\nkin?");
  if (slot == NOTHING || !use_item_on(item, slot)) {
    draw_battle();
    if (slot != NOTHING) say("That has no use.");
    return 0;
  }
  remove_item(item);
  if (slot == ACTIVE_SLOT) {
    copy(MINE->hp, PARTY[slot].hp, 2);
    MINE->status = PARTY[slot].status;
  }
  draw_battle();
  text_name = nickname(slot);
  tell("\1 feels\nbetter.");
  return 1;
}

static uint8_t change_kin(void) {
  uint8_t slot = pick_kin(1);
  draw_battle();
  if (slot == NOTHING) return 0;
  send_mine(slot);
  return 1;
}

static uint8_t run_away(void) {
  uint16_t mine = speed_of(MINE), foe = speed_of(FOE) + 1;
  if (IN_BATTLE == 2) {
    say("You can't run from\na challenge!");
    return 0;
  }
  run_tries++;
  if (mine >= foe || (uint8_t)(mine * 128 / foe) + run_tries * 30 > random()) {
    say("Got away safely!");
    BATTLE_RESULT = 2;
    over = 1;
  } else
    tell("No way out!");
  return 1;
}

static uint8_t out_of_pp(void) {
  uint8_t i;
  for (i = 0; i != 4; i++)
    if (MINE->pp[i]) return 0;
  return 1;
}

/* Both fight: the faster first. Returns 0 when the player went back to the menu. */
static uint8_t exchange(void) {
  uint8_t index = NOTHING;
  if (!out_of_pp()) {
    index = move_menu();
    draw_battle();
    if (index == NOTHING) return 0;
    if (!MINE->pp[index]) {
      say("No PP left for it.");
      return 0;
    }
  }
  if (speed_of(MINE) >= speed_of(FOE)) {
    my_turn(index);
    foe_turn();
  } else {
    foe_turn();
    my_turn(index);
  }
  return 1;
}

static void take_turn(void) {
  uint8_t chosen = battle_menu(), done;
  draw_box(0, 12, 18, 4);
  if (chosen == 0)
    done = exchange();
  else {
    done = chosen == 1 ? use_bag() : chosen == 2 ? change_kin() : run_away();
    if (done) foe_turn();
  }
  if (!done || caught || BATTLE_RESULT) return;
  if (get16(FOE->hp)) suffer_poison(MINE);
  if (get16(MINE->hp)) suffer_poison(FOE);
  check_fallen();
}

static void run_battle(void) {
  send_mine(first_able());
  while (!over) take_turn();
}

static void leave_battle(void) {
  if (BATTLE_RESULT == 1) {
    black_out();
    return;
  }
  BGP = 0; /* white until the map is drawn */
  TEXT_UP &= ~1;
  IN_BATTLE = 0;
  OPPONENT = 0;
  DESTINATION_WARP = 0xFF;
  load_wild();
  draw_map();
}

void fight_wild(uint8_t species, uint8_t level) {
  begin(1, species);
  TRAINER_CLASS = TRAINER_NUMBER = 0;
  FOE_COUNT = 0;
  make_kin(&wild, species, level);
  load_fighter(FOE, &wild, 0);
  open_screen();
  send_foe(&wild);
  text_name = nth_name(species_names, species - 1);
  say("A wild \1\nappears!");
  run_battle();
  leave_battle();
}

uint8_t fight_trainer(uint8_t index) {
  const uint8_t *record = trainer_records + index * 9, *pair;
  trainer_index = index;
  TRAINER_CLASS = record[0];
  TRAINER_NUMBER = record[1];
  begin(2, record[0] + 200);
  FOE_COUNT = 0;
  for (pair = record + 4; *pair; pair += 2) {
    make_kin(&FOE_PARTY[FOE_COUNT], pair[0], pair[1]);
    FOE_SPECIES[FOE_COUNT++] = pair[0];
  }
  FOE_SPECIES[FOE_COUNT] = 0xFF;
  load_fighter(FOE, &FOE_PARTY[0], 0);
  open_screen();
  send_foe(&FOE_PARTY[0]);
  text_name2 = nth_name(trainer_names, index);
  say("\2\nwants to battle!");
  run_battle();
  if (!BATTLE_RESULT) {
    earn(record + 2);
    text_name2 = nth_name(trainer_names, index);
    text_number = ((record[2] >> 4) * 10 + (record[2] & 15)) * 100 + (record[3] >> 4) * 10;
    say("You beat\n\2!\fYou get $\3.");
  }
  leave_battle();
  return BATTLE_RESULT == 0;
}
