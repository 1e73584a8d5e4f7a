" SPDX-License-Identifier: Apache-2.0
" Syntax of listing.txt, of hartfs. Copy it to ~/.vim/syntax/, and say :set filetype=hartfs_listing, or in ~/.vimrc:
"   autocmd BufRead listing.txt setlocal filetype=hartfs_listing
if exists("b:current_syntax")
	finish
endif
syntax match hartfsOrdinal /^\d\+/ nextgroup=hartfsMode skipwhite
syntax match hartfsMode /\S\+/ contained nextgroup=hartfsPc skipwhite
syntax match hartfsPc /\x\{16}/ contained nextgroup=hartfsOpcode skipwhite
syntax match hartfsOpcode /\x\+/ contained nextgroup=hartfsMnemonic skipwhite
syntax match hartfsMnemonic /\S\+/ contained
syntax match hartfsPlace /<[^>]*>/
syntax match hartfsAccess /\<\(RW\|R\|W\)\d\+ \x\{16}\(=[0-9a-f_]\+\)\?/
syntax match hartfsTarget /-> \x\{16}/
syntax match hartfsTold /^# .*/
syntax match hartfsTrap /^# trap .*/
syntax match hartfsLoss /^# \(gap\|doubt\|discontinuity\|error\).*/
highlight default link hartfsOrdinal LineNr
highlight default link hartfsMode Type
highlight default link hartfsPc Number
highlight default link hartfsOpcode Comment
highlight default link hartfsMnemonic Statement
highlight default link hartfsPlace Function
highlight default link hartfsAccess Identifier
highlight default link hartfsTarget Special
highlight default link hartfsTold Comment
highlight default link hartfsTrap PreProc
highlight default link hartfsLoss Error
let b:current_syntax = "hartfs_listing"
