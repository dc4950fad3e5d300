weir list suites
