/* Creatures: how they are made, grow, join the party and are shown. */
#include "game.h"

#define RECORD 9 /* bytes a species has in species_stats */
#define MAX_LEVEL 40

uint8_t stat_of(uint8_t species, uint8_t index) {
  return species_stats[(uint16_t)(species - 1) * RECORD + index];
}

static uint16_t cube(uint8_t level) {
  return (uint16_t)level * level * level;
}

/* Four bits for each of attack, defence, speed and special; health takes their lowest ones. */
static uint8_t dv_of(const kin_t *kin, uint8_t index) {
  uint8_t pair;
  if (!index) return ((kin->dvs[0] >> 1) & 8) | ((kin->dvs[0] & 1) << 2) | ((kin->dvs[1] >> 3) & 2) | (kin->dvs[1] & 1);
  pair = kin->dvs[(index - 1) >> 1];
  return index & 1 ? pair >> 4 : pair & 15;
}

static void set_stats(kin_t *kin) {
  uint8_t i, level = kin->level, *to = kin->max_hp;
  uint16_t value;
  for (i = 0; i != 5; i++, to += 2) {
    value = (uint16_t)(stat_of(kin->species, i) + dv_of(kin, i)) * 2 * level / 100;
    set16(to, value + (i ? 5 : level + 10));
  }
}

static uint8_t learn_up_to(kin_t *kin, uint8_t from, uint8_t to) {
  const uint8_t *row = learnset;
  uint8_t i, learned = 0;
  for (; *row; row += 3) {
    if (row[0] != kin->species || row[1] < from || row[1] > to) continue;
    for (i = 0; i != 3 && kin->moves[i]; i++)
      ;
    kin->moves[i] = learned = row[2];
    kin->pp[i] = move_records[(learned - 1) * 6 + 3];
  }
  return learned;
}

static void set_experience(kin_t *kin, uint16_t value) {
  kin->experience[0] = 0;
  set16(kin->experience + 1, value);
}

void make_kin(kin_t *kin, uint8_t species, uint8_t level) {
  fill(kin, 0, sizeof(kin_t));
  kin->species = species;
  kin->level = kin->box_level = level;
  kin->types[0] = stat_of(species, 5);
  kin->types[1] = stat_of(species, 6);
  kin->catch_rate = stat_of(species, 7);
  kin->dvs[0] = random();
  kin->dvs[1] = random();
  set_experience(kin, cube(level));
  set_stats(kin);
  copy(kin->hp, kin->max_hp, 2);
  learn_up_to(kin, 0, level);
}

uint8_t *nickname(uint8_t slot) {
  return NICKNAMES + slot * NAME_SIZE;
}

uint8_t add_to_party(const kin_t *kin) {
  uint8_t slot = PARTY_COUNT, *name;
  set_bit(DEX_OWNED, dex_numbers[kin->species - 1] - 1);
  set_bit(DEX_SEEN, dex_numbers[kin->species - 1] - 1);
  if (slot == 6) return 0;
  PARTY_COUNT++; /* in the retail game's order: count and list, then who it is */
  PARTY_SPECIES[slot] = kin->species;
  PARTY_SPECIES[slot + 1] = 0xFF;
  wait_frame();
  name = nickname(slot);
  fill(name, 0x50, NAME_SIZE);
  copy(name, nth_name(species_names, kin->species - 1), 8);
  copy(TRAINER_NAMES + slot * NAME_SIZE, PLAYER_NAME, NAME_SIZE);
  copy(&PARTY[slot], kin, sizeof(kin_t));
  copy(PARTY[slot].trainer_id, PLAYER_ID, 2);
  return 1;
}

void offer_nickname(uint8_t slot) {
  uint8_t name[NAME_SIZE];
  text_name = nickname(slot);
  if (!ask("Give \1 a\nnickname?")) return;
  fill(name, 0x50, NAME_SIZE);
  write_name(name, "NICKNAME?");
  if (name[0] != 0x50) copy(nickname(slot), name, NAME_SIZE);
  if (!IN_BATTLE) redraw_map();
}

void heal_party(void) {
  uint8_t slot, i;
  kin_t *kin = PARTY;
  for (slot = PARTY_COUNT; slot; slot--, kin++) {
    copy(kin->hp, kin->max_hp, 2);
    kin->status = 0;
    for (i = 0; i != 4; i++)
      if (kin->moves[i]) kin->pp[i] = move_records[(kin->moves[i] - 1) * 6 + 3];
  }
}

static void grow(uint8_t slot) {
  kin_t *kin = &PARTY[slot];
  uint16_t before = get16(kin->max_hp);
  uint8_t move;
  kin->level++;
  kin->box_level = kin->level;
  wait_frame(); /* as long as the retail game reckons */
  set_stats(kin);
  set16(kin->hp, get16(kin->hp) + get16(kin->max_hp) - before);
  text_name = nickname(slot);
  text_number = kin->level;
  beep(TONE_HIGH);
  say("\1 is now\nat level \3!");
  move = learn_up_to(kin, kin->level, kin->level);
  if (move) {
    text_name2 = nth_name(move_names, move - 1);
    say("\1 learns\n\2!");
  }
}

void gain_experience(uint8_t slot, uint16_t amount) {
  kin_t *kin = &PARTY[slot];
  uint16_t value = get16(kin->experience + 1);
  if (kin->level >= MAX_LEVEL) return;
  value += amount;
  set_experience(kin, value);
  text_name = nickname(slot);
  text_number = amount;
  say("\1 gained\n\3 experience.");
  while (kin->level < MAX_LEVEL && value >= cube(kin->level + 1)) grow(slot);
}

uint8_t first_able(void) {
  uint8_t slot;
  for (slot = 0; slot != PARTY_COUNT; slot++)
    if (get16(PARTY[slot].hp)) return slot;
  return NOTHING;
}

/* A label, six segments of eight pixels, an end. */
void put_hp_bar(uint8_t x, uint8_t y, uint16_t hp, uint16_t max) {
  uint8_t left = hp * 48 / max, i, part;
  if (hp && !left) left = 1;
  put_tile(x++, y, 0x62);
  for (i = 0; i != 6; i++) {
    part = left > 8 ? 8 : left;
    left -= part;
    put_tile(x++, y, 0x63 + part);
  }
  put_tile(x, y, 0x6C);
}

void put_status(uint8_t x, uint8_t y, uint8_t status) {
  put_text(x, y, status & SLEEP_BITS ? "SLP" : status & POISONED ? "PSN" : status & PARALYSED ? "PAR" : "   ");
}

/* The party fills the screen; the cursor is at (0, 1 + 2 * slot). */
uint8_t choose_kin(const char *question) {
  uint8_t slot, y = 0;
  kin_t *kin = PARTY;
  uint16_t hp, max;
  clear_screen();
  TEXT_UP |= 1;
  for (slot = 0; slot != PARTY_COUNT; slot++, kin++, y += 2) {
    hp = get16(kin->hp);
    max = get16(kin->max_hp);
    put_name(2, y, nickname(slot));
    put_tile(11, y, 0x6E);
    put_number(12, y, kin->level, 2);
    if (hp)
      put_status(16, y, kin->status);
    else
      put_text(16, y, "OUT");
    put_hp_bar(3, y + 1, hp, max);
    put_number(12, y + 1, hp, 3);
    put_tile(15, y + 1, 0xF3);
    put_number(16, y + 1, max, 3);
  }
  draw_box(0, 12, 18, 4);
  put_text(1, 14, question);
  TEXT_BOX = BOX_NONE;
  hide_sprites();
  return run_menu(0, 1, PARTY_COUNT - 1, DOUBLE_SPACED);
}
