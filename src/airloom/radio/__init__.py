"""The radio: nodes give frames to a medium, which carries them, late, or not at all."""
