"""Game Boy cartridges as worlds.

Data flows one way::

    cartridge ─> env (PyBoy, commands) ─> memory ─> reader (parts, text) ─> state ─> differences, battles ─> events
                                             └────> tiles ─> paths

`addresses` says once where the games keep their facts, `profiles` what the numbers there mean, and `world` puts
everything together.
"""
