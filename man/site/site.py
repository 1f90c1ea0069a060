#!/usr/bin/env python3
"""The documentation as static HTML: manuals by mandoc, Markdown by pandoc, between one head and one foot.

    site.py make SOURCE MAN OUT    the pages of the tree SOURCE, the manuals in MAN/man?, into the folder OUT
    site.py check OUT              each link of a page leads to a page, a file or a place in one that is there

A page lies where its source lies, README.md as index.html, so that relative links stay as they are but for their endings.
Files of the tree that a page links to are copied; a link to a folder without a README is left out, as nothing could be
shown there.
"""
import concurrent.futures
import html
import html.parser
import os
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

NAVIGATION = [("Home", "index.html"), ("Tutorials", "man/site/tutorials/index.html"), ("Manuals", "man/index.html"),
              ("Records", "man/kernelcast-records.5.html"), ("Glossary", "man/kernelcast-glossary.7.html"),
              ("Papers", "bench-suites/papers/index.html"), ("Validation", "bench-suites/validation/index.html"),
              ("Changes", "CHANGELOG.html")]
SECTIONS = {"1": "Programs", "3": "Libraries", "5": "Records", "7": "Overview, models, terms"}
FIGURES = "bench-suites/validation/results/chosen"


def page_of(path):
    """Where the page of a source of the tree lies; None for what has none."""
    folder, name = posixpath.split(path)
    if name == "README.md":
        return posixpath.join(folder, "index.html")
    stem, ending = posixpath.splitext(name)
    return posixpath.join(folder, stem + ".html") if ending in (".md", ".scd") else None


def run(*words, text=None):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


