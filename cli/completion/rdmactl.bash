# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Completes rdmactl in bash. Commands, options and what kind of argument each takes are read from rdmactl's own help: nothing of that is
# written here again.

# COMMAND: the lines of the options of all commands and of this one, "-H, --host=[USER@]HOST  Ask ..."
_rdmactl_options()
{
	{
		rdmactl --help
		[[ -z $1 ]] || rdmactl help "$1"
	} 2>/dev/null | sed -n '/^Options:/,/^$/s/^ *\(-.*\)/\1/p'
}

_rdmactl_commands()
{
	rdmactl --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# OPTION OPTIONS: what its argument is, "[+]COLUMN,..."; nothing if it takes none
_rdmactl_argument()
{
	local words
	while read -ra words; do
		case " ${words[*]:0:2}" in
		*" $1, "*=* | *" $1="*)
			printf '%s\n' "${words[*]:0:2}" | sed 's/^[^=]*=\([^ ]*\).*/\1/'
			return
			;;
		esac
	done <<<"$2"
}

# KIND WORD...: the devices, or the ports and their network interfaces, on the bus that the words of the command line say
_rdmactl_ports()
{
	local bus
	mapfile -t bus < <(printf '%s\n' "${@:2}" | grep -xE -e '--(user|bus=.*)')
	if [[ $1 == *DEVICE* ]]; then
		rdmactl --no-pager "${bus[@]}" devices 2>/dev/null | grep '^[^ ]'
		return
	fi
	rdmactl --no-pager "${bus[@]}" list -o Port,Netdev 2>/dev/null |
		awk 'NR > 1 { print $1; if ($2 != "-") print $2 }'
}

# CURRENT KIND WORD...: offers those of _rdmactl_ports that begin with CURRENT, as quoted text. A device may have any name, such as
# "$(reboot)": compgen -W would run that.
_rdmactl_offer_ports()
{
	local current=$1 name quoted
	shift
	while IFS= read -r name; do
		[[ $name == "$current"* ]] || continue
		printf -v quoted %q "$name"
		COMPREPLY+=("$quoted")
	done < <(_rdmactl_ports "$@")
}

# PATTERN: the names that describe knows, of the parts whose headings match
_rdmactl_attributes()
{
	rdmactl --no-pager describe 2>/dev/null |
		awk -v part="$1" '/^(Of|Counters|Reasons|Features)/ { on = $0 ~ part; next } on && /^[^ ]/ { print $1 }'
}

_rdmactl()
{
	local cur prev words cword split command='' kind='' words_before='' options i

	_init_completion -n : -s || return
	options=$(_rdmactl_options '')
	for ((i = 1; i < cword; i++)); do
		case ${words[i]} in
		--*=*) ;;
		-*) [[ -z $(_rdmactl_argument "${words[i]}" "$options") ]] || ((i++)) ;;
		*)
			command=${words[i]}
			break
			;;
		esac
	done
	[[ -z $command ]] || options=$(_rdmactl_options "$command")

	if [[ $prev == -* ]]; then
		kind=$(_rdmactl_argument "$prev" "$options")
	fi
	if [[ -z $kind ]]; then
		# after "--json=" there is nothing to say
		[[ $split != true ]] || return
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -e '--[a-z-]+=?' <<<"$options")" -- "$cur")
			[[ ${COMPREPLY[*]-} != *= ]] || compopt -o nospace
			return
		elif [[ -z $command ]]; then
			kind=COMMAND
		else
			kind=$(rdmactl help "$command" 2>/dev/null | sed -n '1s/^Usage: .* //p')
			[[ $command != help ]] || kind=COMMAND
			# "nccl|ucx|ofi [PORT...]": the first argument is one of these words
			[[ $i != $((cword - 1)) ]] || words_before=$(rdmactl help "$command" 2>/dev/null |
				sed -n '1s/^Usage: .* \([^ ]*|[^ ]*\) [^ ]*$/\1/p')
			# "CHECK PORT...": it is the name of a check
			[[ $i != $((cword - 1)) || $(rdmactl help "$command" 2>/dev/null | sed -n 1p) != *' CHECK '* ]] ||
				words_before=$(rdmactl check --list 2>/dev/null | sed -n 's/^\([a-z][^ ]*\) .*/\1/p')
			[[ -z $words_before ]] || kind=WORDS
		fi
	fi

	case $kind in
	WORDS) mapfile -t COMPREPLY < <(compgen -W "${words_before//|/ }" -- "$cur") ;;
	COMMAND) mapfile -t COMPREPLY < <(compgen -W "$(_rdmactl_commands)" -- "$cur") ;;
	*PORT* | *DEVICE*)
		# those of another machine are not worth a connection with each key
		[[ " ${words[*]}" != *" -"[HM]* && " ${words[*]}" != *" --"[hm][oa]* ]] || return
		_rdmactl_offer_ports "$cur" "$kind" "${words[@]}"
		;;
	ATTRIBUTE,...)
		local before=${cur%"${cur##*,}"}
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_rdmactl_attributes '^Of')" -- "${cur##*,}")
		;;
	*ATTRIBUTE*) mapfile -t COMPREPLY < <(compgen -W "$(_rdmactl_attributes .)" -- "$cur") ;;
	*COLUMN*)
		local before=${cur%"${cur##*[-+,]}"}
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "Port $(_rdmactl_attributes '^Of')" -- "${cur##*[-+,]}")
		;;
	*KEY=VALUE)
		_filedir
		mapfile -O "${#COMPREPLY[@]}" -t COMPREPLY < \
			<(compgen -S = -W "Ports Ignore $(_rdmactl_attributes '^Of')" -- "$cur")
		compopt -o nospace
		;;
	STATE)
		mapfile -t COMPREPLY < <(compgen -W "$(rdmactl describe State 2>/dev/null |
			sed -n '/Values/{s/.*Values//;s/,/ /g;p;}')" -- "$cur")
		;;
	[[:lower:]]*\|*) mapfile -t COMPREPLY < <(compgen -W "${kind//|/ }" -- "$cur") ;;
	FILE) _filedir ;;
	DIR) _filedir -d ;;
	PROGRAM) mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u) ;;
	BUS) mapfile -t COMPREPLY < <(compgen -W "system session" -- "$cur") ;;
	*HOST* | PEER*) _known_hosts_real -a -- "$cur" ;;
	CONTAINER)
		mapfile -t COMPREPLY < <(compgen -W "$(machinectl --no-legend --no-pager list 2>/dev/null |
			awk '{ print $1 }')" -- "$cur")
		;;
	esac
} &&
	complete -F _rdmactl rdmactl
