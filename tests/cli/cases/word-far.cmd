weir bench --cache lukewarm
