import CommandLineKit
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// `generations`: what was installed, and what of it is still there.
enum GenerationsVerb: VerbProgram {
  static var verb: Verb {
    Verb(
      "generations", summary: "List the generations that were installed on this host and are kept.",
      flags: [CommonFlags.format],
      example: "policyctl generations")
  }

  static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
    let view = GenerationsView(
      try HostSite(call.installation()).generations().map { listing in
        GenerationsView.Row(
          generation: listing.number, serial: listing.marker?.serial, installed: listing.marker?.installedAt,
          host: listing.marker?.hostName, isCurrent: listing.isInUse, fault: listing.fault)
      })
    if call.wantsJSON {
      try Output.print(view.json())
    } else {
      try Output.print(view.text(Terminal.palette(for: .output), now: WallClock.unixSeconds()))
    }
    return .done
  }
}
