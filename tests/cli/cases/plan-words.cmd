weir plan --task blocks,whole --direction read,write -m fd/pread -m fd/read -m fd/pwrite -m fd/write --size 1MiB
