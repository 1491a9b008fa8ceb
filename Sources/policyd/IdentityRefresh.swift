import AuditEvents
import Digests
import ForcedDomain
import LinuxFiles
import PolicyCompiler
import PropertyList

/// Narrows the installed bundle anew, as `policyctl refresh` does, with the same checks and the same records.
///
/// The law: a new generation is on record, durably, before it takes effect; where it can't be put on record, nothing changes.
struct IdentityRefresh: Sendable {
  private let installation: Installation
  private let store: any EventStore
  private let report: @Sendable (String) -> Void

  init(_ installation: Installation, store: any EventStore, report: @escaping @Sendable (String) -> Void) {
    self.installation = installation
    self.store = store
    self.report = report
  }

  func run() {
    let previous = ((try? ForcedDomainLoader(installation).marker()) ?? nil)?.generation ?? 0
    let store = store
    let directory = installation.logDirectory
    let witness: @Sendable (GenerationMarker) throws(InstallError) -> Void = { (marker) throws(InstallError) in
      var fields: [String: PropertyListValue] = [
        "generation": .number(marker.generation), "previous": .number(previous), "serial": .number(marker.serial),
        "digest": .string(HexText.encode(marker.sourceDigest)),
      ]
      if let signer = marker.signer { fields["signer"] = .string(HexText.encode(signer)) }
      if let source = marker.source { fields["source"] = .string(source.path) }
      do throws(EventStoreError) { try store.append([AgentRecord(.policyRefreshed, fields)]) } catch {
        throw InstallError(.notRecorded(error.description), path: directory)
      }
    }
    let installer = Installer(installation, witness: witness)
    do throws(InstallError) { _ = try installer.refresh() } catch {
      report("names have other ids than before, and the policies can't be narrowed anew: \(error)")
      if case .notRecorded = error.reason { return }
      let record = AgentRecord(
        .policyRefused,
        [
          "verb": .string("refresh"), "path": .string(installation.bundleFile),
          "exit": .number(error.exitCode), "reason": .string(error.word),
        ])
      do throws(EventStoreError) { try store.append([record]) } catch { report("\(error)") }
    }
  }
}
