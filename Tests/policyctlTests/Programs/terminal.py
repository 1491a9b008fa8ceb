"""A dialogue with a shell on a terminal of its own: `send TEXT` and `expect TEXT` in turn, from standard input.

Backslash escapes are read as Python's. `expect` waits until the text has come, two minutes at most, and looks only at what came
since the last one; what never comes ends the dialogue with 1 and prints everything.
"""
import os, pty, select, sys, time

process, terminal = pty.fork()
if process == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
everything = pending = ""
for line in sys.stdin:
    verb, _, text = line.rstrip("\n").partition(" ")
    text = text.encode().decode("unicode_escape")
    if verb == "send":
        os.write(terminal, text.encode("latin-1"))
        continue
    end = time.monotonic() + 120
    while text not in pending:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        try:
            got = os.read(terminal, 65536).decode(errors="replace") if ready else ""
        except OSError:
            got = ""
        if not got:
            sys.exit(f"never came: {text!r}\n{everything}")
        everything += got
        pending += got
    pending = pending[pending.index(text) + len(text):]
