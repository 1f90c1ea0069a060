# Whether a suite was measured with cold or with warm caches; of two ways the first.
read_row() { print cell("cache"); exit }
