weir bench --task ""
