mkdir a b
weir plan --member a --member b --size 1MiB -m fd/pread -m 'fd/pwrite' --direction read,write
rmdir a b
