weir help copy
