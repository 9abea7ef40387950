/* Frames, chance and small memory tools. */
#include "game.h"

static uint16_t chance;
static uint8_t chance_count;

static void stir(uint8_t with) {
  chance += with;
  if (!chance) chance = 0x51A7;
  chance ^= chance << 7;
  chance ^= chance >> 9;
  chance ^= chance << 8;
  RANDOM_ADD = (uint8_t)chance;
  RANDOM_SUB = (uint8_t)(chance >> 8);
}

/* Chance comes only from earlier chance and the buttons, so equal inputs give equal games. */
uint8_t random(void) {
  stir(++chance_count);
  return RANDOM_ADD ^ RANDOM_SUB;
}

void wait_frame(void) {
  frame_done = 0;
  while (!frame_done) {
    __asm__("halt");
    __asm__("nop");
  }
  JOY_PRESSED = JOY_HELD & ~JOY_LAST;
  JOY_LAST = JOY_HELD;
  stir(JOY_LAST);
}

void wait_frames(uint8_t count) {
  while (count--) wait_frame();
}

uint16_t get16(const uint8_t *at) {
  return ((uint16_t)at[0] << 8) | at[1];
}

void set16(uint8_t *at, uint16_t value) {
  at[0] = value >> 8;
  at[1] = (uint8_t)value;
}

void copy(void *to, const void *from, uint16_t size) {
  uint8_t *t = to;
  const uint8_t *f = from;
  while (size--) *t++ = *f++;
}

/* From the bank of data, which is switched in only meanwhile: this must stay in bank 0. */
void copy_data(void *to, const void *from, uint16_t size) {
  ROM_BANK = DATA_BANK;
  copy(to, from, size);
  ROM_BANK = 1;
}

void fill(void *to, uint8_t value, uint16_t size) {
  uint8_t *t = to;
  while (size--) *t++ = value;
}

/* One short tone on the first channel; a higher number is a higher tone. */
void beep(uint8_t pitch) {
  V8(0xFF26) = 0x80;
  V8(0xFF24) = 0x44;
  V8(0xFF25) = 0xFF;
  V8(0xFF10) = 0;
  V8(0xFF11) = 0x80;
  V8(0xFF12) = 0x71; /* fades within a tenth of a second */
  V8(0xFF13) = pitch;
  V8(0xFF14) = 0x86;
}

static const uint8_t bit_masks[] = {1, 2, 4, 8, 16, 32, 64, 128};

void set_bit(uint8_t *bits, uint8_t number) {
  bits[number >> 3] |= bit_masks[number & 7];
}

uint8_t event_is_set(uint8_t event) {
  return EVENTS[event >> 3] & bit_masks[event & 7];
}

void set_event(uint8_t event) {
  set_bit(EVENTS, event);
}

const uint8_t *nth_name(const uint8_t *names, uint8_t index) {
  while (index--)
    while (*names++ != 0x50)
      ;
  return names;
}
