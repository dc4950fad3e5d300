weir bench /proc/self/status
