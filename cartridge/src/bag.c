/* Things and money. */
#include "game.h"

#define BAG_SIZE 20
#define RECORD 5 /* item, price in two BCD bytes, kind, amount */
#define KIND_CATCH 0
#define KIND_CURE 1
#define KIND_KEY 3

static const uint8_t *found;

static uint8_t find_record(uint8_t item) {
  uint8_t index = 0;
  for (found = item_records; *found != item; found += RECORD) index++;
  return index;
}

const uint8_t *item_record(uint8_t item) {
  find_record(item);
  return found;
}

const uint8_t *item_name(uint8_t item) {
  return nth_name(item_names, find_record(item));
}

uint8_t *in_bag(uint8_t item) {
  uint8_t *pair = BAG, left;
  for (left = BAG_COUNT; left; left--, pair += 2)
    if (*pair == item) return pair;
  return 0;
}

uint8_t add_item(uint8_t item, uint8_t count) {
  uint8_t *pair = in_bag(item);
  if (pair) {
    if (pair[1] + count > 99) return 0;
    pair[1] += count;
    return 1;
  }
  if (BAG_COUNT == BAG_SIZE) return 0;
  pair = BAG + (BAG_COUNT << 1);
  pair[0] = item;
  pair[1] = count;
  pair[2] = 0xFF;
  BAG_COUNT++;
  return 1;
}

void remove_item(uint8_t item) {
  uint8_t *pair = in_bag(item);
  if (--pair[1]) return;
  do {
    pair[0] = pair[2];
    pair[1] = pair[3];
    pair += 2;
  } while (pair[-2] != 0xFF);
  BAG_COUNT--;
}

/* Returns whether it did anything; the caller takes it out of the bag. */
uint8_t use_item_on(uint8_t item, uint8_t slot) {
  kin_t *kin = &PARTY[slot];
  uint16_t hp = get16(kin->hp), max = get16(kin->max_hp);
  const uint8_t *record = item_record(item);
  if (!hp || record[3] == KIND_KEY) return 0;
  if (record[3] == KIND_CURE) {
    if (!kin->status) return 0;
    kin->status = 0;
    return 1;
  }
  if (hp == max) return 0;
  hp += record[4];
  if (hp > max) hp = max;
  set16(kin->hp, hp);
  return 1;
}

void bag_menu(void) {
  uint8_t index, item, slot;
  LIST_SCROLL = 0;
  MENU_ITEM = 0;
  for (;;) {
    redraw_map();
    update_sprites();
    index = choose_from_list(&BAG_COUNT, 0);
    if (index == NOTHING) return;
    item = BAG[index << 1];
    if (item_record(item)[3] == KIND_CATCH || item_record(item)[3] == KIND_KEY || !PARTY_COUNT) {
      say("Not here.");
      continue;
    }
    MENU_ITEM = 0;
    slot = choose_kin("Use it on which\nkin?");
    if (slot == NOTHING) continue;
    text_name = nickname(slot);
    if (use_item_on(item, slot)) {
      remove_item(item);
      say("\1 feels\nbetter.");
    } else
      say("That has no use.");
    MENU_ITEM = 0;
  }
}

/* Money is six decimal digits in three bytes; prices are four in two. */
static uint8_t add_digits(uint8_t a, uint8_t b, uint8_t *carry) {
  uint8_t low = (a & 15) + (b & 15) + *carry, high = (a >> 4) + (b >> 4);
  if (low > 9) {
    low -= 10;
    high++;
  }
  *carry = high > 9;
  if (*carry) high -= 10;
  return (high << 4) | low;
}

void earn(const uint8_t *amount) {
  uint8_t carry = 0;
  MONEY[2] = add_digits(MONEY[2], amount[1], &carry);
  MONEY[1] = add_digits(MONEY[1], amount[0], &carry);
  MONEY[0] = add_digits(MONEY[0], 0, &carry);
  if (carry) fill(MONEY, 0x99, 3);
}

/* Subtracting is adding the nines' complement and one. */
static uint8_t pay_once(const uint8_t *price) {
  uint8_t carry = 1, left[3];
  left[2] = add_digits(MONEY[2], 0x99 - price[1], &carry);
  left[1] = add_digits(MONEY[1], 0x99 - price[0], &carry);
  left[0] = add_digits(MONEY[0], 0x99, &carry);
  if (!carry) return 0;
  copy(MONEY, left, 3);
  return 1;
}

uint8_t pay(const uint8_t *price, uint8_t count) {
  uint8_t before[3];
  copy(before, MONEY, 3);
  for (; count; count--)
    if (!pay_once(price)) {
      copy(MONEY, before, 3);
      return 0;
    }
  return 1;
}

void halve_money(void) {
  uint8_t i, high, low, odd = 0;
  for (i = 0; i != 3; i++) {
    high = (MONEY[i] >> 4) + (odd ? 10 : 0);
    low = (MONEY[i] & 15) + (high & 1 ? 10 : 0);
    odd = low & 1;
    MONEY[i] = (high >> 1 << 4) | (low >> 1);
  }
}

static void draw_purse(void) {
  draw_box(11, 0, 7, 1);
  put_tile(12, 1, 0xF0);
  put_bcd(13, 1, MONEY, 3);
}

/* Up and down change the number, A takes it, B gives up. */
static uint8_t choose_quantity(void) {
  ITEM_QUANTITY = 1;
  draw_box(15, 9, 3, 1);
  for (;;) {
    put_tile(16, 10, 0xF1);
    put_number(17, 10, ITEM_QUANTITY, 2);
    wait_frame();
    if (JOY_PRESSED & KEY_A) return ITEM_QUANTITY;
    if (JOY_PRESSED & KEY_B) return 0;
    if ((JOY_PRESSED & KEY_UP) && ITEM_QUANTITY != 20) ITEM_QUANTITY++;
    if ((JOY_PRESSED & KEY_DOWN) && ITEM_QUANTITY != 1) ITEM_QUANTITY--;
  }
}

static const uint8_t stock[] = {3, ITEM_CATCH_ORB, 1, ITEM_TONIC, 1, ITEM_CURE_LEAF, 1, 0xFF};

static void buy(void) {
  uint8_t index, item, count;
  LIST_SCROLL = 0;
  MENU_ITEM = 0;
  for (;;) {
    redraw_map();
    draw_purse();
    draw_box(0, 12, 18, 4);
    put_text(1, 14, "Take your time.");
    index = choose_from_list(stock, 1);
    if (index == NOTHING) return;
    item = stock[1 + (index << 1)];
    text_name = item_name(item);
    tell("\1:\nhow many?");
    count = choose_quantity();
    if (!count) continue;
    text_number = count;
    if (!ask("\3 * \1,\nis that right?")) continue;
    if (!pay(item_record(item) + 1, count))
      say("You can't pay for\nthat, I'm afraid.");
    else if (!add_item(item, count))
      say("Your bag is full.");
    else {
      draw_purse();
      say("Here you are.\nThank you!");
    }
    MENU_ITEM = 0;
  }
}

void shop(void) {
  uint8_t chosen;
  say("Welcome! Have a\nlook around.");
  for (;;) {
    redraw_map();
    draw_purse();
    draw_box(0, 0, 7, 3);
    put_text(2, 1, "BUY\nLEAVE");
    draw_box(0, 12, 18, 4);
    put_text(1, 14, "What will it be?");
    TEXT_BOX = BOX_MESSAGE;
    MENU_ITEM = 0;
    update_sprites();
    chosen = run_menu(1, 1, 1, DOUBLE_SPACED);
    if (chosen) break;
    buy();
  }
  redraw_map();
  say("Come again!");
}