class Site:
    def __init__(self, source, man, out):
        self.source, self.man, self.out = source, man, out
        self.copied = set()
        style = (source / "man/site/style.css").read_text()
        out.mkdir(parents=True, exist_ok=True)
        (out / "style.css").write_text(style)

    def write(self, page, title, body, contents=""):
        up = "../" * page.count("/")
        links = "".join(f'<a href="{up}{to}"{" aria-current=page" if to == page else ""}>{name}</a>\n'
                        for name, to in NAVIGATION)
        side = f'<nav class=contents aria-label="On this page">\n{contents}</nav>\n' if contents else ""
        path = self.out / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<title>{html.escape(title)} – '
                        f'kernelcast</title>\n<meta name=viewport content="width=device-width, initial-scale=1">\n'
                        f'<meta name=color-scheme content="light dark">\n<link rel=stylesheet href="{up}style.css">\n'
                        f'</head>\n<body>\n<header>\n<nav aria-label="Site">\n{links}</nav>\n</header>\n{side}'
                        f'<main>\n{body}</main>\n</body>\n</html>\n')

    def target(self, page, link):
        """What a page's link has to be here; None where nothing can be shown."""
        path, mark, place = link.partition("#")
        if re.match(r"[a-z]+:|//", link) or not path:
            return link
        base = posixpath.dirname(page)
        found = posixpath.normpath(posixpath.join(base, urllib.parse.unquote(path)))
        there = self.source / found
        if found.startswith("..") or not there.exists():
            return None
        if there.is_dir():
            found = posixpath.join(found, "README.md")
            if not (self.source / found).exists():
                return None
        to = page_of(found)
        if not to:
            self.copied.add(found)
            to = found
        return urllib.parse.quote(posixpath.relpath(to, base or ".")) + mark + place

    def markdown(self, path):
        page = page_of(path)
        text = (self.source / path).read_text()
        text = re.sub(r"^```mermaid\n.*?^```\n", "", text, flags=re.M | re.S)  # drawings that need a script
        text = re.sub(r"^```(\w+) (?:test|file \S+)$", r"```\1", text, flags=re.M)  # for tests
        template = "$if(toc)$$table-of-contents$$endif$\n<!-- body -->\n$body$"
        scratch = self.out / (".template-" + page.replace("/", "-"))
        scratch.write_text(template)
        made = run("pandoc", "-f", "gfm", "-t", "html5", "--wrap=none", "--toc", "--toc-depth=2", "--no-highlight",
                   "--template", str(scratch), "--metadata", "title=-", text=text)
        scratch.unlink()
        contents, body = made.split("<!-- body -->\n", 1)

        def link(match):
            to = self.target(page, html.unescape(match[1]))
            return f'<a href="{html.escape(to)}">{match[2]}</a>' if to else match[2]

        body = re.sub(r'<a\s+href="([^"]*)"[^>]*>(.*?)</a>', link, body, flags=re.S)
        body = re.sub(r"<table.*?</table>", lambda m: f"<div class=wide>{m[0]}</div>", body, flags=re.S)
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, flags=re.S)
        title = html.unescape(re.sub("<[^>]*>", "", heading[1])) if heading else posixpath.basename(path)
        if path == "bench-suites/validation/README.md":
            body += self.figures()
        self.write(page, title, body, contents if contents.count("<li>") > 4 else "")

    def figures(self):
        drawn = sorted((self.source / FIGURES).glob("*.svg"))
        if not drawn:
            return ""
        body = '<h2 id="figures">Figures</h2>\n<p>Projected against measured times of each suite, on programs that ' \
               "constants may have been chosen on, and errors by length of the measured time.</p>\n<div class=figures>\n"
        for path in drawn:
            self.copied.add(f"{FIGURES}/{path.name}")
            body += f'<figure><a href="results/chosen/{path.name}"><img src="results/chosen/{path.name}" loading=lazy ' \
                    f'alt="projected against measured times: {path.stem}"></a><figcaption>{path.stem}</figcaption></figure>\n'
        return body + "</div>\n"

    def manual(self, path, names):
        made = run("mandoc", "-T", "html", "-O", "fragment", str(path))
        made = re.sub(r'<table class="head">.*?</table>\s*', "", made, flags=re.S)
        made = re.sub(r'<table class="foot">.*?</table>\s*', "", made, flags=re.S)
        # Sections are below the page's own heading.
        made = re.sub(r"<(/?)h2", r"<\1h3", made)
        made = re.sub(r"<(/?)h1", r"<\1h2", made)

        def reference(match):
            name = f"{match[1]}.{match[2]}"
            return f'<a href="{name}.html">{match[0]}</a>' if name in names else match[0]

        made = re.sub(r"<b>([\w+-]+)</b>\((\d)\)", reference, made)
        shown = "".join(f'<li class={tag}><a href="#{place}">{text.partition(":")[0]}</a></li>\n' for tag, place, text in
                        re.findall(r'<(h[23]) class="S[hs]" id="([^"]*)"><a[^>]*>(.*?)</a>', made, flags=re.S))
        self.write(f"man/{path.name}.html", f"{path.stem}({path.suffix[1:]})",
                   f"<h1>{path.stem}({path.suffix[1:]})</h1>\n{made}", f"<ul>\n{shown}</ul>\n")
        about = re.search(r'<p class="Pp">.*? -\s+(.*?)</p>', made, flags=re.S)
        return path, about[1] if about else ""

    def make(self):
        manuals = sorted(p for p in self.man.glob("man?/*") if re.fullmatch(r"\.\d", p.suffix))
        names = {p.name for p in manuals}
        def listed(path):  # not what is built or fetched, nor the beginnings of pages
            folders = path.relative_to(self.source).parts[:-1]
            return not (path.name.endswith(".head.md") or any(f in ("results", "sources") or f.startswith((".", "build"))
                                                              for f in folders))

        pages = [str(p.relative_to(self.source)) for p in self.source.rglob("*.md") if listed(p)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            about = dict(pool.map(lambda p: self.manual(p, names), manuals))
            list(pool.map(self.markdown, pages))
        body = "<h1>Manuals</h1>\n"
        for section, title in SECTIONS.items():
            body += f"<h2>{title}</h2>\n<dl class=manuals>\n"
            for path in (p for p in manuals if p.suffix == "." + section):
                body += f'<dt><a href="{path.name}.html">{path.stem}({section})</a></dt><dd>{about[path]}</dd>\n'
            body += "</dl>\n"
        self.write("man/index.html", "Manuals", body)
        for name in self.copied:
            to = self.out / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.source / name, to)
        print(f"{len(pages)} pages, {len(manuals)} manuals, {len(self.copied)} files")


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            elif name in ("id", "name"):
                self.places.add(value)


def check(out):
    pages = {p: Links(p.read_text()) for p in out.rglob("*.html")}
    failed = checked = 0
    for page, found in pages.items():
        for link in found.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page.resolve()
            place = urllib.parse.unquote(parts.fragment)
            known = pages.get(Path(to)) if to.suffix == ".html" else None
            checked += 1
            if not to.is_file() or (place and known and place not in known.places):
                print(f"{page.relative_to(out)}: {link} leads nowhere")
                failed += 1
    print(f"{len(pages)} pages, {checked} links, {failed} of them broken")
    return 1 if failed or not pages else 0


def main():
    words = sys.argv[1:]
    if words[:1] == ["make"] and len(words) == 4:
        source, man, out = (Path(w).resolve() for w in words[1:])
        for program in ("mandoc", "pandoc"):
            if not shutil.which(program):
                sys.exit(f"kernelcast-skipped: no {program} here (make deps-site)")
        if not any(man.glob("man1/*.1")):
            sys.exit("kernelcast-skipped: no manuals were built: is scdoc installed? (make deps-site)")
        Site(source, man, out).make()
    elif words[:1] == ["check"] and len(words) == 2:
        sys.exit(check(Path(words[1]).resolve()))
    else:
        sys.exit(__doc__)


main()
