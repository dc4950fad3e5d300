weir bench -o - -o -
