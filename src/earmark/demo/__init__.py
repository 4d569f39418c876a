"""`make demo`: the whole path on generated soundscapes. steps.py does it, page.py tells it."""
