# The devices of measured times, each once.
read_row() && !seen[cell("device")]++ { print cell("device") }
