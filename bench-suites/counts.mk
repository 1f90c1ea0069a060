# Included by the suites' Makefiles: `make counts` counts every launch of the cases in COUNTED (see cases.sh) with
# flux-count.
# Into $(RESULTS)/counts: counts.csv (by launch and opcode), features.csv (for mangrove), overhead.csv (what counters in
# the kernels' code would cost) and its summary overhead.md. Needs awk.
COUNTS_MK := $(dir $(lastword $(MAKEFILE_LIST)))
COUNTS = $(RESULTS)/counts
COUNT_RECORDS = counts features overhead

.PHONY: counts
counts: $(COUNT_RECORDS:%=$(COUNTS)/%.csv) $(COUNTS)/overhead.md

define count_launches
$(COUNTS)/%.$(1).csv: $(wildcard *.toml *.cl *.cu) $(BIN)/flux-count
	@mkdir -p $$(@D)
	$(BIN)/flux-count $$$$(sh $(COUNTS_MK)cases.sh launch . $$*) --quiet --emit $(1) -o $$@
endef
$(foreach record,$(COUNT_RECORDS),$(eval $(call count_launches,$(record))))

$(COUNT_RECORDS:%=$(COUNTS)/%.csv): $(COUNTS)/%.csv: $(foreach case,$(COUNTED),$(COUNTS)/$(case).%.csv)
	awk 'FNR > 1 || NR == 1' $^ > $@

$(COUNTS)/overhead.md: $(COUNTS)/overhead.csv $(COUNTS_MK)overhead.awk
	awk -f $(COUNTS_MK)csv.awk -f $(COUNTS_MK)overhead.awk $< > $@
	@cat $@
