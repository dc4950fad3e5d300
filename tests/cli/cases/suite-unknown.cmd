weir bench --suite defualt
