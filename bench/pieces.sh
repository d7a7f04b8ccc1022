# Sourced by scripts that measure in pieces, which end in good order after so many minutes. Of the caller: minutes (empty:
# no limit) and started, of SECONDS.

are_minutes() { [[ $1 =~ ^[0-9]+([.][0-9]+)?$ ]]; }

seconds_left() {  # whole ones; a limit that is over leaves one, in which a command can end in good order
  awk -v minutes="$minutes" -v spent=$((SECONDS - started)) \
    'BEGIN { left = int(60 * minutes) - spent; print (left > 1 ? left : 1) }'
}

# within_time [SECONDS]: makes of `within` what starts a command in the time that is left, which then ends as by Ctrl-C; who
# has not ended so many seconds later (90) is killed. Only the command itself is told: it tells its own processes.
within_time() {
  within=()
  [[ -z $minutes ]] || within=(timeout --foreground --signal INT --kill-after "${1:-90}" "$(seconds_left)")
}
