/* The cursor, the questions and the lists. */
#include "game.h"

#define CURSOR 0xED
#define CURSOR_LEFT_BEHIND 0xEC

/* The cursor stands at (x, y + item * spacing). Returns the item, or NOTHING for B or START. */
uint8_t run_menu(uint8_t x, uint8_t y, uint8_t last, uint8_t spacing) {
  uint8_t row;
  MENU_X = x;
  MENU_Y = y;
  MENU_LAST = last;
  if (MENU_ITEM > last) MENU_ITEM = last;
  show_screen();
  for (;;) {
    row = y + (spacing == DOUBLE_SPACED ? MENU_ITEM << 1 : MENU_ITEM);
    put_tile(x, row, CURSOR);
    wait_frame();
    if (JOY_PRESSED & KEY_A) {
      put_tile(x, row, CURSOR_LEFT_BEHIND);
      beep(TONE_CLICK);
      return MENU_ITEM;
    }
    if (JOY_PRESSED & (KEY_B | KEY_START)) return NOTHING;
    if ((JOY_PRESSED & KEY_UP) && MENU_ITEM) {
      put_tile(x, row, 0x7F);
      MENU_ITEM--;
    } else if ((JOY_PRESSED & KEY_DOWN) && MENU_ITEM != last) {
      put_tile(x, row, 0x7F);
      MENU_ITEM++;
    }
  }
}

/* Yes is 1, no and B are 0. */
uint8_t ask(const char *question) {
  tell(question);
  draw_box(14, 7, 4, 3);
  put_text(16, 8, "YES\nNO");
  TEXT_BOX = BOX_YES_NO;
  MENU_ITEM = 0;
  return run_menu(15, 8, 1, DOUBLE_SPACED) == 0;
}

static void draw_list(const uint8_t *list, uint8_t with_prices) {
  uint8_t row, index, y;
  const uint8_t *entry;
  draw_box(4, 2, 14, 9);
  for (row = 0; row != 4; row++) {
    index = LIST_SCROLL + row;
    if (index > list[0]) break;
    y = 4 + (row << 1);
    if (index == list[0]) {
      put_text(6, y, "CANCEL");
      break;
    }
    entry = list + 1 + (index << 1);
    put_name(6, y, item_name(entry[0]));
    if (row == 3) break;
    if (with_prices) {
      put_tile(13, y + 1, 0xF0);
      put_bcd(14, y + 1, item_record(entry[0]) + 1, 2);
    } else {
      put_tile(14, y + 1, 0xF1);
      put_number(15, y + 1, entry[1], 2);
    }
  }
}

/* A list is a count and (item, quantity) pairs, as the bag is. Three rows can be chosen. */
uint8_t choose_from_list(const uint8_t *list, uint8_t with_prices) {
  uint8_t last = list[0] < 2 ? list[0] : 2, index;
  TEXT_BOX = BOX_LIST;
  TEXT_UP |= 1;
  LIST_ID = with_prices ? 2 : 3;
  MENU_Y = 4;
  MENU_X = 5;
  MENU_LAST = last;
  if (MENU_ITEM > last) MENU_ITEM = last;
  if (LIST_SCROLL + last > list[0]) LIST_SCROLL = 0;
  for (;;) {
    draw_list(list, with_prices);
    put_tile(5, 4 + (MENU_ITEM << 1), CURSOR);
    show_screen();
    do wait_frame();
    while (!(JOY_PRESSED & (KEY_A | KEY_B | KEY_UP | KEY_DOWN)));
    if (JOY_PRESSED & KEY_B) return NOTHING;
    if (JOY_PRESSED & KEY_A) {
      put_tile(5, 4 + (MENU_ITEM << 1), CURSOR_LEFT_BEHIND);
      index = LIST_SCROLL + MENU_ITEM;
      return index == list[0] ? NOTHING : index;
    }
    if (JOY_PRESSED & KEY_UP) {
      if (MENU_ITEM)
        MENU_ITEM--;
      else if (LIST_SCROLL)
        LIST_SCROLL--;
    } else if (MENU_ITEM != last)
      MENU_ITEM++;
    else if (LIST_SCROLL + last < list[0])
      LIST_SCROLL++;
  }
}

static void tell_about(uint8_t slot) {
  text_name = nickname(slot);
  text_number = get16(PARTY[slot].experience + 1);
  say("\1\nExperience: \3");
}

static void swap(uint8_t *one, uint8_t *other, uint8_t size) {
  uint8_t kept;
  for (; size; size--) {
    kept = *one;
    *one++ = *other;
    *other++ = kept;
  }
}

/* In the retail game's order: the list, then who they are, then their names. */
static void change_places(uint8_t slot) {
  uint8_t other = choose_kin("Move it to which\nplace?");
  if (other == NOTHING || other == slot) return;
  swap(PARTY_SPECIES + slot, PARTY_SPECIES + other, 1);
  wait_frame();
  swap((uint8_t *)&PARTY[slot], (uint8_t *)&PARTY[other], sizeof(kin_t));
  swap(TRAINER_NAMES + slot * NAME_SIZE, TRAINER_NAMES + other * NAME_SIZE, NAME_SIZE);
  swap(nickname(slot), nickname(other), NAME_SIZE);
}

static void party_menu(void) {
  uint8_t slot, chosen;
  MENU_ITEM = 0;
  while ((slot = choose_kin("Choose a kin.")) != NOTHING) {
    draw_box(11, 10, 7, 6);
    put_text(13, 12, "STATS\nSWITCH\nCANCEL");
    MENU_ITEM = 0;
    chosen = run_menu(12, 12, 2, DOUBLE_SPACED);
    MENU_ITEM = slot;
    if (chosen == 0)
      tell_about(slot);
    else if (chosen == 1)
      change_places(slot);
  }
}

void start_menu(void) {
  uint8_t chosen, remembered = 0;
  for (;;) {
    redraw_map();
    TEXT_UP |= 1;
    TEXT_BOX = BOX_NONE;
    draw_box(10, 0, 8, 8);
    put_text(12, 2, "KIN\nBAG\nSAVE\nEXIT");
    MENU_ITEM = remembered;
    chosen = run_menu(11, 2, 3, DOUBLE_SPACED);
    if (chosen > 2) break;
    remembered = chosen;
    if (chosen == 0) {
      if (PARTY_COUNT) party_menu();
    } else if (chosen == 1)
      bag_menu();
    else if (ask("Save the game?")) {
      save_game();
      say("\4 saved the\ngame.");
      break;
    }
  }
  close_text();
}
