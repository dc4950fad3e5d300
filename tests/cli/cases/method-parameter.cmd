weir bench -m 'fd/pread[blok=4k]'
