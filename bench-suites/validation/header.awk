# With the header row that common.awk leaves out: what is kept of akemu's rows.
BEGIN { print "kernel,case,device,model,time_s,time_low_s,time_high_s,limiter,status,reason" }
