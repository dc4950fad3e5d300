weir bench -d . -d .
