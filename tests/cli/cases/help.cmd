weir --help
weir help | head -1
weir -h | head -1
