/* What each file offers to the others. */
#pragma once
#include "data.h"
#include "memory.h"

/* crt0.s */
extern volatile uint8_t frame_done;
extern volatile uint8_t screen_shown, edge_kind;
extern uint8_t *edge_source, *edge_target;
extern uint8_t scroll_x, scroll_y, layer, clock_runs, view_odd, map_stride;
extern uint8_t *view_block;
void draw_view(void);

/* system.c */
void wait_frame(void);
void wait_frames(uint8_t count);
uint8_t random(void);
#define TONE_LOW 0x20
#define TONE_CLICK 0xA0
#define TONE_HIGH 0xF0
void beep(uint8_t pitch);
uint16_t get16(const uint8_t *at);
void set16(uint8_t *at, uint16_t value);
void copy(void *to, const void *from, uint16_t size);
void copy_data(void *to, const void *from, uint16_t size);
void fill(void *to, uint8_t value, uint16_t size);
uint8_t event_is_set(uint8_t event);
void set_event(uint8_t event);
void set_bit(uint8_t *bits, uint8_t number);
const uint8_t *nth_name(const uint8_t *names, uint8_t index);

/* video.c */
void lcd_off(void);
void lcd_on(void);
void fade_out(void);
void load_map_tiles(void);
void load_text_and_people(void);
void load_portrait(uint8_t species, uint8_t first_tile, uint8_t mirrored);
void place_portrait(uint8_t x, uint8_t y, uint8_t first_tile);
void clear_screen(void);
void show_screen(void);
void show_map(void);

/* text.c */
extern const uint8_t *text_name, *text_name2;
extern uint16_t text_number;
void put_tile(uint8_t x, uint8_t y, uint8_t tile);
void put_text(uint8_t x, uint8_t y, const char *text);
uint8_t put_name(uint8_t x, uint8_t y, const uint8_t *name);
void put_number(uint8_t x, uint8_t y, uint16_t number, uint8_t width);
void put_bcd(uint8_t x, uint8_t y, const uint8_t *digits, uint8_t bytes);
void draw_box(uint8_t x, uint8_t y, uint8_t width, uint8_t height);
void message_box(void);
void say(const char *text);
void tell(const char *text);
void close_text(void);

/* menu.c */
#define NOTHING 0xFF
#define SINGLE_SPACED 1
#define DOUBLE_SPACED 2
uint8_t run_menu(uint8_t x, uint8_t y, uint8_t last, uint8_t spacing);
uint8_t ask(const char *question);
uint8_t choose_from_list(const uint8_t *list, uint8_t with_prices);
void start_menu(void);

/* sprites.c */
void hide_sprites(void);
void update_sprites(void);
extern uint8_t sprite_moving, sprite_left, page_up;
uint8_t move_sprite(void);
void start_sprite(uint8_t slot, uint8_t facing);
void stroll(void);

/* map.c */
extern const area_t *area;
void find_area(uint8_t id);
void load_map(void);
void load_wild(void);
void enter_map(uint8_t id, uint8_t y, uint8_t x);
const uint8_t *warp_here(void);
void set_view(uint8_t y, uint8_t x);
uint8_t tile_is_passable(uint8_t tile);
uint8_t person_at(uint8_t y, uint8_t x);
uint8_t square_tile(uint8_t y, uint8_t x);
void redraw_map(void);
void draw_map(void);
void hide_object(uint8_t slot);

/* walk.c */
extern uint8_t step_pixels;
extern int8_t step_x, step_y;
void walk_loop(void);
void take_step(void);
void face(uint8_t facing);
void block_input(void);
void free_input(void);

/* script.c */
void talk_to(uint8_t slot);
uint8_t step_script(void);
void check_trainers(void);
void black_out(void);

/* kin.c */
uint8_t stat_of(uint8_t species, uint8_t index);
void make_kin(kin_t *kin, uint8_t species, uint8_t level);
uint8_t add_to_party(const kin_t *kin);
void offer_nickname(uint8_t slot);
void heal_party(void);
void gain_experience(uint8_t slot, uint16_t amount);
uint8_t *nickname(uint8_t slot);
uint8_t first_able(void);
uint8_t choose_kin(const char *question);
void put_hp_bar(uint8_t x, uint8_t y, uint16_t hp, uint16_t max);
void put_status(uint8_t x, uint8_t y, uint8_t status);
#define SLEEP_BITS 0x07
#define POISONED 0x08
#define PARALYSED 0x40

/* bag.c */
uint8_t *in_bag(uint8_t item);
uint8_t add_item(uint8_t item, uint8_t count);
void remove_item(uint8_t item);
const uint8_t *item_record(uint8_t item);
const uint8_t *item_name(uint8_t item);
uint8_t use_item_on(uint8_t item, uint8_t slot);
void bag_menu(void);
uint8_t pay(const uint8_t *price, uint8_t count);
void earn(const uint8_t *amount);
void halve_money(void);
void shop(void);

/* battle.c */
void fight_wild(uint8_t species, uint8_t level);
uint8_t fight_trainer(uint8_t index);

/* save.c, title.c */
uint8_t save_exists(void);
void save_game(void);
void load_game(void);
void title(void);
void write_name(uint8_t *to, const char *question);
