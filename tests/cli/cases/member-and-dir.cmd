weir bench --member . --dir .
