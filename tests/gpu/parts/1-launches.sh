# What a launch costs: alone, queued back to back, in a graph.
# seconds: 15
# lands: devdb/curves/DEVICE.csv
. "$SOURCE/tests/gpu/probe.sh"
probe launches --bench launch
