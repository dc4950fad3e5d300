weir bench --time 0s
