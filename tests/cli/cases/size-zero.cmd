weir bench --size 0
