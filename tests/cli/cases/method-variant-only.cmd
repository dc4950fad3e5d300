weir bench -m fread
