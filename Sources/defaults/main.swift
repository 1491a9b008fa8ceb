import CommandLineKit
import Glibc

// Nothing is built here but what the verb needs: `defaults read` is run by scripts, in loops.
exit(Defaults.run(try CommandWords.ofThisProcess()).rawValue)
