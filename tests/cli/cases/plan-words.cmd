weir plan --task blocks,whole --direction read,write -m "fd/*" --size 1MiB
