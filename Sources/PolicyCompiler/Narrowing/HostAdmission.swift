public import ForcedDomain
import HostPatterns
import PropertyList

/// Whether a fleet's inventory knows a host: rule 7 of the policy language.
public enum HostAdmission: Sendable, Hashable {
  /// A group lists the host.
  case listed
  /// No group lists it, and the inventory (or its absence) welcomes such hosts.
  case unlistedButAllowed
  /// No group lists it, and the inventory refuses such hosts: nothing may be installed.
  case refused

  /// - Parameter payload: a payload or a provenance file; both carry the inventory.
  public init(of host: HostIdentity, in payload: ForcedDomain) {
    let annex = payload.annex?.dictionaryValue ?? [:]
    let groups = annex["inventory"]?.dictionaryValue?["hosts"]?.dictionaryValue ?? [:]
    let isListed = groups.values.contains { group in
      (group.dictionaryValue?["names"]?.stringArrayValue ?? []).contains { text in
        (try? HostPattern(parsing: text))?.matches(hostName: host.name) ?? false
      }
    }
    if isListed {
      self = .listed
    } else {
      // A payload that does not say "allow" although it has an inventory refuses.
      let isWelcome =
        annex["inventory"] == nil && annex["unknownHosts"] == nil || annex["unknownHosts"] == .string("allow")
      self = isWelcome ? .unlistedButAllowed : .refused
    }
  }
}
