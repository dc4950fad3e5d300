weir bench --dir nowhere
