"""One file per command. main.py finds them by name and imports a command only when it is called."""
