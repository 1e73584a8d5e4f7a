# SPDX-License-Identifier: Apache-2.0
# Completion of hartfs for bash: all words come from "hartfs complete", so there is nothing here to keep up to date.

_hartfs() {
	# "--views=lis" is three words to bash, and one to hartfs.
	local -a words=()
	local i word cut="" line files=""
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 1)) && [[ $word == = || ${COMP_WORDS[i - 1]} == = ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word")
		fi
	done
	word=${words[${#words[@]} - 1]-}
	# What bash does not replace.
	[[ $word == -*=* && $COMP_WORDBREAKS == *=* ]] && cut=${word%%=*}=
	COMPREPLY=()
	while IFS= read -r line; do
		if [ "$line" = :files ]; then
			files=1
		else
			COMPREPLY+=("$(printf %q "${line#"$cut"}")")
		fi
	done < <(hartfs complete -- "${words[@]}" 2>/dev/null)
	if [ "${#COMPREPLY[@]}" = 1 ] && [[ ${COMPREPLY[0]} == *[=,.] ]]; then compopt -o nospace 2>/dev/null; fi
	if [ -n "$files" ]; then
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${word#"$cut"}")
		compopt -o filenames 2>/dev/null
	fi
	return 0
}

complete -F _hartfs hartfs
