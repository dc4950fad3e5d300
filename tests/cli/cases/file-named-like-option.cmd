weir plan -m fd/read -- --size
