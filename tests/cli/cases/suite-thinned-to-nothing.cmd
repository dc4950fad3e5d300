weir bench --suite default --consumer hash
