weir bench --size 4gb
