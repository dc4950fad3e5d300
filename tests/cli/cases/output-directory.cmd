weir bench -o .
