weir bench --seed xyz
