/* One move of one fighter: accuracy, damage, types, effects. */
#include "battle.h"

static const uint8_t *record;
static uint8_t matchup; /* ten times the multiplier */

uint16_t speed_of(const fighter_t *who) {
  uint16_t speed = get16(who->speed);
  return who->status & PARALYSED ? speed >> 2 : speed;
}

static uint16_t weigh_types(uint16_t damage, const fighter_t *whom) {
  const uint8_t *row;
  uint8_t times;
  matchup = 10;
  for (row = type_chart; *row != 255; row += 3) {
    if (row[0] != record[0]) continue;
    times = (row[1] == whom->types[0]) + (row[1] == whom->types[1] && whom->types[1] != whom->types[0]);
    if (!times) continue;
    damage = damage * row[2] / 10;
    matchup = matchup * row[2] / 10;
  }
  return damage;
}

static uint16_t damage_of(const fighter_t *who, const fighter_t *whom, uint8_t *critical) {
  uint8_t is_special = record[0] >= TYPE_FIRE;
  uint16_t power = get16(is_special ? who->special : who->attack);
  uint16_t guard = get16(is_special ? whom->special : whom->defence);
  uint16_t damage = (uint16_t)(who->level * 2 / 5 + 2) * record[1];
  while (power > 60) { /* keeps the product below 65536 */
    power >>= 1;
    guard >>= 1;
  }
  if (!guard) guard = 1;
  damage = damage * power / guard / 50 + 2;
  *critical = random() < 16;
  if (*critical) damage <<= 1;
  if (record[0] == who->types[0] || record[0] == who->types[1]) damage += damage >> 1;
  damage = weigh_types(damage, whom);
  if (!damage) return matchup ? 1 : 0;
  if (damage > 240) damage = 240;
  damage = damage * (217 + random() % 39) / 255;
  return damage ? damage : 1;
}

static void lose_health(fighter_t *who, uint16_t damage) {
  uint16_t hp = get16(who->hp);
  set16(who->hp, hp > damage ? hp - damage : 0);
  beep(TONE_LOW);
  if (who == MINE) {
    keep_mine();
    draw_mine();
  } else
    draw_foe();
}

static void lower(uint8_t *stat, const char *text) {
  uint16_t value = get16(stat);
  if (value < 5) {
    tell("Nothing happened.");
    return;
  }
  set16(stat, value - (value >> 2));
  tell(text);
}

static void apply_effect(fighter_t *whom) {
  uint8_t effect = record[4];
  name_of(whom);
  if (effect == EFFECT_ATTACK_DOWN)
    lower(whom->attack, "\1 feels\nless fierce.");
  else if (effect == EFFECT_DEFENCE_DOWN)
    lower(whom->defence, "\1 lets\ndown its guard.");
  else if (whom->status || !get16(whom->hp)) {
    if (!record[1]) tell("Nothing happened.");
  } else if (effect == EFFECT_POISON) {
    whom->status = POISONED;
    tell("\1 was\npoisoned!");
  } else if (effect == EFFECT_SLEEP) {
    whom->status = 1 + (random() & 3);
    tell("\1 fell\nasleep!");
  } else {
    whom->status = PARALYSED;
    tell("\1 is\nparalysed!");
  }
  draw_foe();
  keep_mine();
  draw_mine();
}

static uint8_t cannot_move(fighter_t *who) {
  name_of(who);
  if (who->status & SLEEP_BITS) {
    who->status--;
    tell(who->status ? "\1 is\nfast asleep." : "\1\nwoke up!");
    draw_foe();
    keep_mine();
    draw_mine();
    return 1;
  }
  if ((who->status & PARALYSED) && random() < 64) {
    tell("\1 can't\nmove at all!");
    return 1;
  }
  return 0;
}

void attack(fighter_t *who, fighter_t *whom, uint8_t move) {
  uint8_t critical;
  uint16_t damage;
  if (cannot_move(who)) return;
  record = move_records + (uint16_t)(move - 1) * 6;
  name_of(who);
  text_name2 = nth_name(move_names, move - 1);
  tell("\1 used\n\2!");
  if (record[2] != 255 && random() > record[2]) {
    tell("It missed!");
    return;
  }
  if (record[1]) {
    damage = damage_of(who, whom, &critical);
    if (!matchup) {
      tell("It does nothing.");
      return;
    }
    lose_health(whom, damage);
    if (critical) tell("A telling blow!");
    if (matchup > 10) tell("It works so well!");
    if (matchup < 10) tell("It hardly works...");
  }
  if (record[4] && (record[5] == 255 || random() < record[5])) apply_effect(whom);
}

void suffer_poison(fighter_t *who) {
  if (!(who->status & POISONED) || !get16(who->hp)) return;
  name_of(who);
  tell("\1 is\nhurt by poison.");
  lose_health(who, (get16(who->max_hp) >> 4) + 1);
}

uint8_t foe_move(void) {
  uint8_t move, tries = 0;
  do {
    move = FOE->moves[random() & 3];
    /* seldom a trick on someone who already suffers */
    if (move && MINE->status && !move_records[(move - 1) * 6 + 1] && tries++ < 4) move = 0;
  } while (!move);
  return move;
}
