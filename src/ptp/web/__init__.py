"""Watching and steering: what is read of runs, the HTTP API over it, and the page.

    run directories -> library, status, actions, ticks, metrics, shots, exports, logs   what is read
    live run's socket -> live                                                           what is heard
    all of these -> routes -> app -> server                                             what is served

The readers import no web framework: the command line uses them too.
"""
