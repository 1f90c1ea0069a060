# gnuplot -e "input = 'figure_e.csv'; output = 'figure_e.svg'" figure_e.gp
# Figures 2 (e) and 3 (e) without the measured bars: the bound of each partition on each system, SA above, DA below.
set terminal svg size 1000, 640 background rgb 'white'
set output output
set datafile separator ','
set multiplot layout 2, 1
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8
set logscale y
set yrange [4:4000]
set ylabel 'bound, GFLOPS'
set grid ytics
set key outside right top noenhanced
set xtics noenhanced
# Rows of SA come first.
sa = int(system("grep -c ^SA " . input))
do for [app in "SA DA"] {
  first = app eq "SA" ? 0 : sa
  last = app eq "SA" ? sa - 1 : first + 99
  set title app
  plot for [c = 3:6] input skip 1 every ::first::last using c:xtic(2) title system(sprintf("head -1 %s | cut -d, -f %d", input, c))
}
