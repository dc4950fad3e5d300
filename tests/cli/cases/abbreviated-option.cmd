weir bench --acc randm
