# SPDX-License-Identifier: Apache-2.0
# Completion of hartfs for fish: all words come from "hartfs complete", so there is nothing here to keep up to date.

function __hartfs_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (hartfs complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct | string replace -r '^-[^=]*=' '')
        else
            echo $line
        end
    end
end

complete -c hartfs -f -a '(__hartfs_complete)'
