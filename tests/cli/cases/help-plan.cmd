weir plan --help | head -4
