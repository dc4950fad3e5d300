weir help bench
