# Launches of pmpp's benchmarks: from the kernels and cases of measured/pmpp.csv to lines of
#   file|kernel|case|options and arguments of miniemu
# as <family>/<family>_bench.cu launches them. Its arrays are thrust vectors without values, which are zeros.
BEGIN { FS = "," }
function up(a, b) { return int((a + b - 1) / b) }
function buffer(type, n) { return " -a buf:" type ":" sprintf("%d", n) ":zero" }
function number(value) { return " -a i32:" value }
function launch(file, groups_x, groups_y, local_x, local_y, shared, arguments) {
  printf "%s|%s|%s|--grid %d,%d -l %d,%d%s%s\n", file, kernel, $4, groups_x, groups_y, local_x, local_y,
         shared ? sprintf(" --shared %d", shared) : "", arguments
}
FNR == 1 || seen[$3, $4]++ { next }
{
  kernel = $3
  split("", p)
  for (i = split($4, parts, " "); i > 0; --i) { split(parts[i], pair, "="); p[pair[1]] = pair[2] }
}
kernel ~ /^array_add/ {
  n = p["Axis_Size"]
  launch("array_add", up(n, 16), up(n, 16), 16, 16, 0,
         buffer("f32", n * n) buffer("f32", n * n) buffer("f32", n * n) number(n) number(n))
}
kernel ~ /histogram/ {
  n = p["Array_Size"]; bins = p["Num_Bins"]; t = p["Num_Threads"]
  launch("histogram", up(n, t), 1, t, 1, kernel == "histogram_shared" ? 4 * bins : 0,
         buffer("u32", n) buffer("u32", bins) number(n) number(bins))
}
kernel ~ /^mat_mat_mul/ {
  n = p["Num_Rows_1"]; t = p["Num_Threads"]
  wide = kernel == "mat_mat_mul_rec_tiles" ? t / 2 : t
  tiles = kernel == "mat_mat_mul_rec_tiles" ? 3 : kernel == "mat_mat_mul_tiles" ? 2 : 0
  matrix = buffer("u32", n * n)
  launch("mat_mat_mul", up(n, wide), up(n, t), t, t, 4 * tiles * t * t,
         matrix matrix matrix number(n) number(n) number(n) number(n))
}
kernel ~ /^convolution_1D/ {
  n = p["Array_size"]; m = p["Mask_width"]; t = p["Block_dim"]
  line = buffer("f32", up(n, t) * t)  # kernels without a check of bounds write a whole group
  shared = kernel ~ /caching/ ? 4 * t : kernel ~ /tiled/ ? 4 * (t + m - 1) : 0
  launch("convolution", up(n, t), 1, t, 1, shared,
         line (kernel ~ /basic/ ? buffer("f32", m) : "") line number(m) number(n))
}
kernel ~ /^convolution_2D/ {
  n = p["Axis_size"]; m = p["Mask_width"]; c = p["Num_channels"]; t = p["Block_axis_dim"]
  image = buffer("f32", n * n * c)
  inner = kernel ~ /tiled/ ? t - m + 1 : t
  launch("convolution", up(n, inner), up(n, inner), t, t, kernel ~ /tiled/ ? 4 * t * t : 0,
         image (kernel ~ /basic/ ? buffer("f32", m * m) : "") image number(m) number(m) number(n) number(n) number(c))
}
