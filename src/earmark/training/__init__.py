"""From tagged clips to trained weights. run.py is the whole story; loop.py reads from top to bottom."""
