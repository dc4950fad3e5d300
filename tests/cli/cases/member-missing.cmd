weir plan --member nowhere
