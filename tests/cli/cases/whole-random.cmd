weir bench --task whole --access random
