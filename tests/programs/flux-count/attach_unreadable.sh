#!/bin/sh
# flux-count --attach where one of two programs has PTX that cannot be read: the application runs, the reason names file,
# line and construct, each launch of its kernels has a row, and the other program is counted.
. "$(dirname "$0")/attached.sh"
export STANDIN_SM=90
build unreadable -no-compress -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90 \
  "$apps/unreadable.cu" "$apps/readable.cu"
sed -i 's/unused, %clock;/unused, <<37>>;/' "$folder/unreadable"
attach unreadable 7
[ "$(launches unreadable)" = 3 ] || { cat "$folder/unreadable.csv"; fail "not three launches"; }
reason='unreadable, PTX [12] (compute_90):[0-9]*:[0-9]*: error: .*<'
[ "$(grep -c "_Z3oddPi,.*,uncounted,.*$reason" "$folder/unreadable.csv")" = 2 ] || { cat "$folder/unreadable.csv"; exit 1; }
[ "$(grep -c "kernel '_Z3oddPi': $reason" "$folder/unreadable.err")" = 1 ] || { cat "$folder/unreadable.err"; exit 1; }
grep -q '_Z5plainPi,.*,st.global.u32,32,' "$folder/unreadable.csv" || { cat "$folder/unreadable.csv"; exit 1; }

# On an older device its PTX is another, and counted.
export STANDIN_SM=80
attach unreadable 7
! grep -q uncounted "$folder/unreadable.csv" || { grep uncounted "$folder/unreadable.csv"; exit 1; }
[ "$(grep -c '_Z3oddPi,.*,st.global.u32,32,' "$folder/unreadable.csv")" = 2 ] || { cat "$folder/unreadable.csv"; exit 1; }
[ ! -s "$folder/unreadable.err" ] || { cat "$folder/unreadable.err"; exit 1; }
echo "what cannot be read is named, the rest is counted"
