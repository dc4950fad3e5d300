weir list methods | grep write-file
