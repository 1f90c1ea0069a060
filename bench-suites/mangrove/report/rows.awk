# Device and data set of each row of the index.
read_row() { print cell("device"), cell("data_set") }
