head -c 300000 /dev/zero > 'my file'
weir plan 'my file' --size 1MiB | grep ^read
weir plan --cache warm,cold 'my file' | grep ^read
weir plan --cache cold 'my file' | grep ^read
weir bench -q -m fd/pread --rounds 1 'my file' >/dev/null
rm 'my file'
