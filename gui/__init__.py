"""The window. No statistics.

Its texts are English, and none of them goes through ``tr``. That is decided, not forgotten: what a chemist reads is
sentences composed of numbers, names and plurals, most of them by the engine (goal, guarantee, why, refusals), which
knows no Qt. Menus alone in another language, above English sentences about what is guaranteed, would be worse than
one language; and Qt's own catalogue would put German buttons below English questions. A translation needs whole
sentences as templates with named places, in the engine first; then one look-up serves window, exports and command line.
What helps it already: no sentence is a picture, every label keeps its room when its text is longer (tests/gui/
test_reach.py shows all of it at twice the size), and the help has separate files (gui/help).
"""
