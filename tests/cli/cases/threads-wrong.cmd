weir bench --threads 1,0
