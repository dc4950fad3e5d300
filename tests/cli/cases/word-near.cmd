weir bench --size 4GiB --access randm
