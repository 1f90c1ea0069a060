# The median of list[1] to list[n], which it sorts.
function median(list, n,    i, j, t) {
  for (i = 2; i <= n; ++i) {
    t = list[i]
    for (j = i - 1; j > 0 && list[j] > t; --j) list[j + 1] = list[j]
    list[j + 1] = t
  }
  return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
