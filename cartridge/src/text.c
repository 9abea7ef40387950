/* Letters, boxes and messages. Sources are plain ASCII; the tile map holds the game's codes. */
#include "game.h"

#define SPACE 0x7F
#define ARROW 0xEE
#define ARROW_TILE TILE_MAP[16 * 20 + 18]

const uint8_t *text_name, *text_name2;
uint16_t text_number;

static const char marks[] = "():'-?!.*/,$";
static const uint8_t mark_codes[] = {0x9A, 0x9B, 0x9C, 0xE0, 0xE3, 0xE6, 0xE7, 0xE8, 0xF1, 0xF3, 0xF4, 0xF0};

static uint8_t code_of(char c) {
  uint8_t i;
  if (c >= 'a' && c <= 'z') return c - 'a' + 0xA0;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 0x80;
  if (c >= '0' && c <= '9') return c - '0' + 0xF6;
  for (i = 0; i != sizeof mark_codes; i++)
    if (marks[i] == c) return mark_codes[i];
  return SPACE;
}

static uint8_t *at(uint8_t x, uint8_t y) {
  return TILE_MAP + (uint16_t)y * 20 + x;
}

void put_tile(uint8_t x, uint8_t y, uint8_t tile) {
  *at(x, y) = tile;
}

void put_text(uint8_t x, uint8_t y, const char *text) {
  uint8_t *to = at(x, y), *line = to;
  for (; *text; text++) {
    if (*text == '\n') {
      line += 40;
      to = line;
    } else
      *to++ = code_of(*text);
  }
}

uint8_t put_name(uint8_t x, uint8_t y, const uint8_t *name) {
  uint8_t *to = at(x, y), size = 0;
  while (*name != 0x50) {
    *to++ = *name++;
    size++;
  }
  return size;
}

static uint8_t digits[6]; /* most significant first, ends with 50 like a name */

static void make_digits(uint16_t number) {
  uint8_t i = 5;
  digits[5] = 0x50;
  do {
    digits[--i] = 0xF6 + number % 10;
    number /= 10;
  } while (i);
}

static const uint8_t *short_digits(void) {
  const uint8_t *from = digits;
  while (*from == 0xF6 && from != digits + 4) from++;
  return from;
}

/* Right-aligned in `width` columns. */
void put_number(uint8_t x, uint8_t y, uint16_t number, uint8_t width) {
  const uint8_t *from;
  uint8_t size;
  make_digits(number);
  from = short_digits();
  size = digits + 5 - from;
  while (width > size) {
    put_tile(x++, y, SPACE);
    width--;
  }
  put_name(x, y, from);
}

void put_bcd(uint8_t x, uint8_t y, const uint8_t *bcd, uint8_t bytes) {
  uint8_t started = 0, i, digit;
  for (i = 0; i != bytes << 1; i++) {
    digit = (i & 1) ? *bcd++ & 15 : *bcd >> 4;
    if (digit || i == (bytes << 1) - 1) started = 1;
    put_tile(x++, y, started ? 0xF6 + digit : SPACE);
  }
}

/* The size is of the inside, as the retail game counts. */
void draw_box(uint8_t x, uint8_t y, uint8_t width, uint8_t height) {
  uint8_t *to = at(x, y), row, left = 0x79, middle = 0x7A, right = 0x7B;
  for (row = 0; row <= height + 1; row++) {
    if (row == height + 1) {
      left = 0x7D;
      middle = 0x7A;
      right = 0x7E;
    }
    *to = left;
    fill(to + 1, middle, width);
    to[width + 1] = right;
    to += 20;
    left = right = 0x7C;
    middle = SPACE;
  }
}

void message_box(void) {
  TEXT_UP |= 1;
  TEXT_BOX = BOX_MESSAGE;
  draw_box(0, 12, 18, 4);
  show_screen();
}

static void wait_for_button(void) {
  uint8_t blink = 0;
  do {
    ARROW_TILE = blink < 48 ? ARROW : SPACE;
    if (++blink == 56) blink = 0;
    wait_frame();
  } while (!(JOY_PRESSED & (KEY_A | KEY_B)));
  ARROW_TILE = SPACE;
  beep(TONE_CLICK);
}

static uint8_t pen_x, pen_y, prompted;

static void new_line(void) {
  pen_x = 1;
  pen_y += 2;
}

static void new_page(void) {
  pen_x = 1;
  pen_y = 14;
  draw_box(0, 12, 18, 4);
}

static void turn_page(void) {
  if (prompted)
    wait_for_button();
  else
    wait_frames(24);
  new_page();
}

static void type_code(uint8_t code) {
  put_tile(pen_x++, pen_y, code);
  if (!(JOY_HELD & (KEY_A | KEY_B)) || (pen_x & 1)) wait_frame();
}

static void type_name(const uint8_t *name) {
  while (*name != 0x50) type_code(*name++);
}

/* \1 and \2 names, \3 a number, \4 the player, \5 the friend, \f a new page. */
static void type(const char *text) {
  char c;
  new_page();
  while ((c = *text++)) {
    if (c == '\n') {
      if (pen_y == 16)
        turn_page();
      else
        new_line();
    } else if (c == '\f')
      turn_page();
    else if (c == 1)
      type_name(text_name);
    else if (c == 2)
      type_name(text_name2);
    else if (c == 3) {
      make_digits(text_number);
      type_name(short_digits());
    } else if (c == 4)
      type_name(PLAYER_NAME);
    else if (c == 5)
      type_name(FRIEND_NAME);
    else
      type_code(code_of(c));
  }
}

/* A message that waits for A or B at its end. */
void say(const char *text) {
  message_box();
  prompted = 1;
  type(text);
  wait_for_button();
}

/* A message that goes on by itself, or stays under a menu. */
void tell(const char *text) {
  message_box();
  prompted = 0;
  type(text);
  wait_frames(16);
}

void close_text(void) {
  TEXT_UP &= ~1;
  TEXT_BOX = BOX_NONE;
  redraw_map();
  show_map();
}
