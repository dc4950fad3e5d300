weir help report
