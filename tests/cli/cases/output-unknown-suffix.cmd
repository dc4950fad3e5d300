weir bench -o results.xyz
