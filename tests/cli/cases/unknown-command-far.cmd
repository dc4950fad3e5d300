weir frobnicate
