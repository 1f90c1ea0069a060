# measured/shoc.csv from what the comparison with SHOC's report holds.
BEGIN { print "suite,program,kernel,case,device,cache,time_s" }
read_row() { print "shoc," cell("kernel") "," cell("kernel") "," cell("case") "," cell("device") ",warm," cell("time_s") }
