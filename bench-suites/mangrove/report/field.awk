# A cell of forests.csv: -v data=NAME -v wanted=COLUMN
read_row() && cell("data_set") == data { print cell(wanted) }
