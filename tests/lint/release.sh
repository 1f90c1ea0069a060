#!/bin/sh
# make release in a clone: refused where it should be, else an archive that configures and knows its commit.
# Usage: release.sh SOURCE_DIR CMAKE
set -eu
for program in git make gzip sha256sum; do
  command -v $program >/dev/null || { echo "kernelcast-skipped: no $program"; exit 0; }
done
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE MAKEFLAGS MAKELEVEL
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
{ [ -e "$1/.git" ] && git -C "$1" rev-parse -q --verify HEAD >/dev/null; } ||
  { echo "kernelcast-skipped: no git repository"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone -q "$1" "$folder/clone"
cd "$folder/clone"
git config user.name nobody
git config user.email nobody@localhost
git tag -l | xargs -r git tag -d >/dev/null
commit_all() { git add -A && git commit -q -m "$1"; }
# The tree as it is, with changes that are not committed yet.
git -C "$1" diff --binary HEAD >../changes
[ ! -s ../changes ] || { git apply ../changes && commit_all 'as it is'; }
version=$(sed -n 's/^project(kernelcast VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

release() { make release >../out 2>../err; }
fail() { echo "$1"; cat ../out ../err; exit 1; }
refused() {  # what for, text of the message
  if release; then fail "not refused: $1"; fi
  grep -q "^error: .*$2" ../err || fail "refused without saying so: $1"
  grep -q '^hint: ' ../err || fail "refused without a hint: $1"
  [ ! -e "build/kernelcast-$version.tar.gz" ] || fail "refused with an archive: $1"
}
echo >>README.md
refused 'a changed file' 'not committed'
git checkout -q README.md
echo >new
refused 'a file that git does not know' 'not committed'
rm new
git tag "v$version"
refused 'a version that has a tag' "v$version exists"
git tag -d "v$version" >/dev/null
sed -i "/^## \[$version\]/d" CHANGELOG.md
commit_all 'no section'
refused 'a changelog without the version' 'do not agree'
git reset -q --hard HEAD~1

release || fail 'a clean tree is refused'
grep -q "^next: git tag -a v$version " ../out || fail 'the next command is missing'
(cd build && sha256sum -c --quiet "kernelcast-$version.tar.gz.sha256") || fail 'the checksum is wrong'
cp build/kernelcast-$version.tar.gz ../first
sleep 1  # gzip and tar have seconds
release || fail 'the second archive is refused'
cmp ../first "build/kernelcast-$version.tar.gz" || fail 'the same commit gives other bytes'

cd "$folder"
tar xzf first
expected=$(git -C clone rev-parse HEAD | cut -c1-12)
"$2" -S "kernelcast-$version" -B build -D KERNELCAST_TESTS=OFF >configured 2>&1 || { cat configured; exit 1; }
"$2" --build build --target version_commit_source >/dev/null
grep -q "return \"$expected\";" build/libcore/base/version/commit.cpp ||
  { echo "expected commit $expected"; cat build/libcore/base/version/commit.cpp; exit 1; }
said() { "$2" -D "SOURCE=$1" -D GIT=git -P "$1/cmake/Commit.cmake"; }
[ "$(said clone "$2")" = "$expected" ] || { echo "expected $expected of the clone"; exit 1; }
echo >>clone/README.md
[ "$(said clone "$2")" = "$expected-dirty" ] || { echo "expected $expected-dirty of the changed clone"; exit 1; }
rm -rf clone/.git
[ -z "$(said clone "$2")" ] || { echo 'expected no commit without git'; exit 1; }
echo "kernelcast-$version.tar.gz of $expected"
