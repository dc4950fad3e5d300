weir report
