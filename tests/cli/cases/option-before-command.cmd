weir --size 1MiB bench
