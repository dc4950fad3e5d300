weir bench nothing-here
