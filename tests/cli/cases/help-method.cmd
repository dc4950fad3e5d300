weir help map/write
