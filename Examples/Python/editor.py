#!/usr/bin/env python3
"""One setting of an editor: read, set, watched, and shown as locked while an administrator forces it.

  editor.py               prints the setting
  editor.py --set SECONDS stores the user's choice; 77 when the setting is locked
  editor.py --watch       prints the setting again whenever it changes, until standard input ends
"""

import sys

from managed_preferences import Error, Preferences

KEY = "AutoSaveInterval"


def describe(preferences, seconds, is_forced):
    if not is_forced:
        return f"Saving every {seconds} seconds."
    profiles = preferences.forced_by(KEY)
    return f"Saving every {seconds} seconds (set by {profiles[0][1] if profiles else 'an administrator'})."


def main(arguments):
    preferences = Preferences("org.example.Editor")
    preferences.register({KEY: 60})

    def show(_, seconds, is_forced):
        print(describe(preferences, seconds, is_forced), flush=True)

    if arguments[:1] == ["--set"] and len(arguments) == 2:
        if not (arguments[1].isdecimal() and 0 < int(arguments[1]) < 2**63):
            print(f"editor.py: '{arguments[1]}' is not a number of seconds", file=sys.stderr)
            return 64
        if preferences.is_forced(KEY):
            profiles = preferences.forced_by(KEY)
            title = profiles[0][1] if profiles else "an administrator"
            print(f'editor.py: the interval is locked by "{title}"', file=sys.stderr)
            return 77
        preferences[KEY] = int(arguments[1])
        preferences.synchronize()
        show(None, preferences[KEY], False)
    elif arguments == ["--watch"]:
        observation = preferences.observe(KEY, show)
        sys.stdin.read()
        observation.cancel()
    elif arguments and arguments[0].startswith("--"):
        print("usage: editor.py [--set SECONDS | --watch | -AutoSaveInterval SECONDS]", file=sys.stderr)
        return 64
    else:
        show(None, preferences[KEY], preferences.is_forced(KEY))
    preferences.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Error as error:
        sys.exit(f"editor.py: {error}")
