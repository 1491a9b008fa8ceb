/// What a command tells its caller: the codes of `sysexits.h` that the commands of this package use, and no others.
///
/// Scripts decide on them, so a code never changes its meaning: 1 is an answer ("no": a finding, a failed test, a key
/// without a value), everything from 64 on is a failure with a message on standard error.
public enum ExitCode: Int32, Sendable, Hashable, CaseIterable {
  /// Done, or the answer is yes.
  case done = 0
  /// The answer is no: a finding, a failed test, a difference, a key without a value.
  case no = 1
  /// The command line itself is wrong (`EX_USAGE`).
  case usage = 64
  /// The input data is wrong: policies, a bundle, a signature (`EX_DATAERR`).
  case badInput = 65
  /// The input is not there (`EX_NOINPUT`).
  case noInput = 66
  /// Something that the work needs is not available: an installation, a user that can be resolved (`EX_UNAVAILABLE`).
  case unavailable = 69
  /// An output file can't be created (`EX_CANTCREAT`).
  case cannotCreate = 73
  /// Reading or writing failed (`EX_IOERR`).
  case inputOutput = 74
  /// Not permitted, or forced (`EX_NOPERM`).
  case notPermitted = 77
}
