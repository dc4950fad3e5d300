weir bench -o nowhere/x.json
