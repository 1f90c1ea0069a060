# Writes the launch files opencl/<workload>[_<precision>]_<size>.toml and the same below cuda/, for every row of sizes.csv,
# from templates/<workload>.toml: @name@ becomes the row's value of that name. A line that begins with @opencl@ or @cuda@
# is for these files only. The kernels are in <workload>.cl and .cu, or where the row says source=<another>.
#   awk -v out=FOLDER -f launches.awk sizes.csv
BEGIN { FS = ","; if (out == "") out = "." }
/^#/ || $1 == "workload" { next }
{
  delete value
  count = split($4, pairs, " ")
  for (i = 1; i <= count; ++i) {
    split(pairs[i], pair, "=")
    value[pair[1]] = pair[2]
  }
  value["precision"] = $2 == "dp" ? "double precision" : "single precision"
  value["real"] = $2 == "dp" ? "f64" : "f32"
  value["options"] = $2 == "dp" ? "options = [\"-DDOUBLE\"]" : ""
  name = $1 ($2 == "" ? "" : "_" $2) "_" $3 ".toml"
  source = "../" ("source" in value ? value["source"] : $1)
  write("opencl", name, source ".cl")
  write("cuda", name, source ".cu")
}
function write(language, name, file,    path, line, template) {
  path = out "/" language "/" name
  value["file"] = file
  template = "templates/" $1 ".toml"
  while ((getline line < template) > 0) {
    if (line == "@options@" && value["options"] == "") continue
    if (line ~ /^@(opencl|cuda)@ /) {
      if (index(line, "@" language "@ ") != 1) continue
      sub(/^@[a-z]+@ /, "", line)
    }
    while (match(line, /@[a-z0-9]+@/)) {
      name = substr(line, RSTART + 1, RLENGTH - 2)
      if (!(name in value)) {
        print "launches.awk: " template ": no value of " name " for " path > "/dev/stderr"
        exit 1
      }
      line = substr(line, 1, RSTART - 1) value[name] substr(line, RSTART + RLENGTH)
    }
    print line > path
  }
  close(template)
  close(path)
}
