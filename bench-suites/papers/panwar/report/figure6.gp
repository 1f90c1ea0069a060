# gnuplot -e "input = 'figure6.csv'; output = 'figure6.svg'" figure6.gp
# Both panels of Figure 6, the second with Figure 7's device.
set terminal svg size 1000, 420 background rgb 'white'
set output output
set datafile separator ','
set logscale xy
set format x '%.0f'
set format y '10^{%T}'
set grid
set key top left
set style data linespoints
set multiplot layout 1, 2
only(name) = strcol(1) eq name
set title 'Reduction'
set xlabel 'elements'
set ylabel 'seconds'
set xtics ('2^{16}' 65536, '2^{18}' 262144, '2^{20}' 1048576, '2^{22}' 4194304, '2^{24}' 16777216)
plot input skip 1 using (only('reduction') ? $2 : NaN):5 pt 5 title 'all groups', \
     input skip 1 using (only('reduction') ? $2 : NaN):4 pt 7 title 'one group', \
     input skip 1 using (only('reduction') ? $2 : NaN):8 pt 9 title 'C2050, projected'
set title 'Matrix product in local memory'
set xlabel 'width'
set xtics (64, 128, 256, 512, 1024)
plot input skip 1 using (only('matmul_lmem') ? $2 : NaN):5 pt 5 title 'all groups', \
     input skip 1 using (only('matmul_lmem') ? $2 : NaN):4 pt 7 title 'one group', \
     input skip 1 using (only('matmul_lmem') ? $2 : NaN):8 pt 9 title 'C2050, projected'
unset multiplot
