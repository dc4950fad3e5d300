weir bench --member . --member ./
