# Included by the papers' Makefiles: what they share. A paper's `all` makes its tables, $(RESULTS)/NAME.md from NAME.csv.
#
#   make readme       puts the tables that $(RESULTS) has into README.md, with date and commit
#   make clean

BIN ?= ../../../build/bin
RESULTS ?= results
CSV = awk -f ../../csv.awk
MARKDOWN = $(CSV) -f ../../markdown.awk

.DEFAULT_GOAL = all
.DELETE_ON_ERROR:
.PHONY: all readme clean

$(RESULTS):
	mkdir -p $@

$(BIN)/%:
	@[ -x $@ ] && exit 0; echo "no $@: run 'make build' in the tree's top folder, or give BIN=DIR" >&2; exit 1

$(RESULTS)/%.md: $(RESULTS)/%.csv ../../markdown.awk ../../csv.awk
	$(MARKDOWN) $< > $@
	@echo; echo "$@:"; cat $@

readme: $(BIN)/rank
	awk -v stamp="$$(LC_ALL=C date -u +%Y-%m-%d), $$($< --version | sed 's/^[^(]*//; s/[()]//g')" -f ../readme.awk \
	  $(RESULTS) README.md > README.md.new && mv README.md.new README.md

clean:
	rm -rf $(RESULTS)
