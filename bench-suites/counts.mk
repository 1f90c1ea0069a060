# Included by the suites' Makefiles: `make counts` counts every launch of the launch files in COUNTED with flux-count.
# Into $(RESULTS)/counts: counts.csv (by launch and opcode), features.csv (for mangrove), overhead.csv (what counters in
# the kernels' code would cost) and its summary overhead.md. Needs awk.
COUNTS_MK := $(dir $(lastword $(MAKEFILE_LIST)))
COUNTS = $(RESULTS)/counts
COUNT_RECORDS = counts features overhead
counted_names = $(notdir $(basename $(COUNTED)))

.PHONY: counts
counts: $(COUNT_RECORDS:%=$(COUNTS)/%.csv) $(COUNTS)/overhead.md

define count_launches
$(COUNTS)/$(notdir $(basename $(1))).$(2).csv: $(1) $(BIN)/flux-count
	@mkdir -p $$(@D)
	$(BIN)/flux-count $$< --quiet --emit $(2) -o $$@
endef
$(foreach launches,$(COUNTED),$(foreach record,$(COUNT_RECORDS),$(eval $(call count_launches,$(launches),$(record)))))

$(COUNT_RECORDS:%=$(COUNTS)/%.csv): $(COUNTS)/%.csv: $(foreach name,$(counted_names),$(COUNTS)/$(name).%.csv)
	awk 'FNR > 1 || NR == 1' $^ > $@

$(COUNTS)/overhead.md: $(COUNTS)/overhead.csv $(COUNTS_MK)overhead.awk
	awk -f $(COUNTS_MK)panwar/report/csv.awk -f $(COUNTS_MK)overhead.awk $< > $@
	@cat $@
