weir bench --strict=yes
