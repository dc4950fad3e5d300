weir bench --margin 300%
