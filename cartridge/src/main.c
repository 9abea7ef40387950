/* Tallgrass: a small game of walking, collecting kin, and one badge. */
#include "game.h"

void main(void) {
  load_text_and_people();
  SPRITE1(0, PICTURE) = SPRITE_PLAYER;
  SPRITE1(0, STATUS) = 1;
  title();
  clock_runs = 1;
  walk_loop();
}
