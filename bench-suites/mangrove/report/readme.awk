# readme.awk RESULTS README: the README with its tables anew: what stands between <!-- NAME --> and <!-- end --> becomes
# RESULTS/NAME, where that exists.
BEGIN { results = ARGV[1]; ARGV[1] = "" }
/^<!-- end -->$/ { skipping = 0 }
!skipping { print }
/^<!-- .*\.md -->$/ {
  file = results "/" $2
  if ((getline line < file) > 0) {
    skipping = 1
    do print line
    while ((getline line < file) > 0)
    close(file)
  }
}
