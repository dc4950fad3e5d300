weir help fd/preat
