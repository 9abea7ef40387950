/* The battery RAM: a mark, a checksum, the facing, then the saved part of memory. */
#include "game.h"

static const uint8_t mark[] = {'T', 'G', 'R', '1'};

static void open_gate(uint8_t open) {
  RAM_GATE = open ? 0x0A : 0;
}

static uint16_t checksum(void) {
  const uint8_t *from = SAVE + 8;
  uint16_t sum = 0x1234, left = SAVED_SIZE;
  while (left--) sum = (sum << 1) + (sum >> 15) + *from++;
  return sum;
}

uint8_t save_exists(void) {
  uint8_t i, good = 1;
  open_gate(1);
  for (i = 0; i != 4; i++)
    if (SAVE[i] != mark[i]) good = 0;
  if (good && get16(SAVE + 4) != checksum()) good = 0;
  open_gate(0);
  return good;
}

void save_game(void) {
  open_gate(1);
  SAVE[0] = 0; /* a save cut short is no save */
  copy(SAVE + 8, BYTES(SAVED_FIRST), SAVED_SIZE);
  SAVE[6] = PLAYER_FACING;
  set16(SAVE + 4, checksum());
  copy(SAVE, mark, 4);
  open_gate(0);
}

void load_game(void) {
  open_gate(1);
  copy(BYTES(SAVED_FIRST), SAVE + 8, SAVED_SIZE);
  PLAYER_FACING = SAVE[6];
  open_gate(0);
}
