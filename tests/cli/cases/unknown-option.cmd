weir bench --acces2 random
