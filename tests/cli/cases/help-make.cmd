weir help make
