# gnuplot -e "input = 'figure3.csv'; output = 'figure3.svg'" figure3.gp
# Projected times of the one-group mode over the C1060's, one cluster per workload, the limiter's letter on each bar.
devices = 4
workloads = 8
set terminal svg size 1100, 420 background rgb 'white'
set output output
set datafile separator ','
set title 'Projected time relative to the C1060, one work-group emulated (C compute, G global, L local memory)'
set ylabel 'time / time on C1060'
set yrange [0:*]
set xrange [-0.6:workloads - 0.4]
set xtics noenhanced rotate by -12
set offsets 0, 0, 0.15, 0
set style fill solid 0.8
set boxwidth 0.2
set key outside top right
set grid ytics
names = "C1060 C2050 HD5870 HD7970"
mine(d) = int(column(0)) % devices == d && int(column(0)) < devices * workloads
place(d) = mine(d) ? int(column(0)) / devices + 0.2 * (d - 1.5) : NaN
plot for [d = 0:3] input skip 1 using (place(d)):6 with boxes title word(names, d + 1), \
     for [d = 0:3] input skip 1 using (place(d)):6:4 with labels offset 0, 0.5 notitle, \
     input skip 1 every devices::::devices * workloads - 1 using 0:(0):xtic(1) with dots linecolor 'white' notitle
