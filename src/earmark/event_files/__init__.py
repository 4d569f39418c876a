"""Events of one recording as the text of one file: a function per format. `earmark.writers` chooses and writes."""
