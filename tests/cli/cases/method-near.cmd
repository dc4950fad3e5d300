weir bench -m fd/preed
