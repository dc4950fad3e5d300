weir bench --task whole --request 4KiB
