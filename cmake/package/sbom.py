"""What the packages' programs and libraries are made of, as SPDX 2.3 in JSON on standard output: sbom.py VERSION [ARCH]

Each row is a package of Debian, with the version that this machine has, its licence and how it gets in: linked statically,
which includes headers, or as a shared library, of which a wheel holds a copy.
"""

import datetime
import json
import os
import subprocess
import sys

# Debian's package, what it is called at its home, its home, its licence, how it gets in.
PARTS = [
    ("libc6-dev", "glibc", "https://sourceware.org/glibc/", "LGPL-2.1-or-later", "STATIC_LINK"),
    ("libstdc++-*-dev", "libstdc++", "https://gcc.gnu.org/", "GPL-3.0-or-later WITH GCC-exception-3.1", "STATIC_LINK"),
    ("libgcc-*-dev", "libgcc", "https://gcc.gnu.org/", "GPL-3.0-or-later WITH GCC-exception-3.1", "STATIC_LINK"),
    ("libcsv-dev", "libcsv", "https://github.com/rgamble/libcsv", "LGPL-2.1-or-later", "STATIC_LINK"),
    ("libfmt-dev", "fmt", "https://fmt.dev/", "MIT", "STATIC_LINK"),
    ("libxxhash-dev", "xxHash", "https://xxhash.com/", "BSD-2-Clause", "STATIC_LINK"),
    ("libzstd-dev", "zstd", "https://facebook.github.io/zstd/", "BSD-3-Clause", "STATIC_LINK"),
    ("zlib1g-dev", "zlib", "https://zlib.net/", "Zlib", "STATIC_LINK"),
    ("libcli11-dev", "CLI11", "https://github.com/CLIUtils/CLI11", "BSD-3-Clause", "STATIC_LINK"),
    ("libeigen3-dev", "Eigen", "https://eigen.tuxfamily.org/", "MPL-2.0", "STATIC_LINK"),
    ("nlohmann-json3-dev", "JSON for Modern C++", "https://json.nlohmann.me/", "MIT", "STATIC_LINK"),
    ("libtomlplusplus-dev", "toml++", "https://marzer.github.io/tomlplusplus/", "MIT", "STATIC_LINK"),
    ("libhwloc-dev", "hwloc", "https://www.open-mpi.org/projects/hwloc/", "BSD-3-Clause", "DYNAMIC_LINK"),
    ("liblz4-dev", "LZ4", "https://lz4.org/", "BSD-2-Clause", "DYNAMIC_LINK"),
]
OWN = "SPDXRef-kernelcast"


def installed(package: str, architecture: str) -> tuple[str, str]:
    """Name and version of the last package that a pattern fits; empty without one."""
    for name in (f"{package}:{architecture}", package):  # headers are of no architecture
        found = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n", name],
                               capture_output=True, text=True).stdout.splitlines()
        words = [line.split() for line in found if line.startswith("installed ")]
        if words:
            return words[-1][1], words[-1][2]
    return "", ""


def main(version: str, architecture: str = "amd64") -> None:
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    packages = [{
        "SPDXID": OWN, "name": "kernelcast", "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
        "copyrightText": "Copyright 2026 The kernelcast authors", "supplier": "NOASSERTION",
    }]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": OWN}]
    for pattern, name, home, licence, how in PARTS:
        package, found = installed(pattern, architecture)
        if not found:
            continue  # not built with it
        identity = "SPDXRef-" + package.replace("+", "-plus")
        packages.append({
            "SPDXID": identity, "name": name, "versionInfo": found, "homepage": home,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", "supplier": "Organization: Debian",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{package}@{found}?arch={architecture}".replace("+", "%2B"),
            }],
        })
        relations.append({"spdxElementId": OWN, "relationshipType": how, "relatedSpdxElement": identity})
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"kernelcast-{version}-{architecture}",
        "documentNamespace": f"https://spdx.org/spdxdocs/kernelcast-{version}-{architecture}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: kernelcast-sbom"]},
        "packages": packages, "relationships": relations,
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
