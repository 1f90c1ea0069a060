#!/bin/sh
# Usage: report.sh BIN SOURCE [CHROMIUM]. Makes the page of a real chain whose kernels have names that are markup, and
# sees that none of it becomes markup and that the page loads nothing. With CHROMIUM: opens it there, narrow and wide,
# dark and light, folded and unfolded; nothing may reach beyond its width, and the console stays empty.
set -eu
bin=$1 source=$2 chromium=${3-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
status=0
fail() {
  echo "$*"
  status=1
}

cat >prices.csv <<END
device,gpus_per_instance,price_per_hour,currency,provider,region,as_of
a100,8,20,USD,one,,2026-11-01
h100,1,3,USD,"<b>two</b>",,2026-11-01
END
launch=$source/bench-suites/panwar/matmul_lmem.toml
export XDG_CACHE_HOME="$folder/cache" KERNELCAST_DEVDB="$source/devdb"
"$bin/miniemu" --quiet "$launch" --groups first -o kernels.csv
"$bin/miniemu" --quiet "$launch" --groups first --emit lines -o lines.csv
# More kernels: one that is markup, one mangled, one longer than any screen is wide.
long=$(printf 'x%.0s' 1 2 3 4 5 6 7 8 9 10 | sed 's/x/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/g')
markup='"<script>alert(1)</script>""'"'"'><img src=x onerror=alert(2)>"'
sed -n 2p kernels.csv >row
for name in "$markup" _ZN2ns5scaleIfLi16EEEvPKT_PS1_ "$long"; do sed "s|^matmul_lmem,matmul_lmem|$name,</style><script>|" row; done >>kernels.csv
sed -i "2,\$s|^matmul_lmem,matmul_lmem|$markup,</style><script>|" lines.csv
"$bin/perfcast" --quiet -o projections.csv kernels.csv
"$bin/perfcast" --quiet --explain --format csv -o stations.csv kernels.csv
"$bin/rank" --quiet --prices prices.csv --total --total-as '<script>app' -o total.csv projections.csv
"$bin/rank" --quiet -o ranking.csv projections.csv
printf 'kernel,case,device,start_s,end_s\n%s,c,h100,0,0.002\nother,c,"<i>dev",0,0.001\n' "$markup" >schedule.csv
"$bin/figure" report -o all.html --title '</title><script>alert(4)</script>' kernels.csv projections.csv stations.csv total.csv lines.csv schedule.csv
"$bin/figure" report -o some.html kernels.csv projections.csv ranking.csv
"$bin/figure" report -o one.html <total.csv
"$bin/figure" report -o again.html kernels.csv projections.csv ranking.csv
{ sed -n 1p total.csv; sed -n '2{p;s/,total,/,sum,/p;}' total.csv; } >commands.csv
"$bin/figure" report -o commands.html <commands.csv
grep -q 'all its launches, kernels and copies take' commands.html || fail "commands.html leaves the copies out"
cmp -s some.html again.html || fail "the same inputs made two pages"
for page in all some one; do
  for tag in '<script' '<img' '<i>dev' '<b>two' '<link' ' href=' ' src=[^x]' 'url(' '@import'; do
    ! grep -q -- "$tag" $page.html || fail "$page.html has '$tag'"
  done
  grep -q "Content-Security-Policy content=\"default-src 'none'" $page.html || fail "$page.html has no policy"
done
for part in answer devices cost limiters roofline lines schedule basis; do
  grep -q "<section id=\"$part\"" all.html || fail "all.html has no section $part"
done
for part in cost lines schedule; do
  ! grep -q "<section id=\"$part\"" some.html || fail "some.html has a section $part, and nothing to show in it"
done
grep -q '>ns::<wbr>scale&lt;float,<wbr> 16&gt;<' all.html || fail "the mangled name is not readable"
[ -n "$chromium" ] || exit $status

for width in 400 1200; do
  cat >frame-$width.html <<END
<!DOCTYPE html><meta name=color-scheme content="light dark"><title>frame</title>
<iframe src=all.html width=$width height=900></iframe><iframe src=some.html width=$width height=900></iframe>
<iframe src=one.html width=$width height=900></iframe><pre></pre>
<script>
onload = () => {
  let said = "";
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement;
    const wide = () => root.scrollWidth - root.clientWidth;
    const folded = wide();
    page.querySelectorAll("details").forEach(d => d.open = true);
    const dark = getComputedStyle(page.body).backgroundColor;
    said += "\nPAGE folded " + folded + " unfolded " + wide() + " markup " +
      page.querySelectorAll("script,img,iframe,link,b:not(.tile b),i:not(.track i,.key)").length + " tables " +
      page.querySelectorAll("table:not(:has(caption))").length + " background " + dark;
  }
  document.querySelector("pre").textContent = said + "\nEND";
};
</script>
END
  for scheme in 0 1; do  # dark, light
    "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/profile" \
      --allow-file-access-from-files --enable-logging=stderr --blink-settings=preferredColorScheme=$scheme \
      --window-size=1300,1000 --virtual-time-budget=20000 --dump-dom "file://$folder/frame-$width.html" >dom 2>log || {
      tail -5 log
      fail "Chromium failed"
    }
    ! grep -i 'CONSOLE' log || fail "$width px: the console is not empty"
    seen=$(grep -c '^PAGE folded 0 unfolded 0 markup 0 tables 0' dom) || true
    [ "$seen" = 3 ] || { grep '^PAGE' dom || true; fail "$width px, scheme $scheme: $seen of 3 pages are as they should be"; }
    sed -n 's/^PAGE.*background //p' dom | sort -u >background-$scheme
  done
  [ "$(cat background-0)" != "$(cat background-1)" ] || fail "dark and light look the same: $(cat background-0)"
done
exit $status
