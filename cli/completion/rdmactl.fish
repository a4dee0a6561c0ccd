# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Completes rdmactl in fish. Commands, options and what kind of argument each takes are read from rdmactl's own help: nothing of that is
# written here again.

# [COMMAND]: the lines of the options of all commands and of this one, "-H, --host=[USER@]HOST  Ask ..."
function __rdmactl_options
    begin
        rdmactl --help
        test -z "$argv[1]"; or rdmactl help $argv[1]
    end 2>/dev/null | sed -n '/^Options:/,/^$/s/^ *\(-.*\)/\1/p'
end

# OPTION COMMAND: what its argument is, "[+]COLUMN,..."; nothing if it takes none
function __rdmactl_argument
    __rdmactl_options $argv[2] | awk -v option="$argv[1]" '{
        split($0, part, /  +/)
        n = split(part[1], names, /, /)
        for (i = 1; i <= n; i++) {
            sub(/=.*/, "", names[i])
            if (names[i] == option && sub(/^[^=]*=/, "", part[1])) print part[1]
        }
    }'
end

# The words of the command line without options and their arguments: the command and what follows it.
function __rdmactl_words
    set -l takes no
    set -l command ''
    for token in $argv
        if test $takes = yes
            set takes no
            continue
        end
        switch $token
            case '--*=*'
            case '-*'
                test -z "$(__rdmactl_argument $token $command)"; or set takes yes
            case '*'
                printf '%s\n' $token
                test -n "$command"; or set command $token
        end
    end
end

# PATTERN: the names that describe knows, of the parts whose headings match
function __rdmactl_attributes
    rdmactl --no-pager describe 2>/dev/null |
        awk -v part="$argv[1]" '/^(Of|Counters|Reasons|Features)/ { on = $0 ~ part; next } on && /^[^ ]/ { print $1 }'
end

# KIND TOKEN...: the devices, or the ports and their network interfaces, on the bus that the tokens of the command line say. Those of another
# machine are not worth a connection with each key.
function __rdmactl_ports
    set -l bus (string match -r -- '^--(?:user|bus=.*)$' $argv[2..-1])
    string match -qr -- '^(-[HM]|--host|--machine)' $argv[2..-1]; and return
    if string match -q '*DEVICE*' -- $argv[1]
        rdmactl --no-pager $bus devices 2>/dev/null | grep '^[^ ]'
        return
    end
    rdmactl --no-pager $bus list -o Port,Netdev 2>/dev/null |
        awk 'NR > 1 { print $1; if ($2 != "-") print $2 }'
end

# KIND CURRENT TOKEN...: the values of that kind
function __rdmactl_values
    set -l kind $argv[1]
    set -l current $argv[2]
    switch $kind
        case COMMAND
            rdmactl --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) [^ ]*.*  \(.*\)/\1\t\2/p'
        case '*PORT*' '*DEVICE*'
            __rdmactl_ports $kind $argv[3..-1]
        case 'ATTRIBUTE,...'
            set -l before "$(string match -r -- '^.*,' $current)"
            for name in (__rdmactl_attributes '^Of')
                printf '%s\n' $before$name
            end
        case '*ATTRIBUTE*'
            __rdmactl_attributes .
        case '*COLUMN*'
            set -l before "$(string match -r -- '^.*[-+,]' $current)"
            for name in Port (__rdmactl_attributes '^Of')
                printf '%s\n' $before$name
            end
        case '*KEY=VALUE'
            for name in Ports Ignore (__rdmactl_attributes '^Of')
                printf '%s\n' $name=
            end
            __fish_complete_path $current
        case STATE
            rdmactl describe State 2>/dev/null | sed -n '/Values/{s/.*Values//;s/,/\n/g;p;}' | string trim
        case FILE
            __fish_complete_path $current
        case DIR
            __fish_complete_directories $current
        case PROGRAM
            complete -C "$current"
        case BUS
            printf '%s\n' system session
        case '*HOST*' 'PEER*'
            __fish_print_hostnames
        case CHECK
            rdmactl check --list 2>/dev/null | sed -n 's/^\([a-z][^ ]*\) .*/\1/p'
        case CONTAINER
            machinectl --no-legend --no-pager list 2>/dev/null | awk '{ print $1 }'
        case '*|*'
            string split '|' -- $kind
    end
end

# All that can stand in place of the word at the cursor.
function __rdmactl_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l words (__rdmactl_words $tokens[2..-1])
    set -l argument

    if string match -qr -- '^--[^=]*=' $current
        # "--sort=-Ra": the values of the option, behind its name
        set -l option (string replace -r '=.*' '' -- $current)
        for value in (__rdmactl_values "$(__rdmactl_argument $option $words[1])" (string replace -r '^[^=]*=' '' -- $current) $tokens)
            printf '%s\n' $option=$value
        end
        return
    end
    if string match -qr -- '^-[^=]*$' $tokens[-1]
        set argument (__rdmactl_argument $tokens[-1] $words[1])
    end
    if test -n "$argument"
        __rdmactl_values $argument $current $tokens
    else if string match -q -- '-*' $current
        # each option with its help
        __rdmactl_options $words[1] | sed 's/^-., //; s/^\(--[^ =]*=\)[^ ]*/\1/; s/   */\t/'
    else if test -z "$words[1]" -o "$words[1]" = help
        __rdmactl_values COMMAND $current
    else
        # "[PORT...]", or "nccl|ucx|ofi [PORT...]", of which the first argument is one of the words
        set -l kinds (rdmactl help $words[1] 2>/dev/null | sed -n '1s/^Usage: rdmactl \(\[OPTION[^ ]* \)*[a-z]* *//p' | string split ' ')
        set -l kind $kinds[-1]
        if test (count $kinds) -gt 1 -a (count $words) -eq 1
            set kind $kinds[1]
        end
        test -z "$kind"; or __rdmactl_values $kind $current $tokens
    end
end

complete -c rdmactl -f -a '(__rdmactl_complete)'
