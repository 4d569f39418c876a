"""The pooling bake-off: the same data, the same seeds, every pooling function, and what may be concluded from it."""
