weir bench --cache warm,colt
