weir bench /dev/zero
