"""Real runs are begun, steered, killed, gone on with and forked at random, and none may lose or change a tick."""
