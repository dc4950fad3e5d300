weir help warnings
