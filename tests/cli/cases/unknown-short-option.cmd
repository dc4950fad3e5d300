weir bench -x
