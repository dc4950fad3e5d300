weir bench --s 1
