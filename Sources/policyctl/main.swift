import CommandLineKit
import Glibc

// Nothing is built here but what the verb needs: `get` is run by scripts, in loops.
exit(Policyctl.run(try CommandWords.ofThisProcess()).rawValue)
