weir help benhc
