weir bench --size
