# gnuplot -e "input = 'figure5.csv'; output = 'figure5.svg'" figure5.gp
# Global memory transactions that one group projects beside those that all groups make.
set terminal svg size 1100, 420 background rgb 'white'
set output output
set datafile separator ','
set title 'Global memory transactions: projected from one work-group, and of all work-groups'
set ylabel 'transactions'
set logscale y
set format y '10^{%T}'
set style fill solid 0.8
set boxwidth 0.2
set xrange [-0.6:7.6]
set yrange [100:*]
set xtics noenhanced rotate by -12
set key outside top right
set grid ytics
names = "C1060 C2050"
place(d, m) = int(column(0)) % 2 == d ? int(column(0)) / 2 + 0.2 * (2 * d + m - 1.5) : NaN
plot for [d = 0:1] input skip 1 using (place(d, 0)):3 with boxes title word(names, d + 1).' one group', \
     for [d = 0:1] input skip 1 using (place(d, 1)):4 with boxes title word(names, d + 1).' all groups', \
     input skip 1 every 2 using 0:(100):xtic(1) with dots linecolor 'white' notitle
