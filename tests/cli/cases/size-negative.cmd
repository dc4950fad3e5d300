weir bench --size=-1
