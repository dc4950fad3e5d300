weir list methods
