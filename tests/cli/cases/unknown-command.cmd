weir bnech
