weir bench --rounds many
