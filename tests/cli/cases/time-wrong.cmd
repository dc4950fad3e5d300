weir bench --time soon
