weir plan -m map/view -m map/view --threads 1,2 --size 1MiB
