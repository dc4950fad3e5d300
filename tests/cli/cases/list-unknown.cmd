weir list method
