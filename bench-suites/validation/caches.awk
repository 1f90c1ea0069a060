# Whether a suite was measured with cold or with warm caches, or with what its programs left there; of two ways the first.
read_row() { print cell("cache"); exit }
