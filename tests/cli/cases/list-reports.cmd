weir list reports
