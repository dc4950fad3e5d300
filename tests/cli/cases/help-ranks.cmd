weir help ranks
