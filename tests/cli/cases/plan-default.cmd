weir plan | grep '^[a-z0-9-]*: '
