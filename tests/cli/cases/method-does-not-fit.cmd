weir bench -m fd/pwrite
