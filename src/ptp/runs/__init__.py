"""Runs as they are read and steered, live or ended: a library that finds them, and everything one can ask of one."""
