# The devices of a table, joined by commas.
read_row() && !seen[cell("device")]++ { printf "%s%s", count++ ? "," : "", cell("device") }
