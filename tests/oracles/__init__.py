"""Second implementations, slow and plain, written another way than the code they check: `from oracles import ...`."""
