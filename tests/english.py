#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual's English: english.py SOURCE_DIRECTORY [--list]. "behind" is a place and never a time, so the pages do without
it; and there are no more sentences of more than 25 words than MOST, which may only become less. --list prints them."""
import glob
import os
import re
import sys

WORDS, MOST = 25, 59


def paragraphs(text):
    """Paragraphs, items and cells of prose, without examples and headings: (line, text)."""
    found, at, part, item, blank = [], 0, [], False, True
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        begins = re.match(r"\s*(- |\d+\. |:  )", line)
        if not line.strip() or line.startswith(("#", "%", "|", "```")):
            item = item and not line.startswith("#")
        elif begins or not indent or item and (indent == 4 or not blank) and not (blank and indent > 4):
            item = item or bool(begins)
            item = item if indent or begins else False
            if part and not begins and not blank:
                part.append(line.strip())
                continue
            if part:
                found.append((at, " ".join(part)))
            at, part, blank = number, [re.sub(r"^\s*(- |\d+\. |:\s+)", "", line).strip()], False
            continue
        if part:
            found.append((at, " ".join(part)))
        part, blank = [], not line.strip()
    return found + ([(at, " ".join(part))] if part else [])


def sentences(text):
    return re.split(r"(?<=[.?!:])[*`)\"]*\s+(?=[A-Z*`(\"]|hartfs\b)", text)


def words(sentence):
    return len([word for word in re.sub(r"`[^`]*`|\*[^* ]([^*]*[^* ])?\*", "x", sentence).split() if re.search(r"\w", word)])


def main():
    os.chdir(sys.argv[1])
    pages = sorted(glob.glob("mountd/*.[0-9].md") + glob.glob("fs/*.[0-9].md") + glob.glob("index/*.[0-9].md"))
    status, long = 0, []
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"(?<!\*)\bbehind\b(?!\*)", line, re.I):
                print("%s:%d: behind: after is of time, and a place has plainer words: %s" % (page, number, line.strip()))
                status = 1
        for number, paragraph in paragraphs(text):
            long += [(page, number, s) for s in sentences(paragraph) if words(s) > WORDS]
    if "--list" in sys.argv:
        for page, number, sentence in long:
            print("%s:%d: %d: %s" % (page, number, words(sentence), sentence))
    if len(long) > MOST:
        print("%d sentences of more than %d words, and not at most %d: see %s --list" % (len(long), WORDS, MOST, sys.argv[0]))
        status = 1
    elif len(long) < MOST:
        print("only %d sentences have more than %d words now: write that as MOST" % (len(long), WORDS))
    return status


if __name__ == "__main__":
    sys.exit(main())
