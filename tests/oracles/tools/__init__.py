"""Makes the established tools' own figures for the cases beside this folder; runs in an environment of its own."""
