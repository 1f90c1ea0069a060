# readme.awk RESULTS README: the README with its tables anew. What stands between <!-- NAME --> and <!-- end --> becomes
# RESULTS/NAME and a line with the stamp, where that file exists.
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
    print "\n*" stamp "*"
  }
}
