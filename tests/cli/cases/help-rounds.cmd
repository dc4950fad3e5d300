weir help rounds
