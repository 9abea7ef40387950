"""The game server: worlds that other programs play over HTTP and WebSocket, in three protocols."""
