#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py SOURCE: what *.md and the comments of *.def, *.c and *.h name is there: files and folders, functions, macros,
members of structs, options, tests. A capital word in a name, as in test_NAME.c, stands for any, and so does a star."""
import os
import re
import sys
import tempfile

FOLDERS = ("cmake", "codecs", "contrib", "fs", "index", "mountd", "tests")
KINDS = "unit|prop|mount|fuzz|golden|conformance|codec|sim|walls|manual"
SOURCE = r"(?:[ch]|def|sh|py|cmake|js|css)"
# What is somebody else's.
OTHERS = {
    "--buildid-mmap": "of perf",
    "--demangle-cpp": "of genhtml",
    "--per-thread": "of perf",
    "--toolchain": "of CMake",
    "fuse_lock_inode": "of Linux",
    "mount.fuse3": "of libfuse",
    "sqlite3ext.h": "of SQLite",
}
COMMENTS = (
    (r".*\.([ch]|def|js|css|map)$", r"/\*.*?\*/|//[^\n]*"),
    (r".*(\.(sh|py|cmake|in)|/CMakeLists\.txt)$", r"^\s*#[^\n]*"),
    (r".*\.sql$", r"--[^\n]*"),
)


def any_of(name, letters):
    """A regular expression of what a name with a placeholder may be; None if it has none."""
    if name.isupper() or re.search(r"README|PROTOCOL", name):
        return None
    made = re.sub(r"\\\*|(?<![A-Z])[A-Z]+(?![A-Z])", letters, re.escape(name))
    return re.compile(made) if made != re.escape(name) else None


class Tree:
    def __init__(self, root):
        self.root, self.files, self.words, self.options, self.members = root, set(), set(), set(), {}
        self.needed = set()
        for top in FOLDERS:
            for at, folders, names in os.walk(os.path.join(root, top)):
                folders[:] = [name for name in folders if name not in ("__pycache__", "corpus")]
                self.files.update(os.path.relpath(os.path.join(at, name), root) for name in names)
        self.files.update(name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name)))
        self.folders = {os.path.dirname(file) for file in self.files}
        while more := {os.path.dirname(folder) for folder in self.folders} - self.folders:
            self.folders |= more
        self.places = self.files | self.folders
        self.names = {os.path.basename(file) for file in self.files}
        self.stems = {name.split(".")[0] for name in self.names}
        self.tests, self.pages = set(), {}
        for file in sorted(self.files):
            if found := re.fullmatch(r"tests/(\w+)/(?:test|fuzz)_(\w+)\.(?:c|sh)", file):
                self.tests.add(f"{found[1]}.{found[2]}")
            self.take(file)

    def take(self, file):
        """Reads a file: a page that names, or code, which is named. CHANGES.md may speak of what went."""
        if file.startswith("tests/data/") or file in ("tests/names.py", "CHANGES.md"):
            return
        with open(os.path.join(self.root, file), errors="replace") as opened:
            text = opened.read()
        if file.endswith(".md"):
            self.pages[file] = text
            # mount.adding and mount.library compile them.
            for block in re.findall(r"^```c\n(.*?)^```", text, re.S | re.M):
                self.words.update(re.findall(r"\w+", block))
            return
        if file.endswith((".def", ".c", ".h")):
            self.pages[file] = re.sub(r"(/\*.*?\*/)|[^\n/]+|/", lambda found: found[1] or "", text, flags=re.S)
        for files, comment in COMMENTS:
            if re.match(files, file):
                text = re.sub(comment, " ", text, flags=re.S | re.M)
        self.tests.update("codec." + name for name in re.findall(r"^LOOP\((\w+)", text, re.M))
        self.tests.update(f"{kind}.{name}" for name, kind in re.findall(r"hartfs_test\((\w+) (\w+)", text))
        self.words.update(re.findall(r"\w+", text))
        self.options.update(re.findall(r"--[a-z][a-z0-9-]+", text))
        self.options.update("--" + name for name in re.findall(r'^HF_\w*OPTION\(.*?[^"]"([a-z-]+)", [N"]', text, re.M))
        for name, body in re.findall(r"^struct (hf_\w+) \{$(.*?)^\}", text, re.S | re.M):
            self.members.setdefault(name, set()).update(re.findall(r"\w+", body))

    def has_word(self, word):
        if word in self.words or word in self.stems:
            return True
        form = any_of(word, "[a-z0-9_]+")
        if word.endswith("_"):
            form = re.compile(word + ".*")
        return form is not None and any(form.fullmatch(other) for other in self.words)

    def has_path(self, page, path):
        here = os.path.dirname(page)
        form = any_of(path.split("/")[-1], "[^/]+")
        if "/" not in path:
            return path in self.names or form is not None and any(map(form.fullmatch, self.names))
        for start in (here, "", os.path.dirname(here)):
            place = os.path.normpath(os.path.join(start, path))
            if place in self.places:
                return True
            form = any_of(place, "[^/]+")
            if form is not None and any(map(form.fullmatch, self.places)):
                return True
        return False

    def offences(self):
        for page, text in self.pages.items():
            # What the page itself adds to the tree, and mount.adding with it.
            own = re.findall(r"^HF_(?:CODEC|VIEW)\((\w+)\)", text, re.M) if page.endswith(".md") else []
            for number, line in enumerate(text.split("\n"), 1):
                for name in self.missing(page, line.replace("\\--", "--")) if line.strip() else ():
                    if name in OTHERS:
                        self.needed.add(name)
                    elif not any(word in name for word in own):
                        yield f"{page}:{number}: there is no {name}"

    def missing(self, page, line):
        """Manual pages, the first README and comments in C also speak of files and functions of others."""
        ours = not re.search(r"hartfs[\w.-]*\.\d\.md$|^README\.md$|\.[ch]$", page)
        for word in re.findall(r"\b(?:hf|HF|HARTFS)_\w*", line):
            if not self.has_word(word):
                yield word
        for name, member in re.findall(r"\b(hf_\w+)(?:\.|->)([a-z]\w*)", line):
            if name in self.members and member not in self.members[name] and not re.fullmatch(SOURCE, member):
                yield f"{name}.{member}"
        start = r"(?<![\w/.~$@{}<-])(?:\.\./)*"
        paths = re.findall(start + rf"((?:{'|'.join(FOLDERS)})/[\w./*-]*[\w/])(?![\w@-])", line)
        paths += re.findall(start + rf"((?:[\w-]+/)+[\w.*-]+\.{SOURCE})(?![\w/@-])", line)
        if ours:
            paths += re.findall(start + rf"(\w[\w*-]*\.{SOURCE})(?![\w/@.-])", line)
        for path in dict.fromkeys(paths):
            if not self.has_path(page, path):
                yield path
        for option in re.findall(r"(?<![\w|-])--[a-z](?:-?[a-z0-9])+(?![\w>]|-)", line):
            if option not in self.options:
                yield option
        for test in re.findall(rf"(?<![\w/.-])((?:{KINDS})\.[a-z]\w*)(?![\w/(])", line):
            if test not in self.tests and test not in self.names:
                yield test
        if ours and page.endswith(".md"):
            for name, call in re.findall(r"`(?:(?:struct|enum) )?([A-Za-z]\w*)(\(\))?`", line):
                if ("_" in name or call) and not name.startswith(("hf_", "HF_", "HARTFS_")) and not self.has_word(name):
                    yield name


PLANTED = {
    "codecs/thing.h": "struct hf_thing {\n\tint size; /* width */\n};\nint hf_thing_make(void); /* hf_thing_gone */\n",
    "codecs/list.def": "/* hf_thing_NAME, in codecs/thing.h;\n * fs/gone.h is not. */\n"
    'HF_OPTION(A, "m", 0, "known", NULL, "")\n',
    "contrib/run.sh": "other_name --also\n",
    "tests/unit/test_there.c": "",
    "tests/CMakeLists.txt": "hartfs_test(there walls 300 bash)\n",
    "tests/README.md": "`hf_thing_make`, hf_thing_*, `hf_thing.size`, `other_name()`, codecs/, thing.h, *contrib/run.sh*,\n"
    "contrib/run.sh --known --also, <stdio.h>, unit.there, unit/test_NAME.c, `test_*.c`, <--also--- --any--> |--of,\n"
    "walls.there `hf_thing_gone`\n`hf_thing.width`\ncontrib/gone.sh\ngone.h\nunit/test_gone.c\ncodecs/gone/\n--gone\n"
    "unit.gone\n`old_name`\n`gone()`\n`HF_GONE`\n",
}
FOUND = ["codecs/list.def:2: there is no fs/gone.h", "codecs/thing.h:4: there is no hf_thing_gone"] + [
    f"tests/README.md:{number}: there is no {name}"
    for number, name in enumerate(
        "hf_thing_gone hf_thing.width contrib/gone.sh gone.h unit/test_gone.c codecs/gone/ --gone unit.gone "
        "old_name gone HF_GONE".split(), 3)
]


def main():
    with tempfile.TemporaryDirectory() as root:
        for file, text in PLANTED.items():
            os.makedirs(os.path.dirname(os.path.join(root, file)), exist_ok=True)
            with open(os.path.join(root, file), "w") as opened:
                opened.write(text)
        found = list(Tree(root).offences())
    if found != FOUND:
        sys.exit("what was planted is not what is found:\n" + "\n".join(found))
    tree = Tree(sys.argv[1])
    found = list(tree.offences()) + [f"tests/names.py: nobody names {name}" for name in OTHERS.keys() - tree.needed]
    if len(tree.pages) < 50:
        found.append(f"only {len(tree.pages)} pages were looked at")
    sys.exit("\n".join(found) or 0)


main()
