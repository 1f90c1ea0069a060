# Copies between host and device, from 4 bytes to 256 MiB, pinned and pageable.
# seconds: 40
# lands: devdb/curves/DEVICE.csv
. "$SOURCE/tests/gpu/probe.sh"
probe copies --bench copy --thorough
