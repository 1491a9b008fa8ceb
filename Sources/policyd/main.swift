import CommandLineKit
import Glibc

exit(Policyd.run(try CommandWords.ofThisProcess()).rawValue)
