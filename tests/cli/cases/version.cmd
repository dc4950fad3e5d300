weir --version
