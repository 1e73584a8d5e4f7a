# SPDX-License-Identifier: Apache-2.0
# Completion of hartfs for bash: its words come from hartfs's own help, so there is nothing here to keep up to date.

_hartfs() {
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} words
	COMPREPLY=()
	# "--views=lis" is three words here.
	local at=$((COMP_CWORD - 1)) before
	[ "$word" = = ] && word="" at=$COMP_CWORD
	before=${COMP_WORDS[at - 1]-}${COMP_WORDS[at]-}
	if [ "$COMP_CWORD" = 1 ]; then
		words=$(hartfs help 2>/dev/null | sed -n 's/^  hartfs \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	elif [ "$before" = --views= ]; then
		words=$(hartfs help "$command" 2>/dev/null | sed -n '/^Views/{n;p}')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	elif [[ $word == -* ]]; then
		words=$(hartfs help "$command" 2>/dev/null | sed -n 's/^  .*\(--[a-z-]*=\{0,1\}\).*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace 2>/dev/null; fi
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
	fi
	return 0
}

complete -F _hartfs hartfs
