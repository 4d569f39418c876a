"""One file per format of strong labels, each with one function that reads it; `earmark.labels.read_strong` chooses."""
