weir bench .
