/* The shapes of data in ROM and in RAM. */
#pragma once
#include <stdint.h>

typedef struct {
  uint8_t y, x;
  const char *text;
} sign_t;

typedef struct {
  uint8_t sprite, y, x, facing, script, trainer_class, trainer_number, sight, event;
  uint8_t gone;  /* the event after which nobody is there */
  uint8_t walks; /* how many squares away from there one may walk about */
} person_t;

typedef struct {
  uint8_t id, tileset, height, width;
  const uint8_t *blocks;
  uint8_t border, links, north, south;
  const uint8_t *warps; /* count, then Y, X, warp, map each */
  uint8_t sign_count;
  const sign_t *signs;
  uint8_t people_count;
  const person_t *people;
} area_t;

/* Numbers of two bytes are big-endian in memory: see get16 and set16. */
typedef struct {
  uint8_t species, hp[2], box_level, status, types[2], catch_rate, moves[4];
  uint8_t trainer_id[2], experience[3], stat_experience[10], dvs[2], pp[4];
  uint8_t level, max_hp[2], attack[2], defence[2], speed[2], special[2];
} kin_t;

typedef struct {
  uint8_t species, hp[2], slot, status, types[2], catch_rate, moves[4], dvs[2];
  uint8_t level, max_hp[2], attack[2], defence[2], speed[2], special[2], pp[4];
} fighter_t;
